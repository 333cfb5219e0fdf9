import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** @publicApi */
export interface CaseRequest {
  /** To send as `Idempotency-Key`; undefined for a request without one. */
  readonly key: string | undefined;
  /** Which body to send: each time the same, or one that asks for something else. */
  readonly body: 'same' | 'other';
  /** Of a client that gives up. */
  readonly signal: AbortSignal | undefined;
}

/** @publicApi */
export interface IdempotencyCasesOptions {
  /** Sends the request to the endpoint, over HTTP: what `fetch` gives is what is needed. */
  request: (request: CaseRequest) => Promise<Response>;
  /** How often the effect has happened, such as the number of rows. */
  effectCount: () => Promise<number> | number;
  /** Makes it look as if the retention of this key were over, see `moveRecordClock()`. Without it, case 6 is left out. */
  endRetention?: (key: string) => Promise<unknown>;
  /** Makes the handler fail with a 5xx when it is called next. Without it, case 7 is left out. */
  failOnce?: () => unknown;
  /**
   * Whether a retry after a 5xx executes again, as in `transaction` mode, or gets the same answer, as in `lease` mode.
   *
   * @default 'executes'
   */
  afterFailure?: 'executes' | 'replays';
  /**
   * Requests that are sent at the same moment.
   *
   * @default 20
   */
  concurrency?: number;
}

/** @publicApi */
export interface IdempotencyCase {
  readonly name: string;
  /** @throws AssertionError */
  readonly run: () => Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

/** Milliseconds that a key may be in use. */
const PATIENCE = 30_000;

/**
 * The seven cases that everybody who offers idempotency keys must get right, for an endpoint that requires a key. They go
 * over HTTP and know no framework; any test runner can run them.
 *
 * ```ts
 * for (const { name, run } of idempotencyCases({ request, effectCount })) it(name, run);
 * ```
 *
 * @publicApi
 */
export function idempotencyCases(options: IdempotencyCasesOptions): IdempotencyCase[] {
  const { endRetention, failOnce } = options;
  const endpoint = new Endpoint(options);
  const cases: (IdempotencyCase | false | undefined)[] = [
    { name: '1: the same request twice has one effect and one answer', run: () => repeated(endpoint) },
    { name: '2: the key of another request is refused, and keeps its result', run: () => reused(endpoint) },
    {
      name: '3: of requests at the same moment one is executed, and all get its answer',
      run: () => atTheSameMoment(endpoint, options.concurrency ?? 20),
    },
    { name: '4: a request without a key is refused', run: () => withoutKey(endpoint) },
    { name: '5: a client that gives up and retries gets the result', run: () => givenUp(endpoint) },
    endRetention && {
      name: '6: a key whose retention is over is executed as a new one',
      run: () => afterRetention(endpoint, endRetention),
    },
    failOnce && {
      name: `7: a retry after a failure ${options.afterFailure === 'replays' ? 'gets it again' : 'is executed'}`,
      run: () => afterFailure(endpoint, failOnce, options.afterFailure === 'replays'),
    },
  ];
  return cases.filter((one) => typeof one === 'object');
}

/** The user's endpoint, and what can be seen of it. */
class Endpoint {
  constructor(private readonly options: IdempotencyCasesOptions) {}

  async send(
    key: string | undefined,
    body: 'same' | 'other' = 'same',
    signal?: AbortSignal,
  ): Promise<Answer> {
    const response = await this.options.request({ key, body, signal });
    const { status, headers } = response;
    return { status, headers, bytes: Buffer.from(await response.arrayBuffer()) };
  }

  /** As a client does that waits as long as it is told to. */
  async sendUntilOver(key: string): Promise<Answer> {
    const deadline = performance.now() + PATIENCE;
    for (;;) {
      const answer = await this.send(key);
      if (!isInUse(answer)) {
        return answer;
      }
      assert.ok(performance.now() < deadline, `The key was in use for ${PATIENCE} ms.`);
      await sleep(100);
    }
  }

  /** @throws AssertionError unless `work` has so many effects */
  async expectEffects<T>(expected: number, work: () => Promise<T>): Promise<T> {
    const before = await this.options.effectCount();
    const result = await work();
    assert.equal((await this.options.effectCount()) - before, expected, 'number of effects');
    return result;
  }
}

async function repeated(endpoint: Endpoint): Promise<void> {
  await endpoint.expectEffects(1, async () => {
    const key = randomUUID();
    const first = await endpoint.send(key);
    expectSuccess(first);
    assert.equal(isReplay(first), false, 'The first answer must not be marked as replayed.');
    expectReplay(await endpoint.send(key), first);
  });
}

async function reused(endpoint: Endpoint): Promise<void> {
  await endpoint.expectEffects(1, async () => {
    const key = randomUUID();
    const first = await endpoint.send(key);
    expectSuccess(first);
    expectProblem(await endpoint.send(key, 'other'), 422, 'IDEMPOTENCY_KEY_REUSED');
    expectReplay(await endpoint.send(key), first);
  });
}

async function atTheSameMoment(endpoint: Endpoint, concurrency: number): Promise<void> {
  await endpoint.expectEffects(1, async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: concurrency }, () => endpoint.send(key)));
    const [first, ...others] = answers.filter((answer) => !isInUse(answer) && !isReplay(answer));
    assert.ok(first, 'None of the requests was executed.');
    assert.equal(others.length, 0, 'More than one request was executed.');
    expectSuccess(first);
    for (const answer of answers.filter((one) => one !== first)) {
      if (isInUse(answer)) {
        assert.match(answer.headers.get('retry-after') ?? '', /^\d+$|GMT$/, 'Retry-After of a 409');
      } else {
        expectReplay(answer, first);
      }
    }
    expectReplay(await endpoint.sendUntilOver(key), first);
  });
}

async function withoutKey(endpoint: Endpoint): Promise<void> {
  await endpoint.expectEffects(0, async () => {
    expectProblem(await endpoint.send(undefined), 400, 'IDEMPOTENCY_KEY_REQUIRED');
  });
}

/** Whether the server has seen the request, is executing it, or has answered: the retry must not care. */
async function givenUp(endpoint: Endpoint): Promise<void> {
  for (const patience of [0, 2, 10, 50]) {
    await endpoint.expectEffects(1, async () => {
      const key = randomUUID();
      const signal = AbortSignal.timeout(patience);
      await endpoint.send(key, 'same', signal).catch(() => undefined);
      const first = await endpoint.sendUntilOver(key);
      expectSuccess(first);
      expectReplay(await endpoint.send(key), first);
    });
  }
}

async function afterRetention(
  endpoint: Endpoint,
  endRetention: (key: string) => Promise<unknown>,
): Promise<void> {
  await endpoint.expectEffects(2, async () => {
    const key = randomUUID();
    expectSuccess(await endpoint.send(key));
    await endRetention(key);
    const second = await endpoint.send(key);
    expectSuccess(second);
    assert.equal(isReplay(second), false, 'What is executed anew must not be marked as replayed.');
    expectReplay(await endpoint.send(key), second);
  });
}

async function afterFailure(endpoint: Endpoint, failOnce: () => unknown, replays: boolean): Promise<void> {
  const key = randomUUID();
  await failOnce();
  const fail = async (): Promise<Answer> => {
    const failed = await endpoint.send(key);
    assert.ok(failed.status >= 500, `The handler was to fail, and has answered ${failed.status}.`);
    return failed;
  };
  if (replays) {
    const failed = await fail();
    await endpoint.expectEffects(0, async () => expectReplay(await endpoint.send(key), failed));
    return;
  }
  // The attempt that failed must have left nothing behind.
  await endpoint.expectEffects(1, async () => {
    await fail();
    const retry = await endpoint.send(key);
    expectSuccess(retry);
    assert.equal(isReplay(retry), false, 'What is executed again must not be marked as replayed.');
    expectReplay(await endpoint.send(key), retry);
  });
}

function expectSuccess({ status, bytes }: Answer): void {
  assert.ok(
    status >= 200 && status < 300,
    `The request was to succeed, and was answered ${status}: ${bytes}`,
  );
}

function expectReplay(answer: Answer, first: Answer): void {
  assert.equal(answer.status, first.status, 'status of a replay');
  assert.equal(answer.bytes.toString('latin1'), first.bytes.toString('latin1'), 'bytes of a replay');
  assert.equal(
    answer.headers.get('content-type'),
    first.headers.get('content-type'),
    'content type of a replay',
  );
  assert.ok(isReplay(answer), 'A replay must have the header Idempotent-Replayed: true.');
}

function expectProblem(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status, `status of the answer ${answer.bytes}`);
  assert.match(
    answer.headers.get('content-type') ?? '',
    /^application\/problem\+json\b/,
    'content type of a problem',
  );
  assert.equal(codeOf(answer), code, 'code of a problem');
}

function codeOf({ bytes }: Answer): unknown {
  try {
    return (JSON.parse(bytes.toString()) as { code?: unknown }).code;
  } catch {
    return undefined;
  }
}

function isReplay({ headers }: Answer): boolean {
  return headers.get('idempotent-replayed') === 'true';
}

/** Other conflicts are final. */
function isInUse({ status, bytes }: Answer): boolean {
  return status === 409 && bytes.includes('IDEMPOTENCY_KEY_IN_USE');
}
