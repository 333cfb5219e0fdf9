import { send, type HttpResponse } from '../support/http.js';
import { Child } from './child.js';
import type { Clock } from './operator.controller.js';
import { SETTINGS, type GateCommand, type ServerMessage, type ServerSettings } from './settings.js';
import type { WorkBody } from './work.js';

export interface WorkRequest {
  key: string;
  path: '/transaction' | '/lease' | '/retried-lease' | '/steps' | '/in-charge' | '/in-step';
  body?: WorkBody;
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
    const answer = this.post({ ...request, body: { ...request.body, hold: true } }).catch(() => undefined);
    const early = answer.then((response) => {
      const { output } = this.child;
      throw new Error(`The handler did not stand still: ${response?.status} ${response?.text}\n${output}`);
    });
    await this.child.message(early);
    return { answer };
  }

  /** Each of them as by `hold()`, so that all stand still together. */
  async holdAll(requests: WorkRequest[]): Promise<{ answers: Promise<HttpResponse[]> }> {
    const answers: Promise<HttpResponse | undefined>[] = [];
    for (const request of requests) {
      answers.push((await this.hold(request)).answer);
    }
    return { answers: Promise.all(answers) as Promise<HttpResponse[]> };
  }

  /** Lets handlers that stand still go on. */
  letGo(): void {
    this.child.process.send('let go' satisfies GateCommand);
  }

  /** As `hold()`, and lets it go on: the answer is that of a handler that was executed. */
  async execute(request: WorkRequest): Promise<HttpResponse> {
    const { answer } = await this.hold(request);
    this.letGo();
    return (await answer)!;
  }

  /** Stops the whole process, as a host that hangs does. */
  stall(): void {
    this.child.signal('SIGSTOP');
  }

  resume(): void {
    this.child.signal('SIGCONT');
  }

  async clock(): Promise<Clock> {
    return (await send(this.url, { method: 'GET', path: '/clock' })).json();
  }

  /** @returns how many records it removed */
  async purge(): Promise<number> {
    return (await send(this.url, { method: 'POST', path: '/purge' })).json().removed;
  }
}
