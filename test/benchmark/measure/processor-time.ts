import { readFile } from 'node:fs/promises';

/** Of the tick in which Linux counts CPU time for programs, whatever its own is. */
const MICROSECONDS_PER_TICK = 10_000;

/** CPU time of the whole machine since its start, in microseconds; undefined where there is no `/proc`. */
export async function machineTime(): Promise<{ busy: number; all: number } | undefined> {
  const text = await readFile('/proc/stat', 'utf8').catch(() => undefined);
  const line = /^cpu +(.+)$/m.exec(text ?? '')?.[1];
  if (line === undefined) return undefined;
  // After these eight, time of guests is counted a second time.
  const [user, nice, system, idle, waiting, irq, softIrq, stolen] = line.split(' ').map(Number) as number[];
  const busy = user! + nice! + system! + irq! + softIrq! + stolen!;
  return { busy: busy * MICROSECONDS_PER_TICK, all: (busy + idle! + waiting!) * MICROSECONDS_PER_TICK };
}

/** CPU time of a process and of its children, also of those that have ended, in microseconds. */
export async function familyTime(pid: number): Promise<number | undefined> {
  const parent = await times(pid);
  if (!parent) return undefined;
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = await Promise.all(list.split(' ').filter(Boolean).map(Number).map(times));
  return children.reduce((sum, child) => sum + (child?.own ?? 0), parent.own + parent.ofEnded);
}

async function times(pid: number): Promise<{ own: number; ofEnded: number } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  // The name in brackets before them may contain anything.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const ticks = (from: number): number => (fields[from]! + fields[from + 1]!) * MICROSECONDS_PER_TICK;
  return { own: ticks(11), ofEnded: ticks(13) };
}
