import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { rawResponse } from './response-notes.js';

/** A response of Express, which is Node's own, or a reply of Fastify, which keeps headers beside Node's. */
export interface FrameworkResponse {
  getHeaders(): OutgoingHttpHeaders;
}

interface FastifyReply extends FrameworkResponse {
  hasHeader(name: string): boolean;
  header(name: string, value: OutgoingHttpHeader): unknown;
  removeHeader(name: string): unknown;
}

/** What middleware, guards and decorators had set when a handler was entered: not part of its answer. */
export class HeadersAtEntry {
  readonly values: OutgoingHttpHeaders;
  readonly response: ServerResponse;
  private readonly reply: FastifyReply | undefined;
  private readonly ofReply: [string, OutgoingHttpHeader][];

  constructor(framework: FrameworkResponse) {
    this.response = rawResponse(framework);
    this.reply = framework === this.response ? undefined : (framework as FastifyReply);
    // Both frameworks give a copy.
    this.values = framework.getHeaders();
    const { reply } = this;
    this.ofReply = reply
      ? (Object.entries(this.values).filter(([name]) => reply.hasHeader(name)) as [
          string,
          OutgoingHttpHeader,
        ][])
      : [];
  }

  get isOfFastify(): boolean {
    return this.reply !== undefined;
  }

  /** Takes away what was set since, so that another answer does not carry it. */
  restore(): void {
    const { response, reply } = this;
    if (reply) {
      Object.keys(reply.getHeaders()).forEach((name) => reply.removeHeader(name));
      this.ofReply.forEach(([name, value]) => reply.header(name, value));
    }
    response.getHeaderNames().forEach((name) => response.removeHeader(name));
    Object.entries(this.values).forEach(([name, value]) => response.setHeader(name, value!));
  }
}
