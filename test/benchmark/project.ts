import { join } from 'node:path';

import { PROJECT } from '../chaos/project.js';

export { PROJECT };

/** A package of its own, so that what is compared with never becomes a dependency of the project. */
export const BENCHMARK = join(PROJECT, 'test/benchmark');

/** What is measured, in the order in which it is built: the second is compiled against the first. */
export const LIBRARIES = ['libs/idempotency', 'libs/redis'].map((folder) => join(PROJECT, folder));

export const DOCUMENT = join(PROJECT, 'docs/benchmarks.md');
export const PLOTS = join(PROJECT, 'docs/plots');

/** Everything that was measured in the last run, for further evaluation. */
export const RESULTS = join(PROJECT, '.reports/benchmark.json');

export const SERVER_SCRIPT = join(BENCHMARK, 'dist/server/main.js');
export const PLAIN_SCRIPT = join(BENCHMARK, 'dist/plain/main.js');
export const LOAD_SCRIPT = join(BENCHMARK, 'dist/load/main.js');
