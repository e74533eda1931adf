import { describe, expect, test } from '@jest/globals';
import { asked, openStage, page } from './stage.ts';

const stage = openStage();

/** So many pages in a folder, some of them deeper. */
const pages = (count: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      at % 3 === 0 ? `out/deep/page-${at}.html` : `out/page-${at}.html`,
      page(`number ${at}`),
    ]),
  );

/** Calls to the API itself: what GitHub counts. */
const calls = () => asked(stage, /^\w+ https:\/\/api\.github\.com/);

describe('K1, many files', () => {
  test('100 files: 100 commits, one push, one wait, one summary, few calls', async () => {
    const repository = await stage.repository();
    const files = pages(100);
    const before = (await repository.log()).length;
    const delivered = await stage.deliver({
      repository,
      files,
      inputs: { file: 'out/**/*.html', channel: 'K1', path: 'reports/', timeout: '60' },
      timeoutMs: 120_000,
    });
    expect(delivered.exitCode).toBe(0);
    expect(delivered.reports).toHaveLength(100);
    expect(delivered.reports.every(({ ready }) => ready)).toBe(true);
    const log = await repository.log();
    expect(log).toHaveLength(before + 100);
    const ours = log.slice(0, 100);
    expect(new Set(ours.map(({ files: changed }) => changed.length))).toEqual(new Set([1]));
    expect(
      ours.every(({ message }) => /^ADD page-\d+\.html: .*\n\nDelivered-by: screen-delivery/.test(message)),
    ).toBe(true);
    for (const [path, text] of Object.entries(files)) {
      expect((await repository.read(path.replace('out/', 'reports/')))?.toString()).toBe(text);
    }
    expect(
      asked(stage, /git-receive-pack/).length + asked(stage, /^PATCH .*\/git\/refs\//).length,
    ).toBeLessThan(2);
    console.log(`100 files, ${calls().length} calls to the API`);
    expect(calls().length).toBeLessThanOrEqual(3 * 100 + 20);
    expect(delivered.outputs.url?.split('\n')).toEqual(delivered.reports.map(({ url }) => url));
    expect(Buffer.byteLength(delivered.summary)).toBeLessThan(1_048_576);
  }, 150_000);
});
