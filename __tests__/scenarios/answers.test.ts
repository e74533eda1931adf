import { describe, expect, test } from '@jest/globals';
import type { TestRepository } from '../world/repository.ts';
import { expectRefused, requestsOf, setUpPlay } from './play.ts';
import { createPage, MARKER } from './scenario.ts';

const play = setUpPlay();
const files = { 'page.html': createPage() };
const inputs = { channel: 'K1' };
/** The host tells the time of its own clock. */
const now = Date.now();
const LATER = /API rate limit exceeded.*the limit is lifted at \d\d:\d\d UTC/;

/** After the answer to a matching request, the token has no requests left. */
function limitAfter(repository: TestRepository, method: string, url: RegExp): void {
  play.meanwhile({ method, url }, () => play.world.rateLimits.setLeft(repository, 0));
}

describe('the 1,000 requests an hour of GITHUB_TOKEN', () => {
  test('used up before the first request end the delivery at once, and nothing was published', async () => {
    const repository = await play.repository();
    play.world.rateLimits.setLeft(repository, 0);
    const refused = await play.deliver({ repository, files, inputs, now });
    expectRefused(refused, 'authorize', LATER, { hint: /later/, httpCode: 403 });
    expect(refused.report.lines.UNKNOWN).toContain('nothing was published');
    expect(requestsOf(refused, /api\.github\.com/)).toHaveLength(1);
  });

  test('used up right before the write leave nothing behind', async () => {
    const repository = await play.repository();
    limitAfter(repository, 'GET', /\/contents\//);
    const refused = await play.deliver({ repository, files, inputs, now });
    expectRefused(refused, 'place', LATER, { hint: /later/, httpCode: 403 });
    expect(refused.report.lines.UNKNOWN).toContain('nothing was published');
    expect(await repository.log()).toHaveLength(1);
  });

  test('used up right after the commit leave open whether the branch still holds it, or the build of a marked page', async () => {
    const repository = await play.repository();
    limitAfter(repository, 'PUT', /\/contents\//);
    const { report } = await play.deliver({ repository, files, inputs, now });
    expect(report.ready).toBe(true);
    expect(report.lines.UNKNOWN).toMatch(
      /whether the branch main still holds it after the proof: .*rate limit/i,
    );

    const other = await play.repository();
    limitAfter(other, 'PUT', /\/contents\//);
    const notes = { 'page.md': `# A page with ${MARKER}\n` };
    const marked = await play.deliver({
      repository: other,
      files: notes,
      inputs: { ...inputs, marker: MARKER },
    });
    expectRefused(marked, 'wait', /API rate limit exceeded/, { hint: /^GitHub limits this token/ });
  });

  test('used up while a release is filled leave a draft, which the report names', async () => {
    const repository = await play.repository();
    limitAfter(repository, 'POST', /uploads\.github\.com/);
    const release = { channel: 'K2', tag: 'files-1' };
    const refused = await play.deliver({ repository, files, inputs: release, now });
    expectRefused(refused, 'place', LATER, { hint: /later/, httpCode: 403 });
    expect(repository.releases()).toMatchObject([{ draft: true }]);
    expect(refused.report.lines.UNKNOWN).toMatch(/left behind: .*draft/);
    play.world.rateLimits.clear();
    expect((await play.deliver({ repository, files, inputs: release, now })).report.ready).toBe(true);
    expect(repository.releases()).toMatchObject([{ draft: false, tag: 'files-1' }, { draft: true }]);
  });

  test('lifted within minutes are waited for', async () => {
    const repository = await play.repository();
    play.world.rateLimits.setLeft(repository, 0, 60);

    play.meanwhile({ method: 'GET', url: /\/pages$/ }, () => play.world.rateLimits.clear());
    const { report, log } = await play.deliver({ repository, files, inputs, now });
    expect(report.ready).toBe(true);
    expect(log).toMatch(/trying again in 6\d(\.\d)? s/);
  });
});

describe('a list of files that is not what the branch holds refuses the delivery, and nothing is changed', () => {
  const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
  const site: Record<string, string> = { 'dist/index.html': createPage() };
  const folder = { channel: 'K1', file: 'dist/', path: 'p/1/' };
  const many = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [`out/${name}.html`, createPage(name)]));

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['a folder', site, folder],
    ['a folder with `keep`', site, { ...folder, keep: '1' }],
    ['a withdrawn folder', {}, { channel: 'K1', operation: 'withdraw', path: 'p/1/' }],
    ['many files', many, { channel: 'K1', file: 'out/*.html', path: 'p/1/' }],
  ])('%s', async (_, given, wanted) => {
    const theirs = { 'p/1/index.html': 'theirs', 'p/1/a.html': 'theirs' };
    const repository = await play.repository({ files: theirs });
    for (const sha of [undefined, EMPTY_TREE]) {
      const alter = ({ body, ...real }: { status: number; body: Buffer }) => ({
        ...real,
        body: JSON.stringify({ ...JSON.parse(body.toString()), tree: [], ...(sha && { sha }) }),
      });
      play.intercept({ url: /git\/trees\/\w+\?/, times: 9 }, { alter });
      const head = await repository.head();
      const { report, reports } = await play.deliver({ repository, files: given, inputs: wanted });
      expect(reports.map(({ notReady }) => notReady?.code)).toContain('HOST_ERROR');
      expect(report.notReady?.reason).toMatch(/^GitHub's list of the branch's files is that of another tree/);
      expect(await repository.head()).toBe(head);
    }
  });
});
