import { describe, expect, test } from '@jest/globals';
import { stoppedError } from '../../src/errors.ts';
import { DeployedSite } from '../world/hosts/deployed-site.ts';
import type { TestRepository } from '../world/repository.ts';
import { type PlayedDelivery, proven, refused, setUpPlay } from './play.ts';
import { createPage, MARKER } from './scenario.ts';

const play = setUpPlay();
const deliver = (repository: TestRepository, text: string, more: Omit<PlayedDelivery, 'repository'> = {}) => {
  const files = { 'page.html': createPage(text) };
  return play.deliver({ repository, files, inputs: { channel: 'K1', marker: MARKER }, ...more });
};

describe('a CDN that keeps a 404 for ten minutes keeps no 404 of ours', () => {
  test.each<[string, (repository: TestRepository) => Promise<unknown>, RegExp?]>([
    [
      'ran out of time',
      (repository) => {
        repository.pages.live = false;
        return deliver(repository, 'first');
      },
    ],
    [
      'was canceled during its wait',
      (repository) => {
        repository.pages.live = false;
        const stop = new AbortController();
        play.meanwhile({ method: 'GET', url: /page\.html\?v=/ }, () => stop.abort(stoppedError()));
        return deliver(repository, 'first', { signal: stop.signal });
      },
    ],
    [
      'was withdrawn',
      async (repository) => {
        await proven(deliver(repository, 'first'));
        await play.deliver({
          repository,
          inputs: { channel: 'K1', path: 'page.html', operation: 'withdraw' },
        });
      },
      // The page that was withdrawn is still in the cache.
      /page\.html\?v=[0-9a-f]{12}$/,
    ],
  ])('if the previous delivery %s: the next one is ready', async (_, first, url = /page\.html$/) => {
    const repository = await play.repository({ pages: { caches404: true, purges: false } });
    await first(repository);
    repository.pages.live = true;
    const { report } = await proven(deliver(repository, 'new'));
    expect(report.url).toMatch(url);
  });

  test.each<[Record<string, string>, string]>([
    [{ 'cache-control': 'max-age=600' }, 'for up to 8 minutes'],
    [{}, 'for an unknown time'],
  ])('where somebody else asked for one: not ready, and it is told how long: %j', async (kept, time) => {
    const headers = { ...kept, age: '120' };
    play.intercept({ url: /github\.io\/[^?]*page\.html$/, times: 999 }, { status: 404, headers });
    await refused(
      deliver(await play.repository(), 'new'),
      RegExp(
        `^verify 404: .*without \\?v= .*HTTP 404 from a cache, 120 s old, which may keep it ${time} → a cache may keep that answer ${time}: try again after that,`,
      ),
    );
  });
});

test.each<[string, number, Record<string, string>, RegExp]>([
  [
    'has another type',
    200,
    { 'content-type': 'application/octet-stream' },
    /^verify 200: 1 of 2 files .*app\.mjs \(HTTP 200 .*\(Content-Type: application\/octet-stream\)\) → .*`text\/javascript`/,
  ],
  ['is rate-limited', 429, {}, /^verify 429: .*app\.mjs \(HTTP 429\) → the host's rate limit .*later$/],
])('a file of a linked folder that %s is reported with what to change', async (_, status, headers, says) => {
  const files = { 'd/index.html': createPage('<script type=module src=app.mjs></script>'), 'd/app.mjs': '1' };
  const site = { 'index.html': files['d/index.html'], 'app.mjs': '1' };
  play.world.host('site.deployed.dev', new DeployedSite(site).answer);
  play.intercept({ url: /app\.mjs/, times: 999 }, { status, headers, body: '1' });
  const inputs = { channel: 'K4', file: 'd', url: 'https://site.deployed.dev/', timeout: '30' };
  await refused(play.deliver({ files, inputs }), says);
});

describe('a clock that is changed during a delivery', () => {
  test.each([3_600_000, -3_600_000])('by %i ms neither ends nor extends the verification', async (ms) => {
    const repository = await play.repository();
    play.meanwhile({ method: 'GET', url: /page\.html\?v=/ }, () => play.jumpClock(ms));
    await proven(deliver(repository, 'first'));

    repository.pages.live = false;
    play.meanwhile({ method: 'GET', url: /page\.html\?v=/ }, () => play.jumpClock(ms));
    const { report, took } = await deliver(repository, 'second');
    expect(report.notReady?.code).toBe('NOT_PROVEN');
    expect(took).toBeGreaterThan(230_000);
    expect(took).toBeLessThan(300_000);
  });
});

const TAKEN = (path: string): RegExp =>
  new RegExp(`^verify.*: .*somebody removed or replaced .*${path}.* → run it again`);

describe("the branch's file at the end", () => {
  test.each([
    ['removed the file', null],
    ['replaced the file', createPage('theirs')],
  ])('is not ours if a person %s during verification: not ready', async (_, content) => {
    const repository = await play.repository();
    play.meanwhile({ url: /github\.io\/[^?]*page\.html$/ }, async () => {
      repository.pages.startsBuilds = false;
      await repository.commit('page.html', content, 'My own change');
    });
    await refused(deliver(repository, 'new'), TAKEN('on the branch main: page\\.html'));
  });

  test('is theirs if another run replaced it before the URL showed ours: not ready, and reported', async () => {
    const repository = await play.repository();
    play.meanwhile({ url: /github\.io\/[^?]*page\.html\?v=/ }, async () => {
      await repository.commit('page.html', createPage('theirs'), 'Another run');
    });
    const { report } = await refused(deliver(repository, 'new'), TAKEN('on the branch main: page\\.html'));
    expect(report.lines.UNKNOWN).toMatch(/^left behind: commit [0-9a-f]{7,}$/);
  });

  test('is missing if another folder with keep: 1 removed ours during verification: not ready', async () => {
    const repository = await play.repository();
    play.meanwhile({ url: /github\.io\/[^?]*previews\/a\/$/ }, () =>
      repository.commit('previews/a/index.html', null, 'As a later run with `keep: 1` does'),
    );
    const files = { 'a/index.html': createPage('a') };
    const inputs = { channel: 'K1', file: 'a/', path: 'previews/a/' };
    await refused(play.deliver({ repository, files, inputs }), TAKEN('previews\\/a\\/index\\.html'));
  });
});

test('Markdown that was delivered unchanged is not withdrawn while its own URL shows it', async () => {
  const repository = await play.repository();
  const content = '# Notes\n';
  const inputs = { channel: 'K1', path: 'notes.md' };
  await proven(
    play.deliver({ repository, files: { 'notes.md': content }, inputs: { ...inputs, file: 'notes.md' } }),
  );
  play.intercept(
    { url: /github\.io\/[^?]*notes\.md/, times: 999 },
    { alter: () => ({ status: 200, body: content }) },
  );
  const { report } = await play.deliver({ repository, inputs: { ...inputs, operation: 'withdraw' } });
  expect([report.gone, report.notReady?.reason]).toEqual([undefined, expect.stringContaining('notes.md')]);
});

describe('the old page with the same marker', () => {
  /** A repository with an earlier delivery that the site still shows. */
  async function withOldPage(): Promise<TestRepository> {
    const repository = await play.repository();
    await proven(deliver(repository, 'old'));
    repository.pages.live = false;
    return repository;
  }

  test('is not accepted, nor if the step runs again', async () => {
    const repository = await withOldPage();
    for (const hint of ['a cache still serves the old page', '']) {
      await refused(
        deliver(repository, 'new'),
        new RegExp(`^verify 200: .*not verified in time.* → .*${hint}`),
      );
    }
  });

  test('is not accepted if a node of the site shows it on every second connection', async () => {
    const repository = await withOldPage();
    repository.pages.live = true;
    const old = { status: 200, body: createPage('old') };
    play.alterSite(repository, 'page.html', {
      alter: (real, { connection }) => (connection % 2 === 1 ? old : real),
    });
    await refused(deliver(repository, 'new'), /^verify 200: .*not verified/);
  });

  test('is not accepted if it was committed before ours and went live later', async () => {
    const repository = await withOldPage();
    repository.pages.live = true;
    repository.pages.startsBuilds = false;
    await deliver(repository, 'between');
    repository.pages.startsBuilds = true;
    const between = { status: 200, body: createPage('between') };
    play.intercept({ url: /github\.io\/.*page\.html\?v=\d+$/, times: 999 }, between);
    await refused(deliver(repository, 'new'), /^verify 200: .*not verified/);
  });
});

describe('a cache that shows an earlier page without ?v=', () => {
  const NOTE =
    /^until 2\d+-\d\d-\d\d \d\d:\d\d UTC, the URL without its part after the question mark may still show the previous version$/;
  /** A person opens the address, and sees this page. */
  const opens = (url: string | null, text: string) =>
    proven(
      play.deliver({ files: { 'page.html': createPage(text) }, inputs: { channel: 'K4', url: url ?? '' } }),
    );

  test.each<[string, (repository: TestRepository) => Promise<unknown>, Record<string, string>?]>([
    ['the previous delivery', (repository) => proven(deliver(repository, 'one'))],
    [
      'one of two earlier deliveries',
      async (repository) => {
        await proven(deliver(repository, 'one'));
        repository.pages.purges = false;
        await proven(deliver(repository, 'two'));
      },
    ],
    [
      "a person's page, which is replaced",
      (repository) => opens(`${repository.pages.url}page.html`, 'one'),
      { 'page.html': createPage('one') },
    ],
  ])('of %s: the announced URL shows the new page', async (_, before, files = {}) => {
    const repository = await play.repository({ files });
    await before(repository);
    repository.pages.purges = false;
    for (const _ of ['first', 'second']) {
      const { report } = await proven(
        deliver(repository, 'new', { inputs: { channel: 'K1', overwrite: 'true' } }),
      );
      const { url, commitSha, urlNote = '', lines, notes, unknown } = report;
      expect(url).toBe(`${repository.pages.url}page.html?v=${commitSha?.slice(0, 12)}`);
      await opens(url, 'new');
      await opens(`${repository.pages.url}page.html`, 'one');
      expect(urlNote).toMatch(NOTE);
      expect(notes[0]).toBe(urlNote);
      expect(lines.CLAIM).toContain(` at ${url}; ${urlNote}`);
      expect(unknown.join()).not.toContain('?v=');
    }
  });
});

describe('a page that is verified only by its marker', () => {
  const put = (repository: TestRepository, more = '') =>
    deliver(repository, '', { files: { 'notes.md': `# ${MARKER}\n${more}` } });

  test('is ready once it is built from our commit, and again if the step is rerun', async () => {
    const repository = await play.repository();
    for (const _ of ['first', 'second']) {
      const { report } = await proven(put(repository));
      expect(report.lines.UNKNOWN).toMatch(/its bytes differ from the file/);
    }
  });

  test('is not ready if the site still shows an older page, in the first and second run', async () => {
    const repository = await play.repository();
    await proven(put(repository));
    repository.pages.live = false;
    // The previous page was built a minute ago, not within this second.
    const dated = { 'last-modified': new Date(Date.now() - 60_000).toUTCString() };
    play.intercept(
      { url: /notes\.html/, times: 999 },
      { alter: (real) => ({ ...real, headers: { ...real.headers, ...dated } }) },
    );
    for (const _ of ['first', 'second'])
      await refused(put(repository, '\nchanged\n'), /^verify.*not verified/);
  });

  test('is not ready if an earlier build rendered the previous page after our commit', async () => {
    const repository = await play.repository();
    await proven(put(repository));
    const { pages } = repository;
    pages.live = false;
    play.meanwhile({ method: 'PUT', url: /contents/ }, () => {
      if (pages.liveVersion)
        pages.liveVersion = { ...pages.liveVersion, builtAt: new Date(Date.now() + 2_000) };
    });
    await refused(put(repository, '\nchanged\n'), /^verify.*not verified/);
  });

  test('is ready if another commit rebuilds it with other bytes during verification', async () => {
    const repository = await play.repository();
    let asked = 0;
    play.alterSite(repository, 'notes.html', {
      alter: async (real) => {
        if (real.status !== 200) return real;
        asked += 1;
        const body = `${real.body}<link href="style.css?v=${repository.pages.liveCommit}">`;
        if (asked === 2) {
          await repository.commit('other.txt', 'x', 'Another job');
          repository.pages.publishImmediately(repository.head() ?? '');
        }
        return { ...real, body, headers: { ...real.headers, 'content-length': String(body.length) } };
      },
    });
    await proven(put(repository));
    expect(asked).toBeGreaterThan(2);
  });

  test('is not withdrawn if the site still shows it, and a README will have its URL', async () => {
    const repository = await play.repository({ files: { 'README.md': '# Person' } });
    const files = { 'index.html': `---\ntitle: x\n---\n<!doctype html><p>${MARKER}</p>\n` };
    await proven(
      deliver(repository, '', { files, inputs: { channel: 'K1', path: 'index.html', marker: MARKER } }),
    );
    const { pages } = repository;
    pages.live = false;
    const withdraw = { channel: 'K1', operation: 'withdraw', file: '', path: 'index.html' };
    const remove = () => play.deliver({ repository, inputs: withdraw });
    await refused(remove(), /^verify 200: .*content, although it was removed/);
    // The build of before is older than the removal, which the second run and the audit know by its date.
    if (pages.liveVersion)
      pages.liveVersion = { ...pages.liveVersion, builtAt: new Date(Date.now() - 60_000) };
    await refused(remove(), /^verify 200: .*content, although it was removed/);
    const { report } = await play.deliver({ repository, inputs: { file: '', operation: 'audit' } });
    expect(report.lines.RESULT).toMatch(/^НЕ ГОТОВО/);
    pages.publishImmediately(repository.head() ?? '');
    await proven(remove());
  });

  test.each(['notes.html', 'notes.markdown'])(
    'is not ready if %s with the same marker has its URL, from before or since',
    async (rival) => {
      const theirs = `# ${MARKER}\n`;
      const taken = await play.repository({ files: { [rival]: theirs } });
      await refused(put(taken), /^place: .*is on the branch, and Jekyll shows it/);
      expect(await taken.read('notes.md')).toBeNull();
      const repository = await play.repository();
      play.meanwhile({ method: 'PUT', url: /contents\/notes\.md/ }, () => repository.commit(rival, theirs));
      await refused(put(repository), TAKEN('notes\\.'));
    },
  );

  test("is not ready if another person's page with the same marker replaced it", async () => {
    const repository = await play.repository();
    const theirs = `# ${MARKER}\n\ntheirs\n`;
    play.meanwhile({ method: 'PUT', url: /contents\/notes\.md/ }, () =>
      repository.commit('notes.md', theirs, 'Write my own notes'),
    );
    await refused(put(repository), TAKEN('notes\\.md'));
    expect(String(await repository.read('notes.md'))).toBe(theirs);
  });
});
