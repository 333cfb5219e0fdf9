import { ServerResponse } from 'node:http';
import { guardPrototype } from './prototype-guard.js';
import { makeNotes, notesOf, type ResponseNotes } from './response-notes.js';
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
  destroy(error: unknown): void;
  /** @returns whether the event is kept from the application */
  hides(event: string, argument: unknown): boolean;
}

type Method = (this: ServerResponse, ...args: any[]) => any;

/** The methods of a response that are covered. */
const METHODS = [
  'writeHead',
  'flushHeaders',
  'write',
  'end',
  'destroy',
  'emit',
  'setHeader',
  'appendHeader',
  'removeHeader',
] as const;

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

/** Who kept the method of a response that was held may call it after that: then it is the response's own. */
function cover(
  name: (typeof METHODS)[number],
  whileHeld: (disguise: Disguise, response: ServerResponse, args: any[]) => unknown,
): Method {
  return function (this: ServerResponse, ...args) {
    const disguise = notesOf(this)!.disguise!;
    return disguise.isRemoved ? disguise.methods[name].apply(this, args) : whileHeld(disguise, this, args);
  };
}

function changeHeaders(name: 'setHeader' | 'appendHeader' | 'removeHeader'): Method {
  return cover(name, ({ holder, methods }, response, args) => {
    refuseAfterHead(holder.isBegun);
    return methods[name].apply(response, args);
  });
}

const heldWriteHead = cover('writeHead', ({ holder }, response, [status, ...rest]) => {
  holder.writeHead(status as number, rest);
  return response;
});

const FACE_METHODS = {
  writeHead: heldWriteHead,
  flushHeaders: cover('flushHeaders', ({ holder }) => holder.flushHeaders()),
  write: cover('write', ({ holder }, _, [chunk, ...rest]) => holder.write(chunk, rest)),
  end: cover('end', ({ holder }, response, args) => {
    holder.end(args);
    return response;
  }),
  destroy: cover('destroy', ({ holder }, response, [error]) => {
    holder.destroy(error);
    return response;
  }),
  emit: cover('emit', (disguise, response, args) =>
    disguise.hides(args[0] as string, args[1]) ? false : disguise.methods.emit.apply(response, args),
  ),
  setHeader: changeHeaders('setHeader'),
  appendHeader: changeHeaders('appendHeader'),
  removeHeader: changeHeaders('removeHeader'),
};

const FACE = [
  ...descriptorsOf(FACE_METHODS),
  ...descriptorsOf({
    get headersSent() {
      return holderOf(this).isBegun;
    },
    get writableEnded() {
      return holderOf(this).isShut;
    },
    get writableFinished() {
      return holderOf(this).isFinished;
    },
  }),
];

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

type Methods = Record<(typeof METHODS)[number], Method>;

/** What is left of a disguise: it led to all that was known of the request, which would live as long as the response. */
export interface PastDisguise {
  readonly isRemoved: true;
  /** The response's own. */
  readonly methods: Methods;
}

/** What lies between a response and its prototype while it is held, and the methods that are under it. */
interface Mask {
  readonly face: object;
  readonly past: PastDisguise;
}

/** By the prototype that they are laid over. */
const MASKS = new WeakMap<object, Mask>();

/**
 * All responses of a kind share one: with methods of its own, each response would be a kind of its own to the engine,
 * which costs more than all else that is done here.
 */
function maskOf(prototype: object, hasFlags: boolean): Mask {
  let mask = MASKS.get(prototype);
  if (!mask) {
    const face = Object.create(prototype) as object;
    new Shadow(face).lay(hasFlags ? FACE : [...FACE, ...FLAG_GETTERS]);
    mask = { face, past: { isRemoved: true, methods: methodsOf(prototype as ServerResponse) } };
    MASKS.set(prototype, mask);
  }
  return mask;
}

function methodsOf(response: ServerResponse): Methods {
  return Object.fromEntries(METHODS.map((name) => [name, response[name]])) as Methods;
}

/** A response as it was before it was disguised, by however many attempts: an interceptor may repeat the handler. */
class Covered {
  isRemoved = false;
  readonly past: PastDisguise;
  /** `undefined` where they are no plain properties. */
  readonly flags: Flags | undefined;
  private prototype!: object;
  private face!: object;
  private replaced: Shadow<ServerResponse> | undefined;

  constructor(private readonly response: ServerResponse) {
    this.flags = FLAGS.every((name) => Object.hasOwn(response, name)) ? readFlags(response) : undefined;
    guardPrototype(heldMethod);
    const prototype = Object.getPrototypeOf(response) as object;
    const mask = maskOf(prototype, this.flags !== undefined);
    const isReplaced = hasReplacedMethods(response);
    this.past = isReplaced ? { isRemoved: true, methods: methodsOf(response) } : mask.past;
    if (prototype === ServerResponse.prototype) {
      keepOneShape(response);
    }
    this.wear(mask, prototype);
    if (isReplaced) {
      this.coverReplaced();
    }
  }

  /** For another attempt. */
  coverAgain(): void {
    if (hasReplacedMethods(this.response)) {
      this.coverReplaced();
    }
  }

  /** Puts the mask on again where somebody has changed the prototype since. */
  putOn(): void {
    const prototype = Object.getPrototypeOf(this.response) as object;
    if (prototype !== this.face) {
      this.wear(maskOf(prototype, this.flags !== undefined), prototype);
    }
  }

  private wear({ face }: Mask, prototype: object): void {
    this.prototype = prototype;
    this.face = face;
    Object.setPrototypeOf(this.response, face);
  }

  /** Covers also what others have replaced in this response alone. */
  private coverReplaced(): void {
    this.replaced ??= new Shadow(this.response);
    this.replaced.lay(FACE.filter(([name]) => Object.hasOwn(this.response, name)));
  }

  /** Shows the response as it was, without what others have put over it since. */
  remove(): void {
    const { response, flags } = this;
    if (this.isRemoved) {
      return;
    }
    this.isRemoved = true;
    for (const [name] of FACE) {
      if (Object.hasOwn(response, name)) {
        Reflect.deleteProperty(response, name);
      }
    }
    this.replaced?.remove();
    Object.setPrototypeOf(response, this.prototype);
    if (flags) {
      Object.assign(response, flags);
    }
  }
}

function hasReplacedMethods(response: ServerResponse): boolean {
  return FACE.some(([name]) => Object.hasOwn(response, name));
}

/** Makes a response that is held back look to the application like one that is sent. */
export class Disguise {
  private readonly notes: ResponseNotes;
  private readonly covered: Covered;

  constructor(
    private readonly response: ServerResponse,
    readonly holder: ResponseHolder,
  ) {
    // Before the prototype is changed: see `keepOneShape()`.
    this.notes = makeNotes(response);
    const worn = this.notes.disguise;
    this.notes.disguise = this;
    if (worn && !worn.isRemoved) {
      this.covered = worn.covered;
      this.covered.coverAgain();
      this.update();
    } else {
      this.covered = new Covered(response);
      if (this.covered.flags && Object.values(this.covered.flags).includes(true)) {
        // Its client has gone before the handler was entered, which is hidden.
        this.update();
      }
    }
  }

  get isRemoved(): boolean {
    return this.covered.isRemoved;
  }

  /** The response's own methods. */
  get methods(): Methods {
    return this.covered.past.methods;
  }

  /** Whether `writeHead()` was replaced since. */
  get isCovered(): boolean {
    return (this.response.writeHead as unknown) !== heldWriteHead;
  }

  /** To be called after each change of what the holder says; once it is removed, that matters no more. */
  update(): void {
    if (this.covered.flags && !this.isRemoved) {
      const { isShut, isGone } = this.holder;
      Object.assign(this.response, { finished: isShut, destroyed: isGone, _closed: isGone } satisfies Flags);
    }
  }

  remove(): void {
    this.covered.remove();
    this.notes.disguise = this.covered.past;
  }

  putOn(): void {
    this.covered.putOn();
  }

  hides(event: string, argument: unknown): boolean {
    const isHidden = this.holder.hides(event, argument);
    if (isHidden) {
      // Node has set them just before, and tells of it by this event.
      this.update();
    }
    return isHidden;
  }
}

/**
 * Gives a response the properties that it will have in any case: the engine makes a new shape for each object that gets
 * its first new property after a change of its prototype. Where somebody has changed it before, as Express does, it is
 * too late.
 */
function keepOneShape(response: ServerResponse): void {
  const { statusCode, statusMessage } = response;
  Object.assign(response, { statusCode, statusMessage });
}

/** @returns undefined for a response that is not held */
function heldMethod(response: ServerResponse, name: keyof typeof FACE_METHODS): Method | undefined {
  const disguise = notesOf(response)?.disguise;
  if (!disguise || disguise.isRemoved) {
    return undefined;
  }
  disguise.putOn();
  return FACE_METHODS[name];
}

function readFlags(response: ServerResponse): Flags {
  const { finished, destroyed, _closed } = response as unknown as Flags;
  return { finished, destroyed, _closed };
}

/** The getters are there as long as the response is held. */
function holderOf(response: object): ResponseHolder {
  return (notesOf(response)!.disguise as Disguise).holder;
}
