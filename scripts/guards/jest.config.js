import config from '../../jest.config.js';

const [usual] = config.projects;

/** The usual tests that run the sources: the others run bundles, or test the tests. */
export default {
  ...usual,
  rootDir: '../..',
  setupFilesAfterEnv: ['<rootDir>/scripts/guards/record-guards.ts'],
  testPathIgnorePatterns: [...usual.testPathIgnorePatterns, '__tests__/(?:contract|world)/'],
  workerIdleMemoryLimit: config.workerIdleMemoryLimit,
};
