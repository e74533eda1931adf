import { mkdtemp, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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

test('a file above 2 GiB is refused before anything is asked for or created', async () => {
  const repository = await scenario.repository({ pages: false });
  const workspace = await mkdtemp(join(scenario.world.folder, 'large-'));
  await writeFile(join(workspace, 'a.zip'), 'PK a');
  await writeFile(join(workspace, 'large.zip'), '');
  // Sparse: it takes no room on the disk.
  await truncate(join(workspace, 'large.zip'), 2 ** 31 + 1);
  const inputs = { channel: 'K2', tag: 'v1', file: 'a.zip\nlarge.zip' };
  const delivered = await scenario.deliver({ repository, workspace, inputs });
  expect(delivered.reports.map(({ notReady }) => notReady?.code)).toEqual(['TOO_LARGE', 'TOO_LARGE']);
  expect(repository.releases()).toEqual([]);
});

test('500 files are paced, with the time at the start and the progress, and published together', async () => {
  const repository = await scenario.repository();
  const names = Array.from({ length: 500 }, (_, at) => `part-${String(at).padStart(3, '0')}.bin`);
  const files = Object.fromEntries(names.map((name) => [name, `bytes of ${name}`]));
  const inputs = { channel: 'K2', tag: 'v1', file: '*.bin' };
  const delivered = await scenario.deliver({
    repository,
    files,
    inputs,
    simulatedTime: true,
    timeoutMs: 240_000,
  });
  expect(delivered.outputs).toMatchObject({ result: 'ready' });
  expect(delivered.stdout).toMatch(/500 assets: at least 61 min/);
  expect(delivered.stdout).toMatch(/the next one is in \d+ min/);
  expect(delivered.stdout).toMatch(/475 of 500 assets/);
  expect(repository.releases()).toMatchObject([{ draft: false, tag: 'v1' }]);
  expect(repository.releases()[0]?.assets).toHaveLength(500);
}, 300_000);
