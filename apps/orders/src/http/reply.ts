/** What the responses of Express and of Fastify have in common, as far as it is used here. */
export interface Reply {
  header(name: string, value: string): unknown;
}
