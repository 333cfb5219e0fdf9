import type { AttemptReport } from '@exactly-once/client';

import { byId, type Cell, row, short } from './dom.js';

/** Column with the comparison. */
const BYTES = 6;

/** Rows that are kept. */
const MOST = 60;

/** The answers with each key that tell of an order. */
const answers = new Map<string, { text: string; replayed: boolean; cell: Element }[]>();

/** The attempts of one click, newest first. */
export class Timeline {
  private attempts = 0;
  private pending: HTMLTableRowElement | undefined;

  constructor(
    private readonly click: string,
    private readonly key: string | undefined,
  ) {}

  /** An attempt that is on its way. */
  begin(): void {
    this.attempts += 1;
    this.pending = row([
      ...this.who(),
      { text: '…' },
      { text: '' },
      { text: '' },
      { text: '' },
      { text: '' },
    ]);
    const body = byId('attempts');
    body.prepend(this.pending);
    body.querySelector(`tr:nth-child(${MOST})`)?.remove();
  }

  async end({
    response,
    code,
    cause,
    duration,
  }: Pick<AttemptReport, 'response' | 'code' | 'cause' | 'duration'>) {
    const pending = this.pending!;
    const replayed = response?.headers.get('idempotent-replayed') === 'true';
    const line = row([
      ...this.who(),
      response
        ? { text: String(response.status), look: response.ok ? 'good' : 'bad' }
        : { text: nameOf(cause), look: 'bad' },
      { text: code ?? '', look: 'code' },
      response ? { text: replayed ? 'yes' : 'no', look: replayed ? 'good' : undefined } : { text: '–' },
      { text: '' },
      { text: `${(duration / 1_000).toFixed(2)} s` },
    ]);
    pending.replaceWith(line);
    // An error may tell something else each time.
    if (response?.ok && this.key) {
      const text = new TextDecoder('latin1').decode(await response.clone().arrayBuffer());
      compare(this.key, { text, replayed, cell: line.cells[BYTES]! });
    }
  }

  private who(): Cell[] {
    return [
      { text: this.click },
      { text: String(this.attempts) },
      { text: this.key ? short(this.key) : 'none', look: 'code' },
    ];
  }
}

/** Which of them is the first is known when it has come, and that may be after a replay. */
function compare(key: string, answer: { text: string; replayed: boolean; cell: Element }): void {
  const all = [...(answers.get(key) ?? []), answer];
  answers.set(key, all);
  const first = all.find(({ replayed }) => !replayed) ?? all[0]!;
  for (const { text, cell } of all) {
    cell.textContent = `${text.length} bytes${cell === first.cell ? '' : text === first.text ? ', equal' : ', different'}`;
  }
}

function nameOf(cause: unknown): string {
  return cause instanceof DOMException && cause.name === 'TimeoutError' ? 'gave up' : 'lost';
}
