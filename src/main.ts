import { Launcher } from './launcher/launcher.js';
import { readSettings } from './launcher/settings.js';
import { StartError } from './launcher/start-error.js';
import { onStopSignals } from './launcher/stop-signals.js';

try {
  const launcher = new Launcher(readSettings(process.env));
  onStopSignals(launcher);
  await launcher.run();
  process.exit(0);
} catch (error) {
  console.error(error instanceof StartError ? error.message : error);
  process.exit(1);
}
