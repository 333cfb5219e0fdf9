import type { AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';

/** The web server that HTTP_ADAPTER names. A wrong name stops the application when it reads its environment. */
export function createHttpAdapter(name: string | undefined): AbstractHttpAdapter {
  return name === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
}
