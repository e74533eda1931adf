/** Tests that take minutes together: `npm run test:full` and CI run them, `npm test` does not. */
const LONG = [
  '__tests__/faults/',
  '__tests__/browser/corpus',
  '__tests__/world/soak',
  '__tests__/delivery/proof-properties',
  '__tests__/github/other-writers',
  '__tests__/channels/pages/site/ownership',
  '__tests__/github/git/push',
  '__tests__/scenarios/(?:generator-outputs|large|many-files|mcp-hostile|enterprise)',
];

/** Jest runs the TypeScript sources as they stand: Node 24 strips the types itself. */
const common = {
  testEnvironment: 'node',
  transform: {},
  extensionsToTreatAsEsm: ['.ts'],
  setupFiles: ['<rootDir>/__tests__/support/one-realm.ts', '<rootDir>/__tests__/support/no-browser.ts'],
};

export default {
  projects: [
    {
      ...common,
      displayName: 'usual',
      testMatch: ['<rootDir>/__tests__/**/*.test.ts'],
      testPathIgnorePatterns: LONG,
    },
    { ...common, displayName: 'long', testRegex: LONG.map((start) => `${start}.*\\.test\\.ts$`) },
  ],
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
  // On a busy machine a worker does not end within Jest's half second.
  workerGracefulExitTimeout: 30_000,
};
