import { afterAll, beforeAll } from '@jest/globals';
import { createWorldClient, type WorldClient } from './client.ts';
import type { RepositoryOptions } from './repository.ts';
import { type GitHubWorld, startWorld } from './world.ts';

/** Starts a local GitHub before the tests of a file, with two clients, and stops it after them. */
export function setUpWorld() {
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
    /** Sends the token of a workflow. */
    get client() {
      return client;
    },
    /** Sends no token. */
    get anonymous() {
      return anonymous;
    },
    /** Creates a repository with a name of its own. */
    newRepository(options: Partial<RepositoryOptions> = {}) {
      repositories += 1;
      return world.repository({ owner: 'octo', name: `test-${repositories}`, ...options });
    },
  };
}
