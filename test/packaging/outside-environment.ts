import { delimiter, join } from 'node:path';

/** npm tells its scripts which package they belong to; `npm_config_*` is the user's own. */
const OF_THE_WORKSPACE = /^(npm_(?!config_)|npm_config_local_prefix$|NODE_ENV$)/;

/** The environment as it is in a terminal outside of the project: without the commands of its packages. */
export function outsideEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !OF_THE_WORKSPACE.test(name));
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const path = folders.filter((folder) => !folder.endsWith(join('node_modules', '.bin'))).join(delimiter);
  return { ...Object.fromEntries(entries), PATH: path };
}
