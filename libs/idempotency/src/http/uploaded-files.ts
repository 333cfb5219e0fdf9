import type { FingerprintFile } from '../engine/fingerprint.js';
import type { FrameworkRequest } from './raw-http.js';

interface WithFiles {
  readonly file?: unknown;
  readonly files?: unknown;
}

const NONE: readonly FingerprintFile[] = [];

/** The names that multer and express-fileupload have for the same things. */
interface UploadedFile {
  readonly fieldname?: string;
  readonly originalname?: string;
  readonly name?: string;
  readonly mimetype?: string;
  readonly buffer?: unknown;
  readonly data?: unknown;
}

/**
 * The files that a parser has put beside the body.
 *
 * @returns undefined when there is one whose content is not in memory, or is kept in a way that is not known
 */
export function uploadedFiles(request: FrameworkRequest): readonly FingerprintFile[] | undefined {
  const file = pick(request, 'file');
  const files = pick(request, 'files');
  if (!file && !files) {
    return NONE;
  }
  const uploaded = [['', file] as const, ...named(files)].filter(([, value]) => isObject(value));
  const read = uploaded.map(([field, value]) => toFingerprintFile(field, value as UploadedFile));
  return read.every((candidate) => candidate !== undefined) ? read : undefined;
}

/** On Fastify, multipart plugins have functions of these names. */
function pick(request: FrameworkRequest & WithFiles, name: keyof WithFiles): object | undefined {
  const value = request[name];
  if (isObject(value)) {
    return value;
  }
  const ofRaw = (request.raw as WithFiles | undefined)?.[name];
  return isObject(ofRaw) ? ofRaw : undefined;
}

/** A list, or one file or a list of files by field name. */
function named(files: unknown): [field: string, file: unknown][] {
  if (!isObject(files)) {
    return [];
  }
  const entries = Array.isArray(files) ? files.map((file) => ['', file]) : Object.entries(files);
  return entries.flatMap(([field, value]) =>
    Array.isArray(value) ? value.map((file) => [field, file]) : [[field, value]],
  ) as [string, unknown][];
}

function toFingerprintFile(field: string, file: UploadedFile): FingerprintFile | undefined {
  const content = file.buffer ?? file.data;
  if (!(content instanceof Uint8Array)) {
    return undefined;
  }
  const name = file.originalname ?? file.name ?? '';
  return { field: file.fieldname ?? field, name, type: file.mimetype ?? '', content };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
