import { setTimeout as sleep } from 'node:timers/promises';

/** What comes of an attempt: an answer, an error, or neither for as long as the signal allows. */
export type Script = Response | Error | 'silence';

export interface Sent {
  url: string;
  method: string;
  headers: Headers;
  body: string | undefined;
  at: number;
}

/** A `fetch` that gives what it was told to, in turn, and notes what it was sent. The last one is given again and again. */
export class ScriptedFetch {
  readonly sent: Sent[] = [];
  private readonly scripts: Script[];

  constructor(...scripts: Script[]) {
    this.scripts = scripts;
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const request = input instanceof Request ? input : new Request(input, init);
    const body = request.body ? await request.text() : undefined;
    this.sent.push({
      url: request.url,
      method: request.method,
      headers: request.headers,
      body,
      at: performance.now(),
    });
    const script = this.scripts.length > 1 ? this.scripts.shift()! : this.scripts[0]!;
    if (script === 'silence') {
      await sleep(60_000, undefined, { signal: request.signal });
    }
    if (script instanceof Error) throw script;
    return (script as Response).clone();
  };
}

export function problem(status: number, code?: string, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify({ status, code }), {
    status,
    headers: { 'Content-Type': 'application/problem+json', ...headers },
  });
}

export const CREATED = new Response('{"id":"1"}', {
  status: 201,
  headers: { 'Content-Type': 'application/json' },
});

/** As the global `fetch` reports a connection that was broken off. */
export const NETWORK_ERROR = new TypeError('fetch failed');
