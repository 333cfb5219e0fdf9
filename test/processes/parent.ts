import { Gate } from '../support/gate.js';
import { SETTINGS, type GateCommand, type ProcessSettings } from './settings.js';

/** What a process has of the one that started it. */
export class Parent<Settings extends ProcessSettings, Message, Command extends object = never> {
  readonly settings = JSON.parse(process.env[SETTINGS]!) as Settings;
  private readonly gate = new Gate();

  constructor(onCommand: (command: Command) => void = () => undefined) {
    process.on('message', (command: GateCommand | Command) => {
      if (command === 'let go') this.gate.open();
      else onCommand(command as Command);
    });
    // Nobody is left to stop this process then.
    process.on('disconnect', () => process.exit(1));
    // The channel is no reason to go on.
    process.channel!.unref();
  }

  tell(message: Message): void {
    process.send!(message);
  }

  /** Stands still, says so by `message`, and goes on when it is let go. */
  async standStill(message: Message): Promise<void> {
    this.gate.close();
    const passing = this.gate.pass();
    this.tell(message);
    await passing;
  }
}
