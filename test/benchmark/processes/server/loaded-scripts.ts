import { Session } from 'node:inspector';

/** Asked after the measurements, since a debugger that listens costs time. */
export async function loadedScripts(): Promise<string[]> {
  const session = new Session();
  session.connect();
  const urls: string[] = [];
  session.on('Debugger.scriptParsed', ({ params }) => urls.push(params.url));
  // Names what was parsed before, too.
  await new Promise<void>((resolve, reject) => {
    session.post('Debugger.enable', (error) => (error ? reject(error) : resolve()));
  });
  session.disconnect();
  return urls;
}
