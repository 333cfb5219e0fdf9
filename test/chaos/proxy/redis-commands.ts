const LINE_END = '\r\n';

/** One command of a client of Redis, with all of its bytes. */
export interface RedisCommand {
  bytes: Buffer;
  /** Its name and its arguments. */
  words: Buffer[];
}

/** Cuts what a client sends into commands: arrays (`*2`) of texts with their lengths in front (`$3`). */
export class RedisCommands {
  private rest = Buffer.alloc(0);

  *push(chunk: Buffer): Generator<RedisCommand> {
    this.rest = Buffer.concat([this.rest, chunk]);
    for (let command = read(this.rest); command; command = read(this.rest)) {
      this.rest = this.rest.subarray(command.bytes.length);
      yield command;
    }
  }
}

/** @returns undefined while a part of it is still missing */
function read(bytes: Buffer): RedisCommand | undefined {
  let at = 0;
  const readNumber = (): number | undefined => {
    const end = bytes.indexOf(LINE_END, at);
    if (end === -1) return undefined;
    const number = Number(bytes.toString('latin1', at + 1, end));
    at = end + LINE_END.length;
    return number;
  };
  const count = readNumber();
  if (count === undefined) return undefined;
  const words: Buffer[] = [];
  while (words.length < count) {
    const length = readNumber();
    if (length === undefined || bytes.length < at + length + LINE_END.length) return undefined;
    words.push(bytes.subarray(at, at + length));
    at += length + LINE_END.length;
  }
  return { bytes: bytes.subarray(0, at), words };
}
