const MESSAGE_BYTES = 6;

/** The message with which an answer ends, in front of the state of the transaction. */
const READY_FOR_QUERY = Buffer.from([...Buffer.from('Z'), 0, 0, 0, 5]);

/** Whether these bytes end an answer after which a transaction is open. */
export function isInTransaction(bytes: Buffer): boolean {
  const end = bytes.subarray(-MESSAGE_BYTES);
  return end.subarray(0, -1).equals(READY_FOR_QUERY) && end.at(-1) === 'T'.charCodeAt(0);
}
