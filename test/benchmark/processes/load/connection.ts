import { Client } from 'undici';

export interface Answer {
  /** 0 where there is none. */
  status: number;
  isReplayed: boolean;
  /** Milliseconds from the request to the end of the answer. */
  took: number;
}

/** One connection, with one request at a time. */
export class Connection {
  private readonly client: Client;

  constructor(
    url: string,
    private readonly path: string,
    private readonly body: string,
  ) {
    this.client = new Client(url, { pipelining: 1 });
  }

  /** @param done is called within the turn in which the answer ends, so that nothing idles between requests */
  send(key: string, done: (answer: Answer) => void): void {
    const sentAt = performance.now();
    const answer = { status: 0, isReplayed: false, took: 0 };
    const end = (): void => {
      answer.took = performance.now() - sentAt;
      done(answer);
    };
    this.client.dispatch(
      {
        method: 'POST',
        path: this.path,
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: this.body,
      },
      {
        onRequestStart: () => undefined,
        onResponseStart: (_, status, headers) => {
          answer.status = status;
          answer.isReplayed = headers['idempotent-replayed'] === 'true';
        },
        onResponseData: () => undefined,
        onResponseEnd: end,
        onResponseError: () => {
          answer.status = 0;
          end();
        },
      },
    );
  }

  close(): Promise<void> {
    return this.client.close();
  }
}
