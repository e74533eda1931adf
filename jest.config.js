/** Jest runs the TypeScript sources as they stand: Node 24 strips the types itself. */
export default {
  testEnvironment: 'node',
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  setupFiles: ['<rootDir>/__tests__/support/one-realm.ts', '<rootDir>/__tests__/support/no-browser.ts'],
  testMatch: ['<rootDir>/__tests__/**/*.test.ts'],
  collectCoverageFrom: ['src/**/*.ts'],
  coverageProvider: 'v8',
  coverageReporters: ['text', 'json-summary'],
  coverageThreshold: { global: { lines: 95 } },
  // The scenarios mostly wait for their child processes.
  maxWorkers: 3,
  // A worker grows with every file of tests, and a large process starts others slowly.
  workerIdleMemoryLimit: '300MB',
  // Only ends a test that hangs, on a busy machine as well.
  testTimeout: 180_000,
};
