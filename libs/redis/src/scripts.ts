import { NOBODY } from '@exactly-once/nestjs';

/**
 * The operations, one Lua script each: Redis runs a script as a whole, so nothing comes between its look at a record and
 * its write, and its writes are replicated and persisted together.
 *
 * A record is one hash under one key, so that a cluster has it in one place, and it expires by itself: `PEXPIREAT` is
 * the end of the retention, or that of a live lease where it is later. What is there has not expired. Times are
 * milliseconds of Redis's clock, which stands still while a script runs.
 */
const TIME = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/** The fields by which a record is judged. */
const FOUND = `
local found = redis.call('HMGET', KEYS[1], 'owner', 'completedAt', 'lockExpiresAt', 'steps', 'expiresAt')
local owner, completedAt, lockExpiresAt, steps = found[1], found[2], tonumber(found[3]), found[4]
local expiresAt = tonumber(found[5])`;

/** Without the comparison, a process that has lost its lease would write to the record of its successor. ARGV[1] owner */
const UNLESS_HELD = `${FOUND}
if owner ~= ARGV[1] then return 0 end`;

const STATE = `
local state = 'in-flight'
if completedAt then state = 'completed'
elseif owner == '${NOBODY}' then state = 'released'
elseif lockExpiresAt <= now then state = 'abandoned' end`;

/** What a request is shown that does not get the record. */
const SHOW = `
local shown = redis.call('HMGET', KEYS[1], 'fingerprint', 'owner', 'status', 'headers', 'body')
if state == 'released' then state = 'abandoned' end
return {state, unpack(shown)}`;

/**
 * ARGV: 1 owner, 2 fingerprint, 3 lockTtl, 4 ttl, 5 whether abandoned records are taken over ('1'), 6 operation, 7 key,
 * 8 scope, left out where there is none
 */
const claim = `${TIME}
local lock, retention = now + ARGV[3], now + ARGV[4]
local function hold(...)
  redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'lockExpiresAt', lock, 'expiresAt', retention, ...)
  redis.call('PEXPIREAT', KEYS[1], math.max(lock, retention))
end
${FOUND}
if not owner then
  hold('fingerprint', ARGV[2], 'attempt', 1, 'createdAt', now, 'operation', ARGV[6], 'key', ARGV[7])
  if ARGV[8] then redis.call('HSET', KEYS[1], 'scope', ARGV[8]) end
  return 1
end
local attempt = tonumber(redis.call('HGET', KEYS[1], 'attempt'))
if owner == ARGV[1] then return {'claimed', attempt, steps} end
${STATE}
local isFree = state == 'released' or (state == 'abandoned' and ARGV[5] == '1')
if isFree and redis.call('HGET', KEYS[1], 'fingerprint') == ARGV[2] then
  hold('attempt', attempt + 1)
  return {'claimed', attempt + 1, steps}
end
${SHOW}`;

/** ARGV: 1 owner, 2 ttl, and 3 status, 4 headers, 5 body, left out for an answer that is unavailable */
const complete = `${UNLESS_HELD}
if completedAt then return 1 end
${TIME}
local retention = now + ARGV[2]
if ARGV[3] then
  redis.call('HSET', KEYS[1], 'completedAt', now, 'expiresAt', retention, 'status', ARGV[3], 'headers', ARGV[4], 'body', ARGV[5])
else
  redis.call('HSET', KEYS[1], 'completedAt', now, 'expiresAt', retention)
end
redis.call('PEXPIREAT', KEYS[1], retention)
return 1`;

/** With steps the record stays, or a retry would repeat them; a renewal that comes late finds another owner. ARGV: 1 owner */
const release = `${UNLESS_HELD}
if completedAt then return 0 end
if not steps then return redis.call('DEL', KEYS[1]) end
${TIME}
redis.call('HSET', KEYS[1], 'owner', '${NOBODY}', 'lockExpiresAt', now)
redis.call('PEXPIREAT', KEYS[1], expiresAt)
return 1`;

/** ARGV: 1 owner, 2 lockTtl */
const renew = `${UNLESS_HELD}
if completedAt then return 1 end
${TIME}
local lock = now + ARGV[2]
redis.call('HSET', KEYS[1], 'lockExpiresAt', lock)
redis.call('PEXPIREAT', KEYS[1], math.max(lock, expiresAt))
return 1`;

/** ARGV: 1 owner, 2 steps */
const recordSteps = `${UNLESS_HELD}
if completedAt then return 0 end
redis.call('HSET', KEYS[1], 'steps', ARGV[2])
return 1`;

const find = `${TIME}
${FOUND}
if not owner then return false end
${STATE}
${SHOW}`;

const inspect = `${TIME}
${FOUND}
if not owner then return false end
${STATE}
return {state, unpack(redis.call('HMGET', KEYS[1], 'scope', 'operation', 'key', 'attempt', 'owner', 'createdAt',
  'lockExpiresAt', 'completedAt', 'expiresAt', 'status', 'steps'))}`;

/** Neither a live attempt nor a completed one is freed. */
const releaseAbandoned = `${TIME}
${FOUND}
if not owner or completedAt or lockExpiresAt > now then return 0 end
return redis.call('DEL', KEYS[1])`;

export const SCRIPTS = { claim, complete, release, renew, recordSteps, find, inspect, releaseAbandoned };

export type ScriptName = keyof typeof SCRIPTS;
