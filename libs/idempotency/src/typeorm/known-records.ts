import { isRefusedByServer } from './postgres-errors.js';
import type { Deadline } from '../engine/time-limit.js';
import type { ExistingRecord } from '../store/claim.js';
import { type BatchLimits, BatchQueue } from '../batching/batch-queue.js';
import type { RunStatement } from './connections.js';
import { idText, lookUpColumns, type RecordRow, toExistingRecord } from './record-row.js';
import type { RecordTable } from './record-table.js';

/** About 1 MB. */
const MOST_KNOWN = 10_000;

/**
 * Which records this process has seen completed. A request for one of them is looked up before anything is begun for it,
 * by a statement that concurrent requests share. What is remembered here is a guess about which way is shorter: the
 * database is asked either way.
 */
export class KnownRecords {
  private readonly known = new Set<string>();
  private readonly lookUps: BatchQueue<Buffer, RecordRow | undefined>;

  constructor(table: RecordTable, run: RunStatement, limits: BatchLimits) {
    const { name, column: c } = table;
    const sql = `SELECT ${c.id} AS id, ${lookUpColumns(table)} FROM ${name} WHERE ${c.id} = ANY ($1)`;
    const work = async (ids: readonly Buffer[], timeLimit: number): Promise<(RecordRow | undefined)[]> => {
      const { rows } = await run<RecordRow & { readonly id: Buffer }>(sql, [ids], timeLimit);
      const found = new Map(rows.map((row) => [idText(row.id), row]));
      return ids.map((id) => found.get(idText(id)));
    };
    this.lookUps = new BatchQueue(work, { limits, isRefused: isRefusedByServer });
  }

  remember(id: Buffer): void {
    if (this.known.size >= MOST_KNOWN) {
      const [oldest] = this.known;
      this.known.delete(oldest!);
    }
    this.known.add(idText(id));
  }

  /** @returns undefined where the record is not known, or no longer a completed one */
  async find(id: Buffer, deadline: Deadline): Promise<ExistingRecord | undefined> {
    if (!this.known.has(idText(id))) {
      return undefined;
    }
    const record = toExistingRecord(await this.lookUps.add(id, deadline));
    if (record?.type === 'completed') {
      return record;
    }
    this.known.delete(idText(id));
    return undefined;
  }
}
