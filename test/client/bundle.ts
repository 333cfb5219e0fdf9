import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** Bytes, minified and gzipped. */
export const LIMIT = 3_000;

const CLIENT = fileURLToPath(new URL('../../libs/client', import.meta.url));

export interface BundleSize {
  minified: number;
  gzipped: number;
}

/** What an application ships that uses these exports of the client; all of them, if none is named. */
export async function bundleSize(...names: string[]): Promise<BundleSize> {
  const contents = `export ${names.length > 0 ? `{ ${names.join()} }` : '*'} from './src/index.ts'`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: CLIENT, loader: 'ts' },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  });
  const bytes = outputFiles[0]!.contents;
  return { minified: bytes.byteLength, gzipped: gzipSync(bytes, { level: 9 }).byteLength };
}
