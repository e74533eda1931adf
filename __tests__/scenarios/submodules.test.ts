import { describe, expect, test } from '@jest/globals';
import { expectNotReady } from './expect-report.ts';
import { createPage, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();

/** A repository with a submodule at `lib`, and what the branch holds there. */
async function repositoryWithModule() {
  const repository = await scenario.repository();
  const sha = await repository.addSubmodule('lib');
  const head = await repository.head();
  return {
    repository,
    entry: `160000 ${sha}`,
    async expectUntouched() {
      expect(await repository.entry('lib')).toBe(`160000 ${sha}`);
      expect(await repository.head()).toBe(head);
    },
  };
}

const REASON = /^lib is a submodule of the repository, so what is in it is no part of this branch$/;
const HINT = /^set `path:` to a place of its own$/;
const page = { 'page.html': createPage() };
const many = Object.fromEntries(Array.from({ length: 5 }, (_, nth) => [`out/${nth}.html`, createPage()]));
const site = { 'dist/index.html': createPage(), 'dist/lib/a.html': createPage() };
const flat = { 'dist/index.html': createPage(), 'dist/lib': 'text' };

describe('a path that leads into a submodule is refused, and nothing is written', () => {
  test.each([
    ['a file in its place', { files: page, inputs: { path: 'lib' } }],
    ['a file below it', { files: page, inputs: { path: 'lib/page.html' } }],
    ['a file deep below it', { files: page, inputs: { path: 'lib/a/b/page.html' } }],
    ['several files below it', { files: many, inputs: { file: 'out/*.html', path: 'lib/' } }],
    ['a folder in its place', { files: site, inputs: { file: 'dist/', path: 'lib/' } }],
    ['a folder below it', { files: site, inputs: { file: 'dist/', path: 'lib/site/' } }],
    ['a folder with a file below it', { files: site, inputs: { file: 'dist/', path: './' } }],
    ['a folder with a file in its place', { files: flat, inputs: { file: 'dist/', path: './' } }],
    ['a removal of it', { inputs: { operation: 'withdraw', path: 'lib' } }],
    ['a removal of a file below it', { inputs: { operation: 'withdraw', path: 'lib/page.html' } }],
    ['a removal of everything in it', { inputs: { operation: 'withdraw', path: 'lib/' } }],
    ['a removal of everything below it', { inputs: { operation: 'withdraw', path: 'lib/a/' } }],
  ])('%s', async (_, { inputs, ...files }) => {
    const { repository, expectUntouched } = await repositoryWithModule();
    for (const overwrite of ['false', 'true']) {
      const delivered = await scenario.deliver({
        repository,
        ...files,
        inputs: { channel: 'K1', overwrite, ...inputs },
      });
      for (const report of delivered.reports) {
        expect(report.notReady).toMatchObject({
          code: 'NOT_OURS',
          reason: expect.stringMatching(REASON),
          hint: expect.stringMatching(HINT),
        });
      }
      if (delivered.reports.length === 1) expectNotReady(delivered, { step: 'place', reason: REASON });
      await expectUntouched();
    }
  });

  test('a dry run says so as well', async () => {
    const { repository } = await repositoryWithModule();
    const inputs = { channel: 'K1', path: 'lib/page.html', 'dry-run': 'true' };
    const delivered = await scenario.deliver({ repository, files: page, inputs });
    expectNotReady(delivered, { step: 'place', reason: REASON, hint: HINT });
  });
});

describe('a submodule in the folder of a site', () => {
  const inputs = { channel: 'K1', file: 'dist/', path: 'site/' };
  const files = { 'dist/index.html': createPage(), 'dist/old.html': createPage('old') };
  const next = { 'dist/index.html': createPage('second') };

  test('stays, and is named, also where the site is delivered again, pruned and withdrawn', async () => {
    const repository = await scenario.repository();
    const sha = await repository.addSubmodule('site/lib');
    const first = await scenario.deliver({ repository, files, inputs });
    expect(first.report.notReady).toBeNull();
    expect(first.report.site?.changes?.kept).toEqual(['lib']);
    const second = await scenario.deliver({ repository, files: next, inputs });
    expect(second.report.notReady).toBeNull();
    expect(second.report.site?.changes).toMatchObject({ removed: ['old.html'], kept: ['lib'] });
    expect(await repository.entry('site/lib')).toBe(`160000 ${sha}`);
    const withdrawn = await scenario.deliver({
      repository,
      inputs: { channel: 'K1', operation: 'withdraw', path: 'site/', overwrite: 'true' },
    });
    expect(withdrawn.outputs.result).toBe('withdrawn');
    expect(withdrawn.report.lines.UNKNOWN).toMatch(/what stays in site\/, .*: site\/lib;/);
    expect(await repository.entry('site/lib')).toBe(`160000 ${sha}`);
    expect(await repository.read('site/index.html')).toBeNull();
  });

  test('keeps an older site from being removed by `keep`', async () => {
    const repository = await scenario.repository();
    const deliver = (path: string) =>
      scenario.deliver({ repository, files: next, inputs: { ...inputs, path, keep: '1' } });
    await deliver('runs/1/');
    const sha = await repository.addSubmodule('runs/1/lib');
    const { report } = await deliver('runs/2/');
    expect(report.notReady).toBeNull();
    expect(report.site?.changes?.removedFolders).toEqual([]);
    expect(await repository.entry('runs/1/lib')).toBe(`160000 ${sha}`);
  });
});
