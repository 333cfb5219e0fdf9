const LENGTH_BYTES = 4;

/** One message of Postgres's frontend protocol, with all of its bytes. */
export interface FrontendMessage {
  bytes: Buffer;
  /** The text of a simple query; undefined for every other kind of message. */
  query: string | undefined;
}

/** Cuts what a client sends into messages. The first has no type byte (StartupMessage). */
export class FrontendMessages {
  private rest = Buffer.alloc(0);
  private started = false;

  *push(chunk: Buffer): Generator<FrontendMessage> {
    this.rest = Buffer.concat([this.rest, chunk]);
    for (;;) {
      const typeBytes = this.started ? 1 : 0;
      if (this.rest.length < typeBytes + LENGTH_BYTES) return;
      const length = typeBytes + this.rest.readUInt32BE(typeBytes);
      if (this.rest.length < length) return;
      const bytes = this.rest.subarray(0, length);
      this.rest = this.rest.subarray(length);
      const isQuery = this.started && bytes[0] === 'Q'.charCodeAt(0);
      this.started = true;
      yield { bytes, query: isQuery ? bytes.toString('utf8', 1 + LENGTH_BYTES, length - 1) : undefined };
    }
  }
}
