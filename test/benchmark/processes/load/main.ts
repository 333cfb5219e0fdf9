import { answerParent } from '../answer.js';
import { cpuTime } from '../cpu-time.js';
import type { LoadAnswers } from './answers.js';
import { Load } from './load.js';

let load: Load;

answerParent({
  open: (target) => {
    load = new Load(target);
  },
  run: (run) => load.run(run),
  stop: () => load.stop(),
  sendEach: (keys) => load.sendEach(keys),
  burst: () => load.burst(),
  close: () => load.close(),
  cpu: cpuTime,
} satisfies LoadAnswers);
