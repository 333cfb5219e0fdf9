/** Header by which the page says what is to go wrong with a request. */
export const FAULT_HEADER = 'x-playground-fault';

/**
 * - `lose-response`: the app answers, and the connection is cut before anybody hears of it
 * - `slow`: the product is locked for ten seconds, so the app waits in the middle of its transaction
 * - `kill`: the app is killed when it waits for that lock, with this order or with one that is slow meanwhile
 */
export const FAULTS = ['lose-response', 'slow', 'kill'] as const;

export type Fault = (typeof FAULTS)[number];

/** @returns undefined for any other text */
export function readFault(header: string | string[] | undefined): Fault | undefined {
  return FAULTS.find((fault) => fault === header);
}
