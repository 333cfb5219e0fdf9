import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { DOCUMENTS, fillIn, PROJECT, read } from './markdown.js';

for (const path of DOCUMENTS) {
  const before = read(path);
  const after = fillIn(before);
  if (after !== before) {
    writeFileSync(join(PROJECT, path), after);
    console.log(`${path} has changed.`);
  }
}
