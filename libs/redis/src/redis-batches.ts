import { isAscii } from 'node:buffer';
import {
  type BatchLimits,
  BatchQueue,
  type LeaseClaim,
  type LeaseHold,
  type RecordedResponse,
  SINGLE,
} from '@exactly-once/nestjs';
import type { Argument, RecordArguments, RedisConnections } from './redis-connections.js';
import { isRefusedRecord } from './redis-errors.js';

/** What concurrent requests share: one script on all their records. A long one would hold up everybody else's commands. */
const SHARED: BatchLimits = { maxRows: 64, maxBytes: 1024 * 1024, parallel: 1, standstill: 100 };

const MOST_BYTES_AS_TEXT = 16 * 1024;

/** A record in progress or completed. */
export type Shown = [state: Buffer, fingerprint: Buffer, owner: Buffer, ...response: (Buffer | null)[]];

/** A record that was taken over. */
export type Claimed = [state: Buffer, attempt: number, steps: Buffer | null];

interface Completion {
  readonly hold: LeaseHold;
  readonly response: RecordedResponse;
  readonly ttl: number;
}

interface Renewal {
  readonly hold: LeaseHold;
  readonly lockTtl: number;
}

/** The operations that concurrent requests share. Each promise resolves when Redis has answered. */
export class RedisBatches {
  /** 1: a record that was free. */
  readonly claims: BatchQueue<LeaseClaim, 1 | Claimed | Shown>;
  readonly completions: BatchQueue<Completion, boolean>;
  readonly renewals: BatchQueue<Renewal, boolean>;

  constructor(connections: RedisConnections) {
    // In a cluster, two records are in two places.
    const options = { limits: connections.isCluster ? SINGLE : SHARED, isRefused: isRefusedRecord };
    this.claims = new BatchQueue(
      (claims, timeLimit) => connections.run('claim', claims.map(claimRecord), timeLimit),
      options,
    );
    this.completions = new BatchQueue(
      async (completions, timeLimit) =>
        areDone(await connections.run('complete', completions.map(completeRecord), timeLimit)),
      { ...options, weightOf },
    );
    this.renewals = new BatchQueue(
      async (renewals, timeLimit) =>
        areDone(await connections.run('renew', renewals.map(renewRecord), timeLimit)),
      options,
    );
  }
}

/** A command that has no bytes in it, but texts alone, takes ioredis half the time. */
function claimRecord(claim: LeaseClaim): RecordArguments {
  const { id, owner, fingerprint, lockTtl, ttl, takeOverAbandoned, operation, key, scope } = claim;
  const times = `${lockTtl} ${ttl} ${takeOverAbandoned ? 1 : 0}`;
  return [id, owner, fingerprint.toString('base64url'), times, operation, key, scope ?? ''];
}

function completeRecord({ hold, response, ttl }: Completion): RecordArguments {
  const answer: Argument[] =
    response === 'unavailable'
      ? ['', '', '']
      : [response.status, JSON.stringify(response.headers), asText(response.body)];
  return [hold.id, hold.owner, ttl, ...answer];
}

/** ASCII is the same bytes as a text. Of a large body a copy would cost more than it saves. */
function asText(body: Buffer): Argument {
  return body.byteLength <= MOST_BYTES_AS_TEXT && isAscii(body) ? body.toString('latin1') : body;
}

function renewRecord({ hold, lockTtl }: Renewal): RecordArguments {
  return [hold.id, hold.owner, lockTtl];
}

function areDone(replies: unknown[]): boolean[] {
  return replies.map((reply) => reply === 1);
}

function weightOf({ response }: Completion): number {
  return response === 'unavailable' ? 0 : response.body.byteLength;
}
