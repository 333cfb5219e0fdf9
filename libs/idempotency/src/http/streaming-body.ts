import { StreamableFile } from '@nestjs/common';

/** Whether Nest sends this piece by piece, and stops it when the client goes. */
export function isStreamingBody(value: unknown): boolean {
  return (
    value instanceof StreamableFile ||
    value instanceof Response ||
    (typeof value === 'object' && value !== null && Symbol.asyncIterator in value)
  );
}
