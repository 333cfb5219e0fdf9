/** @publicApi */
export type HeaderValue = string | string[];

/** An answer as it left the server. @publicApi */
export interface StoredResponse {
  readonly status: number;
  /** Names in lower case, without those that a replay sets by itself. */
  readonly headers: Readonly<Record<string, HeaderValue>>;
  readonly body: Buffer;
}

/** What a completed record holds: the response, or the fact that it was executed and cannot be replayed. @publicApi */
export type RecordedResponse = StoredResponse | 'unavailable';
