/** How an attempt ended: with a whole answer, or with the reason why there is none. */
export interface Ending {
  readonly response?: Response;
  /** `code` of its JSON body, in upper case. */
  readonly code?: string | undefined;
  readonly cause?: unknown;
}

/** Codes of this project's server that say that nothing remains of what the attempt did. */
const NOTHING_DONE = /^IDEMPOTENCY_(STORE_UNAVAILABLE|SHUTTING_DOWN|NOT_COMMITTED)$/;

/**
 * Waits for the whole answer: one that is torn in the middle is as lost as one that does not come. The response that is
 * given back has its body unread.
 */
export async function readWhole(response: Response): Promise<Ending> {
  const bytes = await response.clone().arrayBuffer();
  return { response, code: response.status < 400 ? undefined : codeOf(bytes) };
}

export function isReplay({ headers }: Response): boolean {
  return headers.get('idempotent-replayed') === 'true';
}

/** A 5xx that is a replay is the result: every further attempt gets the same. */
export function isRetryable({ response, code }: Ending): boolean {
  if (!response) {
    return true;
  }
  const { status } = response;
  return status === 409
    ? code === 'IDEMPOTENCY_KEY_IN_USE'
    : status === 429 || (status >= 500 && !isReplay(response));
}

/** Whether an attempt that ended like this may have been carried out. */
export function isUnknown({ response, code = '' }: Ending): boolean {
  return !(response?.status === 429 || NOTHING_DONE.test(code));
}

/** Stripe has it one level deeper, and in lower case. */
function codeOf(bytes: ArrayBuffer): string | undefined {
  try {
    const body = JSON.parse(new TextDecoder().decode(bytes)) as { code?: string; error?: { code?: string } };
    return (body.code ?? body.error?.code)?.toUpperCase();
  } catch {
    return undefined;
  }
}
