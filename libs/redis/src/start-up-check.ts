import { Logger } from '@nestjs/common';
import type { Redis } from 'ioredis';

const logger = new Logger('Idempotency');

/** Warns where a server may forget records that clients still rely on. It is the operator's decision, so nothing is refused. */
export async function checkServers(servers: Redis[]): Promise<void> {
  const warnings = await Promise.all(servers.map(warningsOf));
  new Set(warnings.flat()).forEach((warning) => logger.warn(warning));
}

async function warningsOf(server: Redis): Promise<string[]> {
  try {
    const info = parseInfo(await server.info());
    return [evictionWarning(info), await persistenceWarning(info, server)].filter(
      (text) => text !== undefined,
    );
  } catch (error) {
    // A hosted Redis may refuse INFO.
    return [`Redis does not tell whether it may forget idempotency records: ${String(error)}`];
  }
}

type Info = ReadonlyMap<string, string>;

function evictionWarning(info: Info): string | undefined {
  const policy = info.get('maxmemory_policy');
  return policy === undefined || policy === 'noeviction'
    ? undefined
    : `Redis has maxmemory-policy ${policy}: when its memory is full, it removes idempotency records that are in use, and a ` +
        `retry of such a request is executed a second time. Use a Redis of its own with maxmemory-policy noeviction, where ` +
        `new requests get 503 then.`;
}

async function persistenceWarning(info: Info, server: Redis): Promise<string | undefined> {
  if (info.get('aof_enabled') !== '0') {
    return undefined;
  }
  // Where CONFIG is refused, a snapshot may be made or not: the milder of the two is said.
  const save = await server.config('GET', 'save').then(
    (reply) => (reply as string[])[1],
    () => 'unknown',
  );
  return save === ''
    ? `Redis keeps nothing on disk: when it is restarted, it has forgotten all idempotency records, and every retry is ` +
        `executed a second time. Set appendonly yes, and appendfsync always where also a crash of its host must lose nothing.`
    : `Redis keeps idempotency records in snapshots at most: when it crashes, it forgets what came after the last one, and a ` +
        `retry of such a request is executed a second time. Set appendonly yes.`;
}

function parseInfo(text: string): Info {
  const lines = text.split('\r\n').filter((line) => line.includes(':'));
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1)];
    }),
  );
}
