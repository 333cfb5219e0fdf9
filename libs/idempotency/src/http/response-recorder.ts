import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { StoredResponse } from '../engine/stored-response.js';
import { ClientWatch } from './client-watch.js';
import { type WriteHeadHeaders, writeHeaders } from './header-list.js';
import type { HeaderRule } from './header-rule.js';
import type { HeadersAtEntry } from './headers-at-entry.js';
import { HeldResponse } from './held-response.js';
import { LateListeners } from './late-listeners.js';
import { refuseAfterHead, refusingMethods } from './sent-headers.js';
import { Shadow } from './shadow.js';

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
export class ResponseRecorder {
  private readonly shadow: Shadow<ServerResponse>;
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
    this.shadow = new Shadow(response);
    this.hold();
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

  /** Forgets what is held, so that another answer can be given in its place. */
  drop(): void {
    this.held = new HeldResponse();
    this.state = 'open';
    this.isClosed = false;
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
    this.stop();
    held.restoreStatus(response);
    if (state === 'broken') {
      response.destroy();
    } else if (state === 'ended') {
      response.end(held.body);
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
    this.drop();
    this.stop();
    this.response.statusCode = status;
    this.response.statusMessage = '';
    for (const [name, value] of Object.entries(headers)) {
      this.response.setHeader(name, value);
    }
    if (body.byteLength > 0) {
      // Node does not add what was there and has been removed, as `drop()` may have done.
      this.response.setHeader('content-length', body.byteLength);
    }
    this.response.end(body);
    if (!isOver) {
      this.mute();
    }
    this.showClose();
  }

  /** Drops what the application still sends after it was answered for: Node would end the process with "write after end". */
  private mute(): void {
    const { response, shadow } = this;
    const ignore = (): ServerResponse => response;
    shadow.define({ writeHead: ignore, flushHeaders: ignore, end: ignore, write: () => true });
  }

  private hold(): void {
    const { response } = this;
    const emit = response.emit.bind(response) as (event: string, ...args: unknown[]) => boolean;
    this.shadow.define({
      writeHead: (status: number, ...rest: unknown[]) =>
        this.listener.isStale ? response : this.holdHead(status, rest),
      flushHeaders: () => this.listener.isStale || this.held.takeHead(response),
      write: (chunk: unknown, ...rest: unknown[]) => this.listener.isStale || this.holdWrite(chunk, rest),
      end: (...args: unknown[]) => (this.listener.isStale ? response : this.holdEnd(args)),
      destroy: () => this.breakOff(),
      emit: (event: string, ...args: unknown[]) => {
        if (event === 'pipe') {
          this.client.watchSource(args[0] as Readable);
        }
        return event === 'close' ? this.hideClose() : emit(event, ...args);
      },
      ...refusingMethods(response, () => this.held.hasHead),
    });
    const isOver = (): boolean => this.state !== 'open';
    this.shadow.read({
      headersSent: () => this.held.hasHead,
      writableEnded: isOver,
      writableFinished: () => this.state === 'ended',
      finished: isOver,
      destroyed: () => this.isBroken || this.isClosed,
      _closed: () => this.isBroken || this.isClosed,
    });
  }

  private holdHead(status: number, rest: unknown[]): ServerResponse {
    const [message, headers] = typeof rest[0] === 'string' ? rest : [undefined, rest[0]];
    writeHeaders(this.response, headers as WriteHeadHeaders);
    refuseAfterHead(this.held.hasHead);
    this.response.statusCode = status;
    if (message !== undefined) {
      this.response.statusMessage = message as string;
    }
    this.held.takeHead(this.response);
    return this.response;
  }

  private holdWrite(chunk: unknown, rest: unknown[]): boolean {
    const callback = callbackOf(rest);
    if (this.state !== 'open') {
      callback?.(new Error('write after end'));
      return false;
    }
    this.held.takeHead(this.response);
    this.keep(chunk, rest[0]);
    if (callback) {
      process.nextTick(callback);
    }
    // A writer that is told to wait hears "drain" when the response is passed on: not before the handler has settled,
    // which may itself be the writer.
    return !this.isTooLarge || this.listener.isUndecided;
  }

  private holdEnd(args: unknown[]): ServerResponse {
    if (this.state !== 'open') {
      return this.response;
    }
    this.held.takeHead(this.response);
    if (args[0] !== undefined && args[0] !== null && typeof args[0] !== 'function') {
      this.held.keep(args[0], args[1]);
    }
    this.state = 'ended';
    const callback = callbackOf(args);
    process.nextTick(() => {
      callback?.();
      this.lateListeners.announce('finish');
      process.nextTick(() => this.announceClose());
    });
    this.listener.over();
    return this.response;
  }

  private keep(chunk: unknown, encoding: unknown): void {
    const wasTooLarge = this.isTooLarge;
    this.held.keepCopy(chunk, encoding);
    this.client.touch();
    if (this.held.bytes > MOST_HELD_BYTES && this.listener.isUndecided) {
      this.state = 'overflowed';
      this.held = new HeldResponse();
      process.nextTick(() => this.announceClose());
    } else if (this.isTooLarge && !wasTooLarge) {
      queueMicrotask(() => this.listener.tooLarge());
    }
  }

  private breakOff(): ServerResponse {
    if (this.state === 'open') {
      this.state = 'broken';
      process.nextTick(() => this.announceClose());
      this.listener.over();
    }
    return this.response;
  }

  /** Node closes a response once it has finished, and `finished()` waits for that. */
  private announceClose(): void {
    this.isClosed = this.state !== 'open';
    this.lateListeners.announce('close');
  }

  private hideClose(): boolean {
    this.closeHidden = true;
    this.client.clientLeft();
    return false;
  }

  private showClose(): void {
    if (this.closeHidden) {
      Object.assign(this.response, { destroyed: true, _closed: true });
      this.response.emit('close');
    }
  }

  private stop(): void {
    this.client.stop();
    this.shadow.remove();
  }
}

function callbackOf(args: unknown[]): Callback | undefined {
  return args.find((argument) => typeof argument === 'function') as Callback | undefined;
}
