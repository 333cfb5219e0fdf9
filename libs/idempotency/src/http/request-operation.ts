import type { FrameworkRequest } from './raw-http.js';

/** What Express and Fastify tell about the route that was matched. */
interface RoutedRequest extends FrameworkRequest {
  readonly baseUrl?: string;
  readonly route?: { readonly path?: unknown };
  readonly routeOptions?: { readonly url?: string };
}

const MOST_KNOWN = 1_000;

/** Numbered templates, by the code's own. */
const known = new Map<string, string>();

/**
 * Method and route template, such as `POST /orders/:1/pay`. Parameters are numbered, so that renaming one in
 * the code does not change the identity of records that exist.
 */
export function operationOf(request: FrameworkRequest): string {
  const operation = `${request.method} ${routeTemplate(request)}`;
  let numbered = known.get(operation);
  if (numbered === undefined) {
    numbered = numberParameters(operation);
    // Where the framework tells no template there is one for each path, which must not fill the memory.
    if (known.size < MOST_KNOWN) {
      known.set(operation, numbered);
    }
  }
  return numbered;
}

/** @param operation method and route template */
export function numberParameters(operation: string): string {
  let parameters = 0;
  return operation.replace(/([:*])\w+/g, (_, sign: string) => `${sign}${(parameters += 1)}`);
}

function routeTemplate(request: RoutedRequest): string {
  // Express has the first; it takes long there to look for what it does not have: see `keepOneShape()`.
  const { route } = request;
  return typeof route?.path === 'string'
    ? (request.baseUrl ?? '') + route.path
    : (request.routeOptions?.url ?? splitUrl(request)[0]);
}

/** As the client sent them; the query without `?`. */
export function splitUrl({ originalUrl, url }: FrameworkRequest): [path: string, query: string] {
  const whole = originalUrl ?? url;
  const start = whole.indexOf('?');
  return start < 0 ? [whole, ''] : [whole.slice(0, start), whole.slice(start + 1)];
}
