import { describe } from '@jest/globals';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';

export type AdapterName = 'express' | 'fastify';

export const ADAPTERS: readonly AdapterName[] = ['express', 'fastify'];

/** Defines the same tests for each HTTP adapter, in a `describe` that is named after it. */
export function onEachAdapter(define: (adapter: AdapterName) => void): void {
  for (const adapter of ADAPTERS) {
    describe(adapter, () => define(adapter));
  }
}

export function createAdapter(name: AdapterName): AbstractHttpAdapter {
  return name === 'express' ? new ExpressAdapter() : new FastifyAdapter();
}
