/**
 * A lease that protects only against those who ask while it is live: whoever comes after its end takes the
 * record over, also where `onAbandoned` is 'fail', and every owner may write to it.
 */
const FOLDER = new URL('../../../libs/redis/dist/', import.meta.url);
const { SCRIPTS } = await import(new URL('scripts.js', FOLDER).href);
for (const [name, lua] of Object.entries(SCRIPTS)) {
  SCRIPTS[name] = lua.replace(
    /if owner ~= ARGV\[[^\]]*\] then return 0 end/,
    'if not owner then return 0 end',
  );
}

const { RedisIdempotencyStore } = await import(new URL('redis-idempotency.store.js', FOLDER).href);
const { claim } = RedisIdempotencyStore.prototype;
RedisIdempotencyStore.prototype.claim = function (request) {
  return claim.call(this, { ...request, takeOverAbandoned: true });
};
