import { bundleSize, LIMIT } from './bundle.js';

for (const name of ['idempotentFetch', 'createIntent', 'deriveKey']) {
  const { minified, gzipped } = await bundleSize(name);
  console.log(`${name}: ${minified} bytes minified, ${gzipped} gzipped`);
}
const { minified, gzipped } = await bundleSize();
console.log(`the whole client: ${minified} bytes minified, ${gzipped} gzipped, at most ${LIMIT}`);
process.exitCode = gzipped < LIMIT ? 0 : 1;
