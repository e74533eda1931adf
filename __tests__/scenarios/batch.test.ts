import { describe, expect, test } from '@jest/globals';
import { parseRunnerCommands } from './expect-report.ts';
import { createPage, listRequests, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();

/** So many pages in a folder, some of them deeper. */
const pages = (count: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      at % 3 === 0 ? `out/deep/page-${at}.html` : `out/page-${at}.html`,
      createPage(`number ${at}`),
    ]),
  );

/** Calls to the API itself: what GitHub counts. */
const calls = () => listRequests(scenario, /^\w+ https:\/\/api\.github\.com/);

describe('K1, many files', () => {
  test('20 files: 40 commits, one push, one wait, one summary, few calls', async () => {
    const repository = await scenario.repository();
    const files = pages(20);
    const before = (await repository.log()).length;
    const delivered = await scenario.deliver({
      repository,
      files,
      inputs: { file: 'out/**/*.html', channel: 'K1', path: 'reports/' },
      timeoutMs: 150_000,
    });
    expect(delivered.exitCode).toBe(0);
    expect(delivered.reports).toHaveLength(20);
    expect(delivered.reports.every(({ ready }) => ready)).toBe(true);
    const log = await repository.log();
    expect(log).toHaveLength(before + 20);
    const ours = log.slice(0, 20);
    expect(new Set(ours.map(({ files: changed }) => changed.length))).toEqual(new Set([1]));
    expect(
      ours.every(({ message }) => /^ADD page-\d+\.html: .*\n\nDelivered-by: screen-delivery/.test(message)),
    ).toBe(true);
    for (const [path, text] of Object.entries(files)) {
      expect((await repository.read(path.replace('out/', 'reports/')))?.toString()).toBe(text);
    }
    expect(
      listRequests(scenario, /git-receive-pack/).length +
        listRequests(scenario, /^PATCH .*\/git\/refs\//).length,
    ).toBeLessThan(2);
    console.log(`20 files, ${calls().length} calls to the API`);
    expect(calls().length).toBeLessThanOrEqual(3 * 20 + 20);
    expect(delivered.outputs.url?.split('\n')).toEqual(delivered.reports.map(({ url }) => url));
    expect(delivered.stdout.match(/^::group::Wait for the site/gm)).toHaveLength(1);
    expect(delivered.summary.match(/^### /gm)).toHaveLength(1);
    expect(Buffer.byteLength(delivered.summary)).toBeLessThan(1_048_576);
  }, 170_000);
});

describe('a file that fails stops no other', () => {
  const files = {
    'out/a.html': createPage('a'),
    'out/b.html': createPage('b').replace('</p>', '<script src="https://cdn.example/x.js"></script></p>'),
    'out/c.html': createPage('c'),
  };

  test.each(['with git', 'without git'])(
    'K1, %s: the summary shows which, and no address is handed over',
    async (how) => {
      const repository = await scenario.repository();
      await repository.commit('out/c.html', 'theirs');
      const env = how === 'with git' ? {} : { PATH: '/nowhere' };
      const inputs = { file: 'out/*.html', path: 'out/', channel: 'K1' };
      const { exitCode, outputs, reports, stdout, summary } = await scenario.deliver({
        repository,
        files,
        inputs,
        env,
      });
      expect(reports.map(({ ready }) => ready)).toEqual([true, false, false]);
      expect(reports.map(({ notReady }) => notReady?.reason ?? '')).toEqual([
        '',
        expect.stringMatching(/needs .* from elsewhere|cdn\.example/),
        expect.stringMatching(/this tool did not deliver what it holds now/),
      ]);
      expect({ exitCode, result: outputs.result, url: outputs.url }).toEqual({
        exitCode: 1,
        result: 'not-ready',
        url: '',
      });
      expect(stdout.match(/^::error title=[^:]*::Not ready \(НЕ ГОТОВО\)/gm)).toEqual([
        '::error title=out/b.html::Not ready (НЕ ГОТОВО)',
        '::error title=out/c.html::Not ready (НЕ ГОТОВО)',
      ]);
      for (const name of ['out/a.html', 'out/b.html', 'out/c.html']) expect(summary).toContain(name);
      expect(String(await repository.read('out/a.html'))).toBe(createPage('a'));
      expect(String(await repository.read('out/c.html'))).toBe('theirs');
      expect(await repository.log()).toHaveLength(3);
    },
  );
});

test('a line that looks like a command is a file that is not there, and never a command', async () => {
  const repository = await scenario.repository();
  const inputs = { channel: 'K1', file: 'a.html\n::stop-commands::x\n::error::y' };
  const delivered = await scenario.deliver({ repository, files: { 'a.html': createPage('a') }, inputs });
  expect(delivered.reports.map(({ ready }) => ready)).toEqual([true, false, false]);
  expect(delivered.reports[1]?.notReady?.reason).toBe('the file ::stop-commands::x does not exist');
  const own = ['debug', 'add-mask', 'group', 'endgroup', 'error'];
  expect(parseRunnerCommands(delivered.stdout).filter((name) => !own.includes(name))).toEqual([]);
  expect(parseRunnerCommands(delivered.stdout).filter((name) => name === 'error')).toHaveLength(2);
});

describe('what several files share is done once', () => {
  const files = { 'out/a.txt': 'one', 'out/deep/b.txt': 'two', 'out/.hidden': 'no' };
  const inputs = { file: 'out/**' };

  test('K2: one release, an asset for each file', async () => {
    const repository = await scenario.repository();
    const { reports, outputs } = await scenario.deliver({
      repository,
      files,
      inputs: { ...inputs, channel: 'K2' },
    });
    expect(outputs.result).toBe('ready');
    expect(repository.releases().map(({ assets }) => assets.map(({ name }) => name))).toEqual([
      ['a.txt', 'deep-b.txt'],
    ]);
    expect(outputs.url?.split('\n')).toEqual(reports.map(({ url }) => url));
    expect(listRequests(scenario, /^GET .*\/assets\?/)).toHaveLength(1);
  });

  test('K3: one bin, locked once all files are in it', async () => {
    const repository = await scenario.repository();
    const { reports, outputs } = await scenario.deliver({
      repository,
      files,
      inputs: { ...inputs, channel: 'K3' },
    });
    expect(outputs.result).toBe('ready');
    expect(new Set(reports.map(({ url }) => new URL(url ?? '').pathname.split('/')[1])).size).toBe(1);
    expect(listRequests(scenario, /^PUT https:\/\/filebin\.net/)).toHaveLength(1);
  });

  test('K1 with duplicates on K3', async () => {
    const repository = await scenario.repository();
    const { reports, outputs } = await scenario.deliver({
      repository,
      files,
      inputs: { ...inputs, channel: 'K1+K3' },
    });
    expect(outputs.result).toBe('ready');
    expect(outputs['duplicate-url']?.split('\n')).toHaveLength(2);
    expect(reports.map(({ duplicates }) => duplicates.length)).toEqual([1, 1]);
  });

  test('the same batch again: no second commit, no second asset', async () => {
    const repository = await scenario.repository();
    for (const channel of ['K1+K2', 'K1+K2']) {
      const { outputs } = await scenario.deliver({ repository, files, inputs: { ...inputs, channel } });
      expect(outputs.result).toBe('ready');
    }
    expect(await repository.log()).toHaveLength(3);
    expect(repository.releases().flatMap(({ assets }) => assets)).toHaveLength(2);
  });
});
