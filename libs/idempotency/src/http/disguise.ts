import type { ServerResponse } from 'node:http';
import { descriptorsOf, Shadow } from './shadow.js';

/** Who holds a response back, and what the application is shown of it. */
export interface ResponseHolder {
  /** Whether the head counts as sent. */
  readonly isBegun: boolean;
  /** Whether nothing more can be written. */
  readonly isShut: boolean;
  /** Whether the response counts as sent as a whole. */
  readonly isFinished: boolean;
  /** Whether the response counts as closed. */
  readonly isGone: boolean;
  writeHead(status: number, rest: unknown[]): void;
  flushHeaders(): void;
  write(chunk: unknown, rest: unknown[]): boolean;
  end(args: unknown[]): void;
  destroy(): void;
  /** @returns whether the event is kept from the application */
  hides(event: string, argument: unknown): boolean;
}

const DISGUISE = Symbol('disguise');

type Disguised = ServerResponse & { readonly [DISGUISE]: Disguise };

type Method = (this: ServerResponse, ...args: any[]) => any;

/** The methods of a response that are still called, by the names under which they are covered. */
const CALLED = ['emit', 'setHeader', 'appendHeader', 'removeHeader'] as const;

/** Plain properties of a response, which Node itself changes. */
const FLAGS = ['finished', 'destroyed', '_closed'] as const;

type Flags = Record<(typeof FLAGS)[number], boolean>;

/** Node refuses headers once they are sent, so a held response must too. @throws as Node does */
export function refuseAfterHead(isSent: boolean): void {
  if (isSent) {
    const error = new Error('Cannot set headers after they are sent to the client');
    throw Object.assign(error, { code: 'ERR_HTTP_HEADERS_SENT' });
  }
}

function changeHeaders(name: 'setHeader' | 'appendHeader' | 'removeHeader'): Method {
  return function (this: Disguised, ...args) {
    refuseAfterHead(this[DISGUISE].holder.isBegun);
    return this[DISGUISE].covered[name].apply(this, args);
  } as Method;
}

function writeHead(this: ServerResponse, status: number, ...rest: unknown[]): ServerResponse {
  (this as Disguised)[DISGUISE].holder.writeHead(status, rest);
  return this;
}

const FACE = descriptorsOf({
  writeHead,
  flushHeaders(this: Disguised) {
    this[DISGUISE].holder.flushHeaders();
  },
  write(this: Disguised, chunk: unknown, ...rest: unknown[]) {
    return this[DISGUISE].holder.write(chunk, rest);
  },
  end(this: Disguised, ...args: unknown[]) {
    this[DISGUISE].holder.end(args);
    return this;
  },
  destroy(this: Disguised) {
    this[DISGUISE].holder.destroy();
    return this;
  },
  emit(this: Disguised, event: string, ...args: unknown[]) {
    const disguise = this[DISGUISE];
    return disguise.hides(event, args[0]) ? false : disguise.covered.emit.call(this, event, ...args);
  },
  setHeader: changeHeaders('setHeader'),
  appendHeader: changeHeaders('appendHeader'),
  removeHeader: changeHeaders('removeHeader'),
  get headersSent() {
    return holderOf(this).isBegun;
  },
  get writableEnded() {
    return holderOf(this).isShut;
  },
  get writableFinished() {
    return holderOf(this).isFinished;
  },
});

/** The flags of a response that has them as getters, which HTTP/2 does. */
const FLAG_GETTERS = descriptorsOf({
  get finished() {
    return holderOf(this).isShut;
  },
  get destroyed() {
    return holderOf(this).isGone;
  },
  get _closed() {
    return holderOf(this).isGone;
  },
} satisfies Flags);

const NOTHING = descriptorsOf({
  writeHead(this: ServerResponse) {
    return this;
  },
  flushHeaders() {},
  end(this: ServerResponse) {
    return this;
  },
  write() {
    return true;
  },
});

/** Drops what is still sent to a response that was answered: Node would end the process with "write after end". */
export function mute(response: ServerResponse): void {
  new Shadow(response).lay(NOTHING);
}

/** Makes a response that is held back look to the application like one that is sent. */
export class Disguise {
  readonly covered: Record<(typeof CALLED)[number], Method>;
  private readonly shadow: Shadow<ServerResponse>;
  /** As they were before; `undefined` where they are no plain properties. */
  private readonly flags: Flags | undefined;
  private isWorn = true;

  constructor(
    private readonly response: ServerResponse,
    readonly holder: ResponseHolder,
  ) {
    // Where an interceptor repeats the handler, the response may wear the disguise of the attempt before.
    const { covered = response } = (response as Partial<Disguised>)[DISGUISE] ?? {};
    const { emit, setHeader, appendHeader, removeHeader } = covered as unknown as Disguise['covered'];
    this.covered = { emit, setHeader, appendHeader, removeHeader };
    this.flags = FLAGS.every((name) => Object.hasOwn(response, name)) ? this.shown : undefined;
    this.shadow = new Shadow(response);
    this.shadow.lay([[DISGUISE, { value: this, configurable: true }]]);
    this.shadow.lay(FACE);
    if (!this.flags) {
      this.shadow.lay(FLAG_GETTERS);
    }
  }

  /** Whether `writeHead()` was replaced since. */
  get isCovered(): boolean {
    return (this.response.writeHead as unknown) !== writeHead;
  }

  /** To be called after each change of what the holder says; once it is removed, that matters no more. */
  update(): void {
    if (this.flags && this.isWorn) {
      const { isShut, isGone } = this.holder;
      this.shown = { finished: isShut, destroyed: isGone, _closed: isGone };
    }
  }

  remove(): void {
    this.isWorn = false;
    this.shadow.remove();
    if (this.flags) {
      this.shown = this.flags;
    }
  }

  hides(event: string, argument: unknown): boolean {
    const isHidden = this.holder.hides(event, argument);
    if (isHidden) {
      // Node has set them just before, and tells of it by this event.
      this.update();
    }
    return isHidden;
  }

  private get shown(): Flags {
    const { finished, destroyed, _closed } = this.response as unknown as Flags;
    return { finished, destroyed, _closed };
  }

  private set shown({ finished, destroyed, _closed }: Flags) {
    Object.assign(this.response, { finished, destroyed, _closed });
  }
}

function holderOf(response: unknown): ResponseHolder {
  return (response as Disguised)[DISGUISE].holder;
}
