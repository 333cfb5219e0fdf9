import type { FingerprintFile } from '../engine/fingerprint.js';
import { type FrameworkRequest, rawRequest } from './raw-http.js';

export interface Payload {
  readonly body: unknown;
  readonly files: readonly FingerprintFile[];
}

/** A file as multer leaves it; without `buffer` where it went to a disk. */
interface UploadedFile {
  readonly fieldname: string;
  readonly originalname: string;
  readonly mimetype: string;
  readonly buffer?: Buffer;
}

/** Types whose parsers leave an empty object for an empty body. */
const MAY_BE_EMPTY = /^application\/(.*\+)?json$|^application\/x-www-form-urlencoded$/;

/**
 * What has been read of the request's body.
 *
 * @returns undefined for a body that nothing has parsed: hashed as empty, another amount would pass for a retry
 */
export function readPayload(request: FrameworkRequest, contentType: string): Payload | undefined {
  const files = uploadedFiles(request);
  if (files.some(({ buffer }) => !buffer)) {
    return undefined;
  }
  const { body } = request;
  if (files.length === 0 && hasBody(request) && !isParsed(body, contentType)) {
    return undefined;
  }
  return { body, files: files.map(toFingerprintFile) };
}

/** Media type without parameters, in lower case. */
export function mediaType(request: FrameworkRequest): string {
  return (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
}

function hasBody({ headers }: FrameworkRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function isParsed(body: unknown, contentType: string): boolean {
  if (body === undefined || body === null) {
    return false;
  }
  const isEmptyObject =
    typeof body === 'object' && !(body instanceof Uint8Array) && Object.keys(body).length === 0;
  return !isEmptyObject || MAY_BE_EMPTY.test(contentType);
}

/** Multer's `file`, and `files` as a list or as lists by field name. */
function uploadedFiles(request: FrameworkRequest): UploadedFile[] {
  const { file, files } = { ...pick(rawRequest(request)), ...pick(request) };
  const listed = Array.isArray(files) ? files : Object.values(files ?? {}).flat();
  return [file, ...listed].filter((candidate): candidate is UploadedFile => isUploadedFile(candidate));
}

function pick(request: object): { file?: unknown; files?: object } {
  const { file, files } = request as { file?: unknown; files?: object };
  return { ...(isUploadedFile(file) && { file }), ...(typeof files === 'object' && { files }) };
}

function isUploadedFile(value: unknown): value is UploadedFile {
  return typeof value === 'object' && value !== null && 'fieldname' in value && 'originalname' in value;
}

function toFingerprintFile({ fieldname, originalname, mimetype, buffer }: UploadedFile): FingerprintFile {
  return { field: fieldname, name: originalname, type: mimetype, content: buffer! };
}
