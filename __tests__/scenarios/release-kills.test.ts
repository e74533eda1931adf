import { expect, test } from '@jest/globals';
import type { TestRepository } from '../world/repository.ts';
import { type DeliveredStep, type ScenarioDelivery, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const FILES = { 'a.zip': 'PK a', 'b.zip': 'PK b' };
const NAMES = Object.keys(FILES);

const deliver = (
  repository: TestRepository,
  more: Pick<ScenarioDelivery, 'onStart'> = {},
): Promise<DeliveredStep> =>
  scenario.deliver({
    repository,
    files: FILES,
    inputs: { channel: 'K2', tag: 'v1', file: NAMES.join('\n') },
    simulatedTime: true,
    beforeAnswer: async () => undefined,
    ...more,
  });

async function createRepository(isImmutable: boolean): Promise<TestRepository> {
  const repository = await scenario.repository();
  repository.immutableReleases(isImmutable);
  return repository;
}

/** Kills the step after the host has done its request number `at`, from 0, and before it hears of it. */
async function killAt(repository: TestRepository, at: number): Promise<void> {
  let pid = 0;
  const interception = scenario.intercept(
    { url: /./, skip: at, times: 1 },
    {
      alter: (real) => {
        process.kill(pid, 'SIGKILL');
        return real;
      },
    },
  );
  await expect(deliver(repository, { onStart: (started) => (pid = started) })).rejects.toThrow('No report');
  interception.remove();
}

test.each([
  ['mutable', false],
  ['immutable', true],
])(
  'a kill at any request leaves nothing half public, and the next run ends it (%s)',
  async (_, isImmutable) => {
    scenario.world.traffic.clear();
    expect((await deliver(await createRepository(isImmutable))).outputs.result).toBe('ready');
    const requests = scenario.world.traffic.lines();
    // After a request that only reads, everything is as it was before.
    const places = requests.flatMap((line, at) => (at === 0 || !/^(?:GET|HEAD) /.test(line) ? at : []));
    expect(places.length).toBeGreaterThan(4);
    for (const at of places) {
      const repository = await createRepository(isImmutable);
      await killAt(repository, at);
      const killed = repository.releases().map(({ draft, assets }) => ({ draft, files: assets.length }));
      expect(killed.filter(({ draft, files }) => !draft && files < NAMES.length)).toEqual([]);
      expect(killed.length).toBeLessThan(2);
      expect((await deliver(repository)).outputs.result).toBe('ready');
      const published = repository.releases().filter(({ draft }) => !draft);
      expect(published).toMatchObject([{ tag: 'v1', assets: [{}, {}] }]);
      // The draft of the killed run is not quiet yet.
      expect(repository.releases().length).toBeLessThan(3);
    }
  },
  300_000,
);
