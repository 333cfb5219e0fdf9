import { type OutgoingHttpHeaders, type ServerResponse, validateHeaderValue } from 'node:http';
import type { HeaderValue, StoredResponse } from '../engine/stored-response.js';
import { toHeaderValue } from './header-list.js';
import type { HeaderRule } from './header-rule.js';

interface Head {
  readonly status: number;
  readonly statusMessage: string;
  readonly headers: OutgoingHttpHeaders;
}

/** What was written to a response and not sent. */
export class HeldResponse {
  private head: Head | undefined;
  private readonly chunks: Buffer[] = [];
  bytes = 0;

  get hasHead(): boolean {
    return this.head !== undefined;
  }

  get status(): number | undefined {
    return this.head?.status;
  }

  get body(): Buffer {
    return this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
  }

  /**
   * From here on the headers count as sent.
   *
   * @throws as Node does, for a status or a reason that cannot be sent
   */
  takeHead(response: ServerResponse): void {
    if (!this.head) {
      const { statusCode, statusMessage } = response;
      const status = checkStatus(statusCode);
      if (statusMessage) {
        validateHeaderValue('statusMessage', statusMessage);
      }
      this.head = { status, statusMessage, headers: response.getHeaders() };
    }
  }

  keep(bytes: Buffer): void {
    this.chunks.push(bytes);
    this.bytes += bytes.byteLength;
  }

  /** Puts the status back that counted when the head was taken. */
  restoreStatus(response: ServerResponse): void {
    const { head } = this;
    if (head && (response.statusCode !== head.status || response.statusMessage !== head.statusMessage)) {
      response.statusCode = head.status;
      response.statusMessage = head.statusMessage;
    }
  }

  /** Those headers that are never part of a recorded answer. */
  headersOutside(rule: HeaderRule): Record<string, HeaderValue> {
    const headers = Object.entries(this.head?.headers ?? {}).flatMap(([name, value]) =>
      value === undefined || rule.replays(name) || FRAMING.has(name)
        ? []
        : [[name, toHeaderValue(value)] as const],
    );
    return Object.fromEntries(headers);
  }

  /** @param before the headers that were there already: they are set afresh for a replay */
  toStored(rule: HeaderRule, before: OutgoingHttpHeaders): StoredResponse {
    const head = this.head!;
    const headers: Record<string, HeaderValue> = {};
    for (const name of Object.keys(head.headers)) {
      const value = head.headers[name];
      if (value !== undefined && rule.replays(name) && String(before[name]) !== String(value)) {
        headers[name] = toHeaderValue(value);
      }
    }
    return { status: head.status, headers, body: this.body };
  }
}

/** How the held body was framed, which is not how another one is. */
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding', 'trailer']);

/** @throws RangeError as Node does */
export function checkStatus(given: number): number {
  const status = Math.trunc(Number(given));
  if (!(status >= 100 && status <= 999)) {
    const error = new RangeError(`Invalid status code: ${given}`);
    throw Object.assign(error, { code: 'ERR_HTTP_INVALID_STATUS_CODE' });
  }
  return status;
}

/** @throws TypeError as Node does */
export function toBuffer(chunk: unknown, encoding: unknown): Buffer {
  if (typeof chunk === 'string') {
    return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
  }
  if (chunk instanceof Uint8Array) {
    return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  }
  throw new TypeError('The "chunk" argument must be of type string or an instance of Buffer or Uint8Array.');
}
