import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { PROJECT_FOLDER } from '../launcher/database.js';

const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

export interface PageFile {
  type: string;
  content: Buffer;
  headers: Record<string, string>;
}

/** The files of the page and the client library, by what their paths begin with. */
const FOLDERS = [
  { prefix: '/client/', folder: 'libs/client/dist' },
  { prefix: '/page/', folder: 'dist/playground/page' },
  { prefix: '/', folder: 'src/playground/page' },
];

/** @returns undefined where there is no such file */
export async function readPageFile(path: string): Promise<PageFile | undefined> {
  const name = path === '/' ? '/index.html' : path;
  const { prefix, folder } = FOLDERS.find((one) => name.startsWith(one.prefix))!;
  const file = name.slice(prefix.length);
  const type = TYPES[file.split('.').at(-1)!];
  // Flat folders, so that no path leads out of them.
  if (!/^[\w-]+(\.[\w-]+)*\.(html|css|js)$/.test(file) || !type) return undefined;
  const content = await readFile(join(PROJECT_FOLDER, folder, file)).catch(() => undefined);
  return content && { type, content, headers: file.endsWith('.html') ? policyFor(content.toString()) : {} };
}

/** Nothing from elsewhere, and no script but the page's own files and its import map. */
function policyFor(html: string): Record<string, string> {
  const [, importMap = ''] = /<script type="importmap">([\s\S]*?)<\/script>/.exec(html) ?? [];
  const hash = createHash('sha256').update(importMap).digest('base64');
  return {
    'Content-Security-Policy':
      `default-src 'none'; script-src 'self' 'sha256-${hash}'; style-src 'self'; connect-src 'self'; ` +
      `img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  };
}
