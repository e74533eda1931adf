import { describe, expect, test } from '@jest/globals';
import type { TestRepository } from '../world/repository.ts';
import type { InterceptedReply, RequestMatch } from '../world/server/interceptions.ts';
import { proven, refused, requestsOf, setUpPlay } from './play.ts';
import { createPage, MARKER } from './scenario.ts';

const play = setUpPlay();
const files = { 'page.html': createPage() };
const LATER = 'API rate limit exceeded.*the host asks to try again after .* GMT.* → .*later';

/** After the answer to a matching request, the token has no requests left. */
function limitAfter(repository: TestRepository, method: string, url: RegExp): void {
  play.meanwhile({ method, url }, () => play.world.rateLimits.setLeft(repository, 0));
}
const deliver = (repository: TestRepository, more: object = {}, given: Record<string, string> = files) =>
  play.deliver({ repository, files: given, inputs: { channel: 'K1', ...more } });

describe('the 1,000 requests an hour of GITHUB_TOKEN', () => {
  test('if used up before the first request, end the delivery at once, with nothing published', async () => {
    const repository = await play.repository();
    play.world.rateLimits.setLeft(repository, 0);
    const played = await refused(deliver(repository), new RegExp(`^authorize 403: .*${LATER}`));
    expect(played.report.lines.UNKNOWN).toContain('nothing was published');
    expect(requestsOf(played, /api\.github\.com/)).toHaveLength(1);
  });

  test('if used up right before the write, leave nothing behind', async () => {
    const repository = await play.repository();
    limitAfter(repository, 'GET', /\/contents\//);
    const { report } = await refused(deliver(repository), new RegExp(`^place 403: .*${LATER}`));
    expect(report.lines.UNKNOWN).toContain('nothing was published');
    expect(await repository.log()).toHaveLength(1);
  });

  test('if used up right after the commit, leave UNKNOWN what the branch holds, or whether a marked page was built', async () => {
    const repository = await play.repository();
    limitAfter(repository, 'PUT', /\/contents\//);
    const { report } = await proven(deliver(repository));
    expect(report.lines.UNKNOWN).toMatch(
      /whether the branch main still holds it after the verification: .*rate limit/i,
    );
    const other = await play.repository();
    limitAfter(other, 'PUT', /\/contents\//);
    const marked = deliver(other, { marker: MARKER }, { 'page.md': `# A page with ${MARKER}\n` });
    await refused(marked, /^wait.*: .*API rate limit exceeded.* → GitHub's rate limit was reached/);
  });

  test('if used up while a release is filled, leave a draft that the report names', async () => {
    const repository = await play.repository();
    limitAfter(repository, 'POST', /uploads\.github\.com/);
    const release = { channel: 'K2', tag: 'files-1' };
    const { report } = await refused(deliver(repository, release), new RegExp(`^place 403: .*${LATER}`));
    expect(repository.releases()).toMatchObject([{ draft: true }]);
    expect(report.lines.UNKNOWN).toMatch(/left behind: .*draft/);
    play.world.rateLimits.clear();
    await proven(deliver(repository, release));
    expect(repository.releases()).toMatchObject([{ draft: false, tag: 'files-1' }, { draft: true }]);
  });

  test('are waited for if the limit ends within minutes', async () => {
    const repository = await play.repository();
    play.world.rateLimits.setLeft(repository, 0, 60);
    play.meanwhile({ method: 'GET', url: /repos\/[^/]+\/[^/]+$/ }, () => play.world.rateLimits.clear());
    const { log } = await proven(deliver(repository));
    expect(log).toMatch(/trying again in 6\d(\.\d)? s/);
  });
});

const LARGE_PAGE = { 'page.html': createPage().padEnd(1_100_000) };
const ARCHIVE = { 'a.zip': 'PK a' };
const PART = 'whether a part of the file has arrived';

describe.each([403, 404])(
  'a write that succeeded but answered 502, before HTTP %i refuses everything',
  (status) => {
    test.each<[string, Record<string, string>, RequestMatch, string]>([
      ['K1', files, { method: 'PUT', url: /\/contents\// }, `${PART} \\(branch main, path page.html`],
      ['K1', LARGE_PAGE, { method: 'PATCH', url: /git\/refs/ }, `${PART} \\(branch main, path page.html`],
      ['K2', ARCHIVE, { method: 'POST', url: /\/releases$/ }, 'perhaps a draft of the release v1'],
      ['K2', ARCHIVE, { method: 'POST', url: /uploads\./ }, 'the draft \\d+ of the release v1'],
      ['K2', ARCHIVE, { method: 'PATCH', url: /releases\/\d+$/ }, 'draft \\d+ .*, which may be published'],
      ['K3', files, { method: 'POST', url: /filebin/ }, `${PART} \\(bin bin-of-`],
    ])('is reported as perhaps done (%s, case %#)', async (channel, given, write, left) => {
      const repository = await play.repository();
      play.intercept(write, {
        alter: () => {
          const body = JSON.stringify({ message: 'no' });
          const headers = { 'content-type': 'application/json' };
          play.intercept({ url: /api\.github|filebin/, times: 99 }, { status, headers, body });
          return { status: 502 };
        },
      });
      const inputs = { channel, tag: 'v1', bin: `bin-of-${repository.name}`, 'self-contained': 'off' };
      const { report } = await play.deliver({ repository, files: given, inputs });
      expect(report).toMatchObject({ ready: false, lines: { UNKNOWN: expect.stringMatching(left) } });
      expect(report.lines.CLAIM).toMatch(/ isn't verified on /);
    });
  },
);

const withDigest = (sha256: string): InterceptedReply => ({
  alter: (real) => ({
    ...real,
    body: JSON.stringify({ ...JSON.parse(String(real.body)), digest: `sha256:${sha256}` }),
  }),
});

const LIMITED = { status: 403, body: '{"message":"You have exceeded a secondary rate limit"}' };

test.each<[string, RequestMatch, { status: number; body: string }]>([
  ['K1', { url: /git\/blobs/ }, LIMITED],
  ['K2', { url: /uploads\./ }, LIMITED],
  ['K2', { url: /uploads\./ }, { status: 502, body: '' }],
  ['K3', { url: /filebin/ }, { status: 429, body: 'slow down' }],
  ['K3', { url: /filebin/ }, { status: 504, body: '' }],
])('a failing host is waited for once, however many files there are (%s, case %#)', async (...row) => {
  const [channel, match, reply] = row;
  const repository = await play.repository();
  repository.addEarlierAssets('v1', 1);
  const headers = { 'content-type': 'application/json' };
  play.intercept({ method: 'POST', times: 9_999, ...match }, { headers, ...reply });
  const given = Object.fromEntries(Array.from({ length: 9 }, (_, nth) => [`${nth}.txt`, `${nth}`]));
  const inputs = { channel, tag: 'v1', file: Object.keys(given).join('\n') };
  const { reports, took } = await play.deliver({ repository, files: given, inputs });
  expect(took).toBeLessThan(1_200_000);
  const [first, ...others] = reports.map(({ notReady }) => notReady?.reason);
  expect(new Set(others)).toEqual(new Set([expect.stringMatching(/^not sent, because 0\.txt failed: /)]));
  expect(others[0]).toContain(first);
  for (const { lines } of reports.slice(1)) expect(lines.UNKNOWN).toBe('nothing was published');
});

test.each<[string, InterceptedReply, RegExp]>([
  ['was stored as other bytes', withDigest('a'.repeat(64)), /other bytes than the file has/],
  ['is stopped on its way', { fault: 'reset-before' }, /failed: .*reset/i],
])('only the file that %s is reported, and the next file is delivered', async (_, answer, reason) => {
  const repository = await play.repository();
  repository.addEarlierAssets('v1', 1);
  play.intercept({ method: 'POST', url: /uploads\..*name=a\.zip/, times: 9_999 }, answer);
  const inputs = { channel: 'K2', tag: 'v1', file: 'a.zip\nb.zip' };
  const { reports } = await play.deliver({ repository, files: { ...ARCHIVE, 'b.zip': 'PK b' }, inputs });
  expect(reports).toMatchObject([
    { ready: false, notReady: { reason: expect.stringMatching(reason) } },
    { ready: true },
  ]);
});

describe("a delivery stops without a change if GitHub's file list differs from the branch", () => {
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
      const { report, reports } = await deliver(repository, wanted, given);
      expect(reports.map(({ notReady }) => notReady?.code)).toContain('HOST_ERROR');
      expect(report.notReady?.reason).toMatch(/^GitHub listed the files of another commit/);
      expect(await repository.head()).toBe(head);
    }
  });
});
