import { send, type HttpResponse } from '../support/http.js';
import { Child } from './child.js';
import { SETTINGS, type ServerCommand, type ServerMessage, type ServerSettings } from './settings.js';

export interface WorkRequest {
  key: string;
  path: '/transaction' | '/lease' | '/retried-lease' | '/steps' | '/in-step';
  body?: { hold?: boolean; block?: number };
}

/** A server in a process of its own, see `server.ts`. */
export class ServerProcess {
  private constructor(
    readonly child: Child<ServerMessage>,
    readonly url: string,
  ) {}

  static async start(settings: ServerSettings, clockOffset?: number): Promise<ServerProcess> {
    const env = { [SETTINGS]: JSON.stringify(settings) };
    const child = new Child<ServerMessage>({ script: 'server.ts', env, clockOffset });
    const message = await child.message();
    if (message.type !== 'listening') throw new Error(`Unexpected message ${message.type}.`);
    return new ServerProcess(child, message.url);
  }

  post({ key, path, body = {} }: WorkRequest): Promise<HttpResponse> {
    return send(this.url, { method: 'POST', path, body, headers: { 'Idempotency-Key': key } });
  }

  /**
   * Posts a request whose handler stands still in its middle, and waits until it does.
   *
   * @returns its answer, `undefined` when the connection is lost
   * @throws when the request is answered instead
   */
  async hold(request: WorkRequest): Promise<{ answer: Promise<HttpResponse | undefined> }> {
    const answer = this.post({ ...request, body: { hold: true } }).catch(() => undefined);
    const early = answer.then((response) => {
      throw new Error(`The handler did not stand still: ${response?.status} ${response?.text}`);
    });
    await Promise.race([this.child.message(), early]);
    return { answer };
  }

  /** Lets handlers that stand still go on. */
  letGo(): void {
    this.child.process.send('let go' satisfies ServerCommand);
  }
}
