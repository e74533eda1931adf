import { afterAll, beforeAll } from '@jest/globals';
import type { RepositoryOptions, TestRepository } from './repository.ts';
import { type GitHubWorld, startWorld } from './world.ts';

/** The local GitHub of a file of tests. */
export interface TestWorld {
  readonly world: GitHubWorld;
  /**
   * Creates a repository, by default public and with a site. All its commits have the same second, as on a fast
   * machine.
   */
  repository(options?: Partial<RepositoryOptions>): Promise<TestRepository>;
}

/** Starts a local GitHub before the tests of a file, and stops it after them. @param name what its repositories are called, with a number */
export function setUpWorld(name = 'test'): TestWorld {
  let world: GitHubWorld;
  let repositories = 0;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.stop());
  return {
    get world() {
      return world;
    },
    async repository(options = {}) {
      repositories += 1;
      const made = await world.repository({ owner: 'octo', name: `${name}-${repositories}`, ...options });
      made.now = () => made.createdAt;
      return made;
    },
  };
}
