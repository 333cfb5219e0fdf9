import type { ServerResponse } from 'node:http';

/** Node refuses headers once they are sent, so a held response must too. @throws as Node does */
export function refuseAfterHead(isSent: boolean): void {
  if (isSent) {
    const error = new Error('Cannot set headers after they are sent to the client');
    throw Object.assign(error, { code: 'ERR_HTTP_HEADERS_SENT' });
  }
}

/** The methods of a response that change headers, which refuse once `isSent()`. */
export function refusingMethods(response: ServerResponse, isSent: () => boolean): Record<string, unknown> {
  const names = ['setHeader', 'appendHeader', 'removeHeader'] as const;
  const methods = names.map((name) => {
    const original = response[name].bind(response) as (...args: unknown[]) => unknown;
    const method = (...args: unknown[]): unknown => {
      refuseAfterHead(isSent());
      return original(...args);
    };
    return [name, method] as const;
  });
  return Object.fromEntries(methods);
}
