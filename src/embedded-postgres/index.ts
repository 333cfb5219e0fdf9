export { EmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded-postgres.js';
export { freePort } from './free-port.js';
export { prepareHomeIn, type Home } from './home.js';
