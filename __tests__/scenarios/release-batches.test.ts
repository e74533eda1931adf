import { describe, expect, test } from '@jest/globals';
import { listRequests, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const MODES = [
  ['mutable', false],
  ['immutable', true],
] as const;
const GOOD = { 'a.zip': 'PK a', 'c.zip': 'PK c' };

/** Files that can't be delivered, with what the report says of them. */
const BAD: readonly (readonly [string, Readonly<Record<string, string>>, string, RegExp])[] = [
  ['is empty', { 'b.zip': '' }, 'b.zip', /the file b\.zip is empty/],
  ['is missing', {}, 'b.zip', /the file b\.zip does not exist/],
  ['holds a secret', { 'b.txt': `ghp_${'aB3'.repeat(12)}` }, 'b.txt', /secret/],
  ['collides after its name was rewritten', { 'á.zip': 'PK other' }, 'á.zip', /would both go to .*a\.zip/],
];

describe.each(MODES)('a step in %s mode with a file that', (_, isImmutable) => {
  test.each(BAD)('%s: nothing is created, and every file says why', async (_, bad, name, reason) => {
    const repository = await scenario.repository({ pages: false });
    repository.immutableReleases(isImmutable);
    const files = { ...GOOD, ...bad };
    const file = ['a.zip', name, 'c.zip'].join('\n');
    for (const dryRun of ['true', 'false']) {
      const inputs = { channel: 'K2', tag: 'v1', file, 'dry-run': dryRun };
      const delivered = await scenario.deliver({ repository, files, inputs });
      expect(delivered.outputs).toMatchObject({ result: 'not-ready', url: '' });
      for (const { notReady } of delivered.reports) expect(notReady?.reason).toMatch(reason);
      expect(delivered.reports[0]?.notReady?.reason).toMatch(/^the release was not published, because /);
    }
    expect(repository.releases()).toEqual([]);
    expect(listRequests(scenario, /^(POST|PATCH|DELETE) .*(releases|uploads)/)).toEqual([]);
  });
});

test('a release that exists and can be changed takes the other files of the step', async () => {
  const repository = await scenario.repository({ pages: false });
  repository.addEarlierAssets('v1', 1);
  const files = { ...GOOD, 'b.zip': '' };
  const inputs = { channel: 'K2', tag: 'v1', file: 'a.zip\nb.zip\nc.zip' };
  const delivered = await scenario.deliver({ repository, files, inputs });
  expect(delivered.reports.map(({ ready }) => ready)).toEqual([true, false, true]);
  expect(repository.releases()[0]?.assets.map(({ name }) => name)).toEqual([
    'earlier-1.bin',
    'a.zip',
    'c.zip',
  ]);
});

test('the files that an immutable release holds are proven, although the new one is not made', async () => {
  const repository = await scenario.repository({ pages: false });
  repository.immutableReleases(true);
  await scenario.deliver({ repository, files: { 'a.zip': 'PK a' }, inputs: { channel: 'K2' } });
  const files = { ...GOOD, 'b.zip': '' };
  const inputs = { channel: 'K2', file: 'a.zip\nb.zip\nc.zip' };
  const delivered = await scenario.deliver({ repository, files, inputs });
  expect(delivered.reports.map(({ ready }) => ready)).toEqual([true, false, false]);
  expect(repository.releases()).toHaveLength(1);
});
