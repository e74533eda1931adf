import { describe, expect, test } from '@jest/globals';
import { stoppedError } from '../../src/errors.ts';
import type { TestRepository } from '../world/repository.ts';
import { expectRefused, setUpPlay } from './play.ts';
import { createPage, MARKER } from './scenario.ts';

const play = setUpPlay();
const page = (text: string) => ({ 'page.html': createPage(text) });
const deliver = (repository: TestRepository, text: string, more: object = {}) =>
  play.deliver({ repository, files: page(text), inputs: { channel: 'K1', marker: MARKER }, ...more });
/** Does something before the answer to matching requests. */
const meanwhile = (match: Parameters<typeof play.intercept>[0], work: () => unknown) =>
  play.meanwhile(match, () => work());

describe('a CDN that keeps a 404 for ten minutes keeps none of ours', () => {
  test.each<[string, (repository: TestRepository) => Promise<unknown>]>([
    [
      'ran out of time',
      async (repository) => {
        repository.pages.live = false;
        await deliver(repository, 'first');
      },
    ],
    [
      'was canceled while it waited',
      async (repository) => {
        repository.pages.live = false;
        const stop = new AbortController();
        meanwhile({ method: 'GET', url: /page\.html\?v=/ }, () => stop.abort(stoppedError()));
        await deliver(repository, 'first', { signal: stop.signal });
      },
    ],
    [
      'was withdrawn',
      async (repository) => {
        await deliver(repository, 'first');
        await play.deliver({
          repository,
          inputs: { channel: 'K1', path: 'page.html', operation: 'withdraw' },
        });
      },
    ],
  ])('where the delivery before %s: the next one is ready', async (_, first) => {
    const repository = await play.repository({ pages: { caches404: true, purges: false } });
    await first(repository);
    repository.pages.live = true;
    const { report } = await deliver(repository, 'new');
    expect(report).toMatchObject({ ready: true, url: `${repository.pages.url}page.html` });
  });

  test('where somebody else asked for one: not ready, and it is told how long', async () => {
    const repository = await play.repository();
    const headers = { 'cache-control': 'max-age=600', age: '120' };
    play.intercept({ url: /github\.io\/[^?]*page\.html$/, times: 999 }, { status: 404, headers });
    expectRefused(
      await deliver(repository, 'new'),
      'verify',
      /without \?v= .*HTTP 404 from a cache, 120 s old, which may keep it for up to 8 minutes/,
      { httpCode: 404, hint: /try again in 8 minutes/ },
    );
  });
});

describe('what the branch holds in the end', () => {
  test.each([
    ['removed the file', null],
    ['replaced the file', createPage('theirs')],
  ])('is not ours where a person %s while it was proven: not ready', async (_, content) => {
    const repository = await play.repository();
    meanwhile({ url: /github\.io\/[^?]*page\.html$/ }, async () => {
      repository.pages.startsBuilds = false;
      await repository.commit('page.html', content, 'My own change');
    });
    expectRefused(
      await deliver(repository, 'new'),
      'verify',
      /somebody removed or replaced on the branch main: page\.html/,
    );
  });

  test('is not ours where another folder with keep: 1 removed ours while it was proven: not ready', async () => {
    const repository = await play.repository();
    const site = (name: string, keep: string) => ({
      repository,
      files: { [`${name}/index.html`]: createPage(name) },
      inputs: { channel: 'K1', file: `${name}/`, path: `previews/${name}/`, keep },
    });
    meanwhile({ url: /github\.io\/[^?]*previews\/a\/$/ }, async () => {
      await repository.commit('previews/a/index.html', null, 'As a later run with `keep: 1` does');
    });
    expectRefused(
      await play.deliver(site('a', '')),
      'verify',
      /removed or replaced .*previews\/a\/index\.html/,
    );
  });
});

describe('the old page, which has the same marker', () => {
  /** A repository whose page was delivered before, and stays what the site shows. */
  async function withOldPage(): Promise<TestRepository> {
    const repository = await play.repository();
    expect((await deliver(repository, 'old')).report.notReady).toBeNull();
    repository.pages.live = false;
    return repository;
  }

  test('is not believed, nor when the step runs again', async () => {
    const repository = await withOldPage();
    for (const hint of [/a cache still answers with the old page/, /./]) {
      expectRefused(await deliver(repository, 'new'), 'verify', /not proven in time/, {
        httpCode: 200,
        hint,
      });
    }
  });

  test('is not believed either where it was committed before ours and went live later', async () => {
    const repository = await withOldPage();
    repository.pages.live = true;
    repository.pages.startsBuilds = false;
    await deliver(repository, 'between');
    repository.pages.startsBuilds = true;
    const between = { status: 200, body: createPage('between') };
    play.intercept({ url: /github\.io\/.*page\.html\?v=\d+$/, times: 999 }, between);
    expectRefused(await deliver(repository, 'new'), 'verify', /not proven/, { httpCode: 200 });
  });
});

describe('a page that only the marker proves', () => {
  const notes = (more = '') => ({ files: { 'notes.md': `# ${MARKER}\n${more}` } });

  test('is ready once it is built from our commit, and again when the step runs again', async () => {
    const repository = await play.repository();
    for (let run = 0; run < 2; run += 1) {
      const { report } = await deliver(repository, '', notes());
      expect(report.notReady).toBeNull();
      expect(report.lines.UNKNOWN).toMatch(/other bytes than the file/);
    }
  });

  test('is not ready where the site still shows an older one, in the first run and in the second', async () => {
    const repository = await play.repository();
    await deliver(repository, '', notes());
    repository.pages.live = false;
    // The page of before was built a minute ago, not within this second.
    const dated = { 'last-modified': new Date(Date.now() - 60_000).toUTCString() };
    const alter: Parameters<typeof play.intercept>[1] = {
      alter: (real) => ({ ...real, headers: { ...real.headers, ...dated } }),
    };
    play.intercept({ url: /notes\.html/, times: 999 }, alter);
    for (let run = 0; run < 2; run += 1) {
      const refused = await deliver(repository, '', notes('\nchanged\n'));
      expectRefused(refused, 'verify', /not proven/);
    }
  });

  test.each(['notes.html', 'notes.markdown'])(
    'is not ready where %s, with the same marker, has its address: from before, or since',
    async (rival) => {
      const theirs = `# ${MARKER}\n`;
      const taken = await play.repository({ files: { [rival]: theirs } });
      expectRefused(await deliver(taken, '', notes()), 'place', /is on the branch, and Jekyll shows it/);
      expect(await taken.read('notes.md')).toBeNull();
      const repository = await play.repository();
      meanwhile({ method: 'PUT', url: /contents\/notes\.md/ }, () => repository.commit(rival, theirs));
      expectRefused(
        await deliver(repository, '', notes()),
        'verify',
        /somebody removed or replaced .*notes\./,
      );
    },
  );

  test("is not ready where somebody else's page with the same marker has taken its place", async () => {
    const repository = await play.repository();
    const theirs = `# ${MARKER}\n\ntheirs\n`;
    meanwhile({ method: 'PUT', url: /contents\/notes\.md/ }, () =>
      repository.commit('notes.md', theirs, 'Write my own notes'),
    );
    expectRefused(
      await deliver(repository, '', notes()),
      'verify',
      /somebody removed or replaced .*notes\.md/,
      { hint: /try again/ },
    );
    expect(String(await repository.read('notes.md'))).toBe(theirs);
  });
});
