import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import { Guard } from '../chaos/guard.js';
import { measureAll, type Outcome } from './cases/all.js';
import type { BenchmarkOptions } from './options.js';
import { prepare } from './prepare.js';
import { DOCUMENT, PLOTS, RESULTS } from './project.js';
import { describeDisturbance } from './report/disturbance.js';
import { writeDocument } from './report/document.js';
import { Evaluation } from './report/evaluation.js';
import { ratioLines } from './report/figures.js';
import { plotsOf, writePlots } from './report/plots.js';
import { printTable } from './report/print.js';
import { describeSurroundings } from './report/surroundings.js';
import { type Table, tablesOf } from './report/tables.js';
import { makeFolder, openRig, type Rig } from './rig/rig.js';

/**
 * Measures, and prints what has come of it. Whatever is started is ended, also when it is interrupted.
 *
 * @returns whether the run has proved itself
 */
export async function runBenchmark(options: BenchmarkOptions, interruption: AbortSignal): Promise<boolean> {
  await prepare();
  const begin = performance.now();
  const folder = await makeFolder();
  const guard = new Guard(folder);
  const interrupted = new Promise<never>((_, reject) => {
    interruption.addEventListener('abort', () => reject(interruption.reason));
  });
  const opening = openRig(options, folder, guard);
  try {
    return await Promise.race([opening.then((rig) => measureAndReport(rig, begin)), interrupted]);
  } finally {
    // A Postgres that is just being started is not seen by the guard.
    await opening.catch(() => undefined);
    await guard.end();
  }
}

async function measureAndReport(rig: Rig, begin: number): Promise<boolean> {
  const { options, proofs } = rig;
  const surroundings = await describeSurroundings(rig);
  console.log(surroundings.join('\n'));
  const outcome = await measureAll(rig);

  const evaluation = new Evaluation(outcome.measurements);
  const tables = tablesOf(evaluation);
  tables.forEach(printTable);
  console.log(`\nAfter ${Math.round((performance.now() - begin) / 1_000)} s:`);
  describeDisturbance(outcome.measurements).forEach((line) => console.log(line));
  outcome.skipped.forEach((reason) => console.log(`SKIPPED ${reason}`));
  proofs.lines().forEach((line) => console.log(line));
  await keepResults(surroundings, options, outcome);
  if (options.write && proofs.allHold) await writeDocuments(options, surroundings, tables, evaluation);
  ratioLines(evaluation).forEach((line) => console.log(line));
  return proofs.allHold;
}

async function writeDocuments(
  { isGrowth }: BenchmarkOptions,
  surroundings: string[],
  tables: Table[],
  evaluation: Evaluation,
): Promise<void> {
  if (isGrowth) await writePlots(PLOTS, plotsOf(evaluation));
  else await writeDocument(DOCUMENT, surroundings, tables);
}

async function keepResults(
  surroundings: string[],
  options: BenchmarkOptions,
  outcome: Outcome,
): Promise<void> {
  await mkdir(dirname(RESULTS), { recursive: true });
  await writeFile(RESULTS, JSON.stringify({ surroundings, options, ...outcome }, undefined, 2));
}
