import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { TestRepository } from '../world/repository.ts';
import { expectNotReady, expectReady } from './expect-report.ts';
import {
  createPage,
  type DeliveredStep,
  listRequests,
  type ScenarioDelivery,
  setUpScenario,
} from './scenario.ts';

const scenario = setUpScenario();
const onScreen = { channel: 'K1' };
const download = { channel: 'K2', tag: 'files-1' };
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

describe('two deliveries to one release', () => {
  test('that is not there yet: it is published once, and takes both files', async () => {
    const repository = await scenario.repository();
    scenario.holdUntilAll(2, { method: 'GET', url: /releases\/tags\/files-1/ });
    const files = [
      ['one.zip', 'one'],
      ['other.zip', 'other'],
    ] as const;
    const delivered = await deliverBoth(repository, files, download);
    for (const [at, [, bytes]] of files.entries()) {
      await expectReady(scenario, delivered[at] as DeliveredStep, { channel: 'K2', shows: bytes });
    }
    expect(
      listRequests(scenario, /^POST .*\/releases$/)
        .map(({ status }) => status)
        .sort(),
    ).toEqual([201, 201]);
    const [release, ...more] = repository.releases();
    expect(more).toEqual([]);
    expect(release?.assets.map(({ name }) => name).sort()).toEqual(['one.zip', 'other.zip']);
  });

  test('under one name, with different bytes: the first one stays, and the other says so', async () => {
    const repository = await scenario.repository();
    scenario.holdUntilAll(2, { method: 'GET', url: /releases\/\d+\/assets/ });
    const texts = ['one', 'other'];
    const files = texts.map((text) => ['build.zip', text] as const);
    const delivered = await deliverBoth(repository, files, download);
    const ready = delivered.findIndex(({ report }) => report.ready);
    const { winner, loser } = ranked(delivered, texts, texts[ready] ?? '');
    await expectReady(scenario, winner, { channel: 'K2', shows: texts[ready] ?? '' });
    expectNotReady(loser, { step: 'place', reason: /already has an asset build\.zip with other bytes/ });
    expect(repository.releases()[0]?.assets).toHaveLength(1);
  });

  test('under one name, with the same bytes: one asset serves both', async () => {
    const repository = await scenario.repository();
    scenario.holdUntilAll(2, { method: 'GET', url: /releases\/\d+\/assets/ });
    const delivered = await deliverBoth(
      repository,
      [
        ['build.zip', 'one'],
        ['build.zip', 'one'],
      ],
      download,
    );
    for (const one of delivered) await expectReady(scenario, one, { channel: 'K2', shows: 'one' });
    expect(repository.releases()[0]?.assets).toHaveLength(1);
    expect(delivered[0]?.outputs.url).toBe(delivered[1]?.outputs.url);
  });
});
