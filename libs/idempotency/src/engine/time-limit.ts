/** A step of the protocol took longer than `storeTimeout`. @internal */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError';
  constructor(step: string, milliseconds: number) {
    super(`${step} took longer than ${milliseconds} ms.`);
  }
}

/**
 * Gives what `work` gives, as long as it is in time: a store must reject within the time limit that it is given.
 *
 * @param step begins the message of the error
 * @param late gets the value when it arrives after the limit, to give back what it holds
 * @throws TimeLimitError
 * @publicApi
 */
export function withTimeLimit<T>(
  step: string,
  milliseconds: number,
  work: Promise<T>,
  late?: (value: T) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(new TimeLimitError(step, milliseconds));
    }, milliseconds);
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
        if (isLate) {
          late?.(value);
        }
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error as Error);
      },
    );
  });
}

/** One time limit over several steps. */
export class Deadline {
  private readonly end: number;

  constructor(private readonly milliseconds: number) {
    this.end = performance.now() + milliseconds;
  }

  /** Whole milliseconds; 0 or less when it is over. @param now `performance.now()`, for many at once */
  leftAt(now: number): number {
    return Math.ceil(this.end - now);
  }

  /** The same for this moment. */
  get left(): number {
    return this.leftAt(performance.now());
  }

  get error(): TimeLimitError {
    return new TimeLimitError('Asking the store', this.milliseconds);
  }

  /** Whole milliseconds, at least 1. @throws TimeLimitError when none is left */
  get remaining(): number {
    const { left } = this;
    if (left <= 0) {
      throw this.error;
    }
    return left;
  }
}
