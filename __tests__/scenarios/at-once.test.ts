import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { TestRepository } from '../world/repository.ts';
import { expectNotReady, expectReady } from './expect-report.ts';
import { createPage, type DeliveredStep, type ScenarioDelivery, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const onScreen = { channel: 'K1' };
const LARGE = 1_100_000;

/** Two steps at once, a file each. */
function deliverBoth(
  repository: TestRepository,
  files: readonly (readonly [name: string, bytes: string])[],
  inputs: Readonly<Record<string, string>>,
  options: Pick<ScenarioDelivery, 'simulatedTime' | 'beforeAnswer'> = {},
): Promise<DeliveredStep[]> {
  // Neither may ask for a build of its own.
  const token = scenario.world.token({ pages: 'read' });
  return Promise.all(
    files.map(([name, bytes]) =>
      scenario.deliver({ repository, token, files: { [name]: bytes }, inputs, ...options }),
    ),
  );
}

/** Which delivery published the current content, and which did not. */
function ranked(delivered: readonly DeliveredStep[], texts: readonly string[], standing: string) {
  const at = texts.indexOf(standing);
  expect(at).not.toBe(-1);
  return { winner: delivered[at] as DeliveredStep, loser: delivered[1 - at] as DeliveredStep };
}

describe('two deliveries to one path of the branch', () => {
  test.each([
    ['A', [createPage('one'), createPage('other')]],
    ['B', [createPage('one').padEnd(LARGE), createPage('other').padEnd(LARGE)]],
  ])('method %s, different bytes: the last one wins, and the other says so', async (_, texts) => {
    const repository = await scenario.repository();
    scenario.holdUntilAll(2, { method: 'GET', url: /contents\/page\.html/ });
    // The first commit is replaced before its build.
    repository.pages.builds = ['never', 'normal'];
    const files = texts.map((text) => ['page.html', text] as const);
    // The site answers neither of them before both have written.
    const beforeAnswer = async (): Promise<void> => {
      while ((await repository.log()).length < 3) await sleep(20);
      await repository.pages.whenBuilt();
    };
    const delivered = await deliverBoth(repository, files, onScreen, { simulatedTime: true, beforeAnswer });
    const standing = String(await repository.read('page.html'));
    const { winner, loser } = ranked(delivered, texts, standing);
    await expectReady(scenario, winner, { channel: 'K1', shows: standing });
    expectNotReady(loser, {
      step: 'verify',
      reason: /answers HTTP 200 with other content/,
    });
    expect(
      (await repository.log()).map(({ message, files: changed }) => [message.slice(0, 6), changed]),
    ).toEqual([
      ['UPDATE', ['page.html']],
      ['ADD pa', ['page.html']],
      ['Initia', ['README.md']],
    ]);
  });

  test.each([
    ['A', createPage()],
    ['B', createPage().padEnd(LARGE)],
  ])('method %s, the same bytes: one commit serves both', async (_, text) => {
    const repository = await scenario.repository();
    scenario.holdUntilAll(2, { method: 'GET', url: /contents\/page\.html/ });
    const delivered = await deliverBoth(
      repository,
      [
        ['page.html', text],
        ['page.html', text],
      ],
      onScreen,
    );
    for (const one of delivered) await expectReady(scenario, one, { channel: 'K1', shows: text });
    const [commit, ...older] = await repository.log();
    expect(older).toHaveLength(1);
    expect(delivered.map(({ outputs }) => outputs['commit-sha'])).toEqual([commit?.sha, commit?.sha]);
  });
});
