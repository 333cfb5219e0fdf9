import { NOBODY } from '@exactly-once/nestjs';

/**
 * The operations, one Lua script each: Redis runs a script as a whole, so nothing comes between its look at a record and
 * its write, and its writes are replicated and persisted together.
 *
 * A record is one hash under one key, so that a cluster has it in one place, and it expires by itself: `PEXPIREAT` is
 * the end of the retention, or that of a live lease where it is later. What is there has not expired. Times are
 * milliseconds of Redis's clock, which stands still while a script runs.
 */
const CLOCK = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/**
 * Whole milliseconds, and no more than Lua can count, as PEXPIREAT takes them: it comes after the first write, which its error
 * would leave. Rounded up, since nothing may end early.
 */
const FROM_NOW = `
local function fromNow(milliseconds)
  local time = now + math.ceil(milliseconds)
  if time >= now and time < 2^53 then return time end
  error('A lease or a retention cannot last ' .. milliseconds .. ' ms.')
end`;

/** Reads fields of the record into variables of their names, as texts; what is not there is false. */
function read(...fields: string[]): string {
  const names = fields.map((field) => `'${field}'`);
  return `
local ${fields.join(', ')} = unpack(redis.call('HMGET', key, ${names.join(', ')}))`;
}

/**
 * Reads the record of the attempt in ARGV 1, also these fields of it. Without the comparison, a process that has lost its
 * lease would write to the record of its successor.
 */
function readHeld(...fields: string[]): string {
  return `${read('owner', 'completedAt', ...fields)}
if owner ~= ARGV[at + 1] then return 0 end`;
}

/** By these a record is judged. */
const READ_STATE = read('owner', 'completedAt', 'lockExpiresAt');

const STATE = `
local state = 'in-flight'
if completedAt then state = 'completed'
elseif owner == '${NOBODY}' then state = 'released'
elseif tonumber(lockExpiresAt) <= now then state = 'abandoned' end`;

/** What a request is shown that does not get the record. */
const SHOW = `
if state == 'released' then state = 'abandoned' end
return {state, unpack(redis.call('HMGET', key, 'fingerprint', 'owner', 'status', 'headers', 'body'))}`;

/**
 * ARGV: 1 owner, 2 fingerprint, 3 "lockTtl ttl mayTakeOver", the last one 1 where abandoned records are taken over,
 * 4 operation, 5 key, 6 scope ('': none). Few arguments, since ioredis takes long for each of them.
 */
const claim = `${read('owner', 'completedAt', 'lockExpiresAt', 'steps', 'attempt', 'fingerprint')}
local lockTtl, ttl, mayTakeOver = string.match(ARGV[at + 3], '(%S+) (%S+) (%S+)')
local lock, retention = fromNow(lockTtl), fromNow(ttl)
if not owner then
  redis.call('HSET', key, 'owner', ARGV[at + 1], 'lockExpiresAt', lock, 'expiresAt', retention, 'attempt', 1,
    'createdAt', now, 'fingerprint', ARGV[at + 2], 'operation', ARGV[at + 4], 'key', ARGV[at + 5], 'scope', ARGV[at + 6])
  redis.call('PEXPIREAT', key, math.max(lock, retention))
  return 1
end
attempt = tonumber(attempt)
if owner == ARGV[at + 1] then return {'claimed', attempt, steps} end
${STATE}
local isFree = state == 'released' or (state == 'abandoned' and mayTakeOver == '1')
if isFree and fingerprint == ARGV[at + 2] then
  redis.call('HSET', key, 'owner', ARGV[at + 1], 'lockExpiresAt', lock, 'expiresAt', retention, 'attempt', attempt + 1)
  redis.call('PEXPIREAT', key, math.max(lock, retention))
  return {'claimed', attempt + 1, steps}
end
${SHOW}`;

/** 1 owner, 2 ttl, 3 status ('': the answer is unavailable), 4 headers, 5 body */
const complete = `${readHeld()}
if completedAt then return 1 end
local retention = fromNow(ARGV[at + 2])
redis.call('HSET', key, 'completedAt', now, 'expiresAt', retention, 'status', ARGV[at + 3], 'headers', ARGV[at + 4],
  'body', ARGV[at + 5])
redis.call('PEXPIREAT', key, retention)
return 1`;

/** 1 owner, 2 lockTtl */
const renew = `${readHeld('expiresAt')}
if completedAt then return 1 end
local lock = fromNow(ARGV[at + 2])
redis.call('HSET', key, 'lockExpiresAt', lock)
redis.call('PEXPIREAT', key, math.max(lock, tonumber(expiresAt)))
return 1`;

/** With steps the record stays, or a retry would repeat them; a renewal that comes late finds another owner. 1 owner */
const release = `${readHeld('steps', 'expiresAt')}
if completedAt then return 0 end
if not steps then return redis.call('DEL', key) end
redis.call('HSET', key, 'owner', '${NOBODY}', 'lockExpiresAt', now)
redis.call('PEXPIREAT', key, expiresAt)
return 1`;

/** Steps only grow: a shorter text is older than the one that is there, and comes late. 1 owner, 2 steps */
const recordSteps = `${readHeld('steps')}
if completedAt or (steps and #steps > #ARGV[at + 2]) then return 0 end
redis.call('HSET', key, 'steps', ARGV[at + 2])
return 1`;

const find = `${READ_STATE}
if not owner then return false end
${STATE}
${SHOW}`;

const inspect = `${READ_STATE}
if not owner then return false end
${STATE}
return {state, unpack(redis.call('HMGET', key, 'scope', 'operation', 'key', 'attempt', 'owner', 'createdAt',
  'lockExpiresAt', 'completedAt', 'expiresAt', 'status', 'steps'))}`;

/** Neither a live attempt nor a completed one is freed. */
const releaseAbandoned = `${READ_STATE}
if not owner or completedAt or tonumber(lockExpiresAt) > now then return 0 end
return redis.call('DEL', key)`;

const OPERATIONS = { claim, complete, renew, release, recordSteps, find, inspect, releaseAbandoned };

export type ScriptName = keyof typeof OPERATIONS;

/**
 * A script for each operation, on any number of records, each with as many arguments: concurrent requests share a call. An
 * error ends it in the middle; since operations may be repeated, each record is tried by itself then.
 */
export const SCRIPTS = Object.fromEntries(
  Object.entries(OPERATIONS).map(([name, operation]) => [name, onEach(operation)]),
) as Record<ScriptName, string>;

function onEach(operation: string): string {
  return `${CLOCK}${FROM_NOW}
local function operate(key, at)${operation}
end
local replies = {}
local width = #ARGV / #KEYS
for index, key in ipairs(KEYS) do
  replies[index] = operate(key, (index - 1) * width)
end
return replies`;
}
