import { afterAll, beforeAll } from '@jest/globals';
import { createWorldClient, type WorldClient } from './client.ts';
import type { RepositoryOptions, TestRepository } from './repository.ts';
import { type GitHubWorld, startWorld } from './world.ts';

/** A local GitHub for the tests of one file, with two clients. */
export interface WorldSetup {
  readonly world: GitHubWorld;
  /** Sends the token of a workflow. */
  readonly client: WorldClient;
  /** Sends no token. */
  readonly anonymous: WorldClient;
  /** Creates a repository with a name of its own. */
  newRepository(options?: Partial<RepositoryOptions>): Promise<TestRepository>;
}

/** Starts a local GitHub before the tests of a file, and stops it after them. */
export function setUpWorld(): WorldSetup {
  let world: GitHubWorld;
  let client: WorldClient;
  let anonymous: WorldClient;
  let repositories = 0;

  beforeAll(async () => {
    world = await startWorld();
    client = createWorldClient(world);
    anonymous = createWorldClient(world, null);
  });
  afterAll(async () => {
    await client.close();
    await anonymous.close();
    await world.stop();
  });

  return {
    get world() {
      return world;
    },
    get client() {
      return client;
    },
    get anonymous() {
      return anonymous;
    },
    newRepository(options = {}) {
      repositories += 1;
      return world.repository({ owner: 'octo', name: `test-${repositories}`, ...options });
    },
  };
}
