import type { AbstractHttpAdapter } from '@nestjs/core';

import type { AdapterName } from './settings.js';

/** Only the one that is asked for is loaded. */
export async function httpAdapter(name: AdapterName): Promise<AbstractHttpAdapter> {
  if (name === 'express') {
    const { ExpressAdapter } = await import('@nestjs/platform-express');
    return new ExpressAdapter();
  }
  const { FastifyAdapter } = await import('@nestjs/platform-fastify');
  return new FastifyAdapter();
}
