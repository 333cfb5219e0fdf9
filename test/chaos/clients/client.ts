import { setTimeout as sleep } from 'node:timers/promises';

import { send } from '../../support/http.js';
import type { Journal } from '../journal.js';
import type { Random } from '../random.js';
import { LOCK_TTL_MS } from '../schedule.js';
import type { ServerProcess } from '../servers/server-process.js';
import { type Answer, describeAnswer, isAbandoned, isFinal, readAnswer } from './answer.js';
import type { Intent } from './intent.js';

/** How long a client goes on with a key whose attempt has died: longer than a stalled one is away. */
const PATIENCE_WITH_ABANDONED_MS = 2 * LOCK_TTL_MS;

const LONGEST_PAUSE_MS = 1_000;

/** A careful client: it retries an intent with the same key until it has a final answer. */
export class Client {
  constructor(
    private readonly servers: readonly ServerProcess[],
    readonly random: Random,
    private readonly journal: Journal,
    /** Aborted when the time is over; an intent that has no final answer then is stuck. */
    private readonly end: AbortSignal,
  ) {}

  /** Asks until there is a final answer, or an attempt has died and nothing has come of it since. */
  async settle(intent: Intent): Promise<void> {
    let abandonedSince: number | undefined;
    for (let pause = 30; !this.end.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const answers = await this.ask(intent);
      if (answers.some(isFinal)) return;
      if (answers.some(isAbandoned)) abandonedSince ??= this.journal.now();
      if (abandonedSince !== undefined && this.journal.now() - abandonedSince > PATIENCE_WITH_ABANDONED_MS) {
        return;
      }
      await sleep(pause * this.random.between(0.5, 1), undefined, { signal: this.end }).catch(
        () => undefined,
      );
    }
  }

  /** Asks once more, until there is any answer that is not about the moment. */
  async confirm(intent: Intent): Promise<void> {
    while (!this.end.aborted) {
      const answer = await this.request(intent, this.random.pick(this.servers), 10_000);
      if (answer && (isFinal(answer) || isAbandoned(answer))) return;
      await sleep(200, undefined, { signal: this.end }).catch(() => undefined);
    }
  }

  /** One attempt, now and then as two requests at the same moment, as of somebody who clicks twice. */
  private async ask(intent: Intent): Promise<Answer[]> {
    const copies = this.random.chance(0.2) ? 2 : 1;
    const requests = Array.from({ length: copies }, () =>
      this.request(intent, this.random.pick(this.servers), this.drawPatience()),
    );
    return (await Promise.all(requests)).filter((answer) => answer !== undefined);
  }

  /** Milliseconds after which this client breaks a request off: some wait for a long time, some hardly at all. */
  private drawPatience(): number {
    return this.random.chance(0.15) ? this.random.between(20, 400) : this.random.between(1_500, 5_000);
  }

  /** @returns undefined when there was no answer */
  private async request(
    intent: Intent,
    server: ServerProcess,
    patience: number,
  ): Promise<Answer | undefined> {
    server.begun();
    intent.note(this.journal.now(), `asks ${server.name}`);
    try {
      const response = await send(server.url, {
        path: intent.path,
        headers: { Authorization: `Bearer ${intent.token}`, 'Idempotency-Key': intent.key },
        signal: AbortSignal.timeout(Math.round(patience)),
        ...(intent.body && { body: intent.body }),
      });
      const answer = readAnswer(response);
      intent.note(this.journal.now(), `${server.name} answers ${describeAnswer(answer)}`);
      intent.answered(answer);
      return answer;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      intent.note(this.journal.now(), `${server.name} does not answer: ${code ?? message}`);
      return undefined;
    } finally {
      server.ended();
    }
  }
}
