import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { StoredResponse } from '../engine/stored-response.js';
import { ClientWatch } from './client-watch.js';
import { type WriteHeadHeaders, writeHeaders } from './header-list.js';
import { Disguise, refuseAfterHead, type ResponseHolder } from './disguise.js';
import { endResponse, mayHaveBody, mute, showEnded } from './end-response.js';
import type { HeaderRule } from './header-rule.js';
import type { HeadersAtEntry } from './headers-at-entry.js';
import { checkStatus, HeldResponse, toBuffer } from './held-response.js';
import { LateListeners } from './late-listeners.js';

/** More than this is not held for a handler that has not settled; for one that has, the response is passed on. */
const MOST_HELD_BYTES = 16 * 1024 * 1024;

export interface RecorderListener {
  /** The response has ended, or was broken off. */
  over(): void;
  /** The body has grown past `maxResponseBytes`. */
  tooLarge(): void;
  /** Whether the response must be held, however large it grows. */
  readonly isUndecided: boolean;
  /** Whether what is written now comes from a handler in whose place somebody else answers. */
  readonly isStale: boolean;
}

/**
 * - `open`: more may come
 * - `ended`: `end()` was called
 * - `broken`: closed without `end()`, or its client has gone and nothing more comes
 * - `overflowed`: grown past what is held; what still comes is dropped, until another answer is given
 */
type State = 'open' | 'ended' | 'broken' | 'overflowed';

type Callback = (error?: Error) => void;

/**
 * Holds back what the application sends until the outcome is durable. It stands on Node's own
 * `ServerResponse`, so it sees the bytes as they leave, from any adapter, filter, interceptor or stream.
 *
 * To the application a held response looks like one that was sent: `headersSent`, `writableEnded`, the
 * callback of `end()` and the `finish` event behave as usual. A handler that awaits `pipeline(stream, res)`
 * would otherwise wait for itself. That the client has gone is hidden too: the intent is carried out and
 * recorded all the same.
 */
export class ResponseRecorder implements ResponseHolder {
  private readonly disguise: Disguise;
  private readonly client: ClientWatch;
  private readonly lateListeners: LateListeners;
  private held = new HeldResponse();
  private state: State = 'open';
  private closeHidden = false;
  private isClosed = false;

  private readonly response: ServerResponse;

  /** @param maxBytes of a body that is stored */
  constructor(
    private readonly atEntry: HeadersAtEntry,
    private readonly rule: HeaderRule,
    private readonly maxBytes: number,
    private readonly listener: RecorderListener,
  ) {
    const { response } = atEntry;
    this.response = response;
    this.lateListeners = new LateListeners(response);
    this.client = new ClientWatch(response, () => this.breakOff());
    this.disguise = new Disguise(response, this);
  }

  /** The status that the client would get. */
  get status(): number {
    return this.held.status ?? this.response.statusCode;
  }

  /** Whether the head counts as sent. */
  get isBegun(): boolean {
    return this.held.hasHead;
  }

  get isOver(): boolean {
    return this.state === 'ended' || this.state === 'broken';
  }

  get isBroken(): boolean {
    return this.state === 'broken';
  }

  get isShut(): boolean {
    return this.state !== 'open';
  }

  get isFinished(): boolean {
    return this.state === 'ended';
  }

  get isGone(): boolean {
    return this.isBroken || this.isClosed;
  }

  get isTooLarge(): boolean {
    return this.held.bytes > this.maxBytes;
  }

  get isOverflowed(): boolean {
    return this.state === 'overflowed';
  }

  /** The whole answer, if it is known as a whole and small enough. */
  get content(): StoredResponse | undefined {
    return this.state === 'ended' && !this.isTooLarge
      ? this.held.toStored(this.rule, this.atEntry.values)
      : undefined;
  }

  /**
   * Whether this attempt, or another one of the same request, which an interceptor repeated, has sent its answer. Where it
   * failed before its first byte, another answer can be sent.
   */
  private get isAnswered(): boolean {
    return this.disguise.isRemoved && (this.response.headersSent || this.response.destroyed);
  }

  /** For a response on which no answer can be sent: its client notices at least that there is none. */
  giveUp(): void {
    this.stop();
    this.response.destroy();
  }

  /** Forgets what is held, so that another answer can be given in its place. */
  drop(): void {
    this.held = new HeldResponse();
    this.isClosed = false;
    this.become('open');
    this.atEntry.restore();
  }

  /** @param patience milliseconds that the response may stand still, where the client has gone */
  expectEnd(patience: number): void {
    if (!this.isOver) {
      this.client.expectEnd(patience);
    }
  }

  /** Sends what is held, and lets the rest pass. */
  flush(): void {
    const { response, held, state } = this;
    if (this.isAnswered) {
      return;
    }
    this.stop();
    held.restoreStatus(response);
    if (state === 'broken') {
      response.destroy();
    } else if (state === 'ended') {
      this.endWith(held.body);
    } else if (held.hasHead && response.write(held.body)) {
      response.emit('drain');
    }
    this.showClose();
  }

  /**
   * Sends a recorded answer where no handler ran: what others have set for this request alone, such as its id or a
   * renewed cookie, goes with it.
   */
  flushReplay(recorded: StoredResponse): void {
    const fresh = this.held.headersOutside(this.rule);
    this.flushInstead({ ...recorded, headers: { ...recorded.headers, ...fresh } });
  }

  /** Sends another answer than the one that is held, if one is held. */
  flushInstead({ status, headers, body }: StoredResponse): void {
    const { isOver } = this;
    if (this.isAnswered) {
      return;
    }
    this.drop();
    this.stop();
    this.response.statusCode = status;
    this.response.statusMessage = '';
    for (const [name, value] of Object.entries(headers)) {
      this.response.setHeader(name, value);
    }
    if (body.byteLength > 0 && mayHaveBody(status)) {
      // Node does not add what was there and has been removed, as `drop()` may have done.
      this.response.setHeader('content-length', body.byteLength);
    }
    this.endWith(body);
    if (!isOver) {
      mute(this.response);
    }
    this.showClose();
  }

  writeHead(status: number, rest: unknown[]): void {
    if (!this.listener.isStale) {
      this.holdHead(status, rest);
    }
  }

  flushHeaders(): void {
    if (!this.listener.isStale) {
      this.takeHead();
    }
  }

  write(chunk: unknown, rest: unknown[]): boolean {
    return this.listener.isStale || this.holdWrite(chunk, rest);
  }

  end(args: unknown[]): void {
    if (!this.listener.isStale) {
      this.holdEnd(args);
    }
  }

  destroy(error: unknown): void {
    if (this.client.isLostWith(error)) {
      this.hideClose();
    } else {
      this.breakOff();
    }
  }

  hides(event: string, argument: unknown): boolean {
    if (event === 'pipe') {
      this.client.watchSource(argument as Readable);
    }
    if (event === 'close') {
      this.hideClose();
    }
    // HTTP/2 finishes a response whose stream is reset; the end that the application makes is announced by itself.
    return event === 'close' || event === 'finish';
  }

  private hideClose(): void {
    this.closeHidden = true;
    this.client.clientLeft();
  }

  private holdHead(status: number, rest: unknown[]): void {
    const [message, headers] = typeof rest[0] === 'string' ? rest : [undefined, rest[0]];
    const code = checkStatus(status);
    writeHeaders(this.response, headers as WriteHeadHeaders);
    refuseAfterHead(this.held.hasHead);
    this.response.statusCode = code;
    if (message !== undefined) {
      this.response.statusMessage = message as string;
    }
    this.held.takeHead(this.response);
  }

  /** Node calls `writeHead()` before the first byte: somebody may have put one over ours since, to set headers late. */
  private takeHead(): void {
    if (!this.held.hasHead && this.disguise.isCovered) {
      this.response.writeHead(this.response.statusCode);
    }
    this.held.takeHead(this.response);
  }

  private holdWrite(chunk: unknown, rest: unknown[]): boolean {
    const callback = callbackOf(rest);
    if (this.state !== 'open') {
      callback?.(new Error('write after end'));
      return false;
    }
    // A copy: the callback tells the writer that it may use its memory again.
    const bytes =
      typeof chunk === 'string' ? toBuffer(chunk, rest[0]) : Buffer.from(toBuffer(chunk, rest[0]));
    this.takeHead();
    this.keep(bytes);
    if (callback) {
      process.nextTick(callback);
    }
    // A writer that is told to wait hears "drain" when the response is passed on: not before the handler has settled,
    // which may itself be the writer.
    return !this.isTooLarge || this.listener.isUndecided;
  }

  private holdEnd(args: unknown[]): void {
    const callback = callbackOf(args);
    if (this.state !== 'open') {
      if (callback) {
        const error = new Error('Cannot call end after a stream was finished');
        process.nextTick(callback, Object.assign(error, { code: 'ERR_STREAM_ALREADY_FINISHED' }));
      }
      return;
    }
    const [chunk, encoding] = args;
    const bytes =
      chunk === undefined || chunk === null || typeof chunk === 'function'
        ? undefined
        : toBuffer(chunk, encoding);
    this.takeHead();
    if (bytes) {
      this.held.keep(bytes);
    }
    this.become('ended');
    process.nextTick(() => {
      callback?.();
      this.lateListeners.announce('finish');
      this.announceClose();
    });
    this.listener.over();
  }

  private keep(bytes: Buffer): void {
    const wasTooLarge = this.isTooLarge;
    this.held.keep(bytes);
    this.client.touch();
    if (this.held.bytes > MOST_HELD_BYTES && this.listener.isUndecided) {
      this.become('overflowed');
      this.held = new HeldResponse();
      process.nextTick(() => this.announceClose());
    } else if (this.isTooLarge && !wasTooLarge) {
      queueMicrotask(() => this.listener.tooLarge());
    }
  }

  private breakOff(): void {
    if (this.state === 'open') {
      this.become('broken');
      process.nextTick(() => this.announceClose());
      this.listener.over();
    }
  }

  private become(state: State): void {
    this.state = state;
    this.disguise.update();
  }

  /** Node closes a response once it has finished, and `finished()` waits for that. */
  private announceClose(): void {
    this.isClosed = this.isShut;
    this.disguise.update();
    this.lateListeners.announce('close');
  }

  private showClose(): void {
    if (this.closeHidden) {
      Object.assign(this.response, { destroyed: true, _closed: true });
      this.response.emit('close');
    }
  }

  private endWith(body: Buffer): void {
    endResponse(this.response, body);
    if (this.atEntry.isOfFastify && !this.response.writableEnded) {
      showEnded(this.response);
    }
  }

  private stop(): void {
    this.client.stop();
    this.disguise.remove();
  }
}

function callbackOf(args: unknown[]): Callback | undefined {
  return args.find((argument) => typeof argument === 'function') as Callback | undefined;
}
