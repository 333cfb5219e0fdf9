/** @type {import('jest').Config} */
export default {
  // Not the whole project: `.data/` belongs to the user that Postgres runs as.
  roots: ['<rootDir>/libs', '<rootDir>/apps', '<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['/dist/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': '@swc/jest' },
  moduleNameMapper: {
    // The sources, so that tests need no build.
    '^@exactly-once/client$': '<rootDir>/libs/client/src/index.ts',
    '^@exactly-once/nestjs$': '<rootDir>/libs/idempotency/src/index.ts',
    '^@exactly-once/nestjs/testing$': '<rootDir>/libs/idempotency/src/testing/index.ts',
    '^@exactly-once/redis$': '<rootDir>/libs/redis/src/index.ts',
    // TypeScript sources import each other by the names of the files that will be built.
    '^(\\.{1,2}/.+)\\.js$': '$1',
  },
  globalSetup: '<rootDir>/test/support/global-setup.js',
  globalTeardown: '<rootDir>/test/support/global-teardown.js',
  maxWorkers: 3,
  // Node takes more than the 500 ms of Jest to free what a worker has loaded, and on a busy machine even seconds. Without
  // this, Jest would call that a leak; one that is real keeps the worker for longer.
  workerGracefulExitTimeout: 15_000,
  testTimeout: 30_000,
};
