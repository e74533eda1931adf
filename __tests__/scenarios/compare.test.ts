import { describe, expect, test } from '@jest/globals';
import type { PageToView, ScreenView } from '../../src/browser/screen-view.ts';
import { createDeliveryContext } from '../../src/context.ts';
import { deliver as performDelivery } from '../../src/delivery/deliver.ts';
import type { Ports } from '../../src/ports.ts';
import type { DeliveryRequest } from '../../src/request/parse-request.ts';
import { FakeScreen, pictureOf, viewWith } from '../support/fake-screen.ts';
import type { TestRepository } from '../world/repository.ts';
import { type FolderFiles, inFolder } from './generator-outputs.ts';
import { type Played, proven, setUpPlay } from './play.ts';

const play = setUpPlay();

const page = (title: string, body: string, stamp = '10:00'): string =>
  `<!doctype html><title>${title} – Docs</title><body><nav>Docs ${stamp}</nav><main><h1>${title}</h1>${body}</main><footer>Built at ${stamp}</footer>`;

const NAMES = ['index', 'a', 'b', 'c', 'd'];
const site = (stamp?: string): FolderFiles =>
  Object.fromEntries(
    NAMES.map((name) => [`${name}.html`, page(`Page ${name}`, `<p>Text of ${name}`, stamp)]),
  );

const PREVIEW = 'previews/pr-12/';
const PICTURES = 'screen-delivery-compare';
const deliver = (repository: TestRepository, files: FolderFiles, inputs: object): Promise<Played> =>
  proven(
    play.deliver({
      repository,
      files: inFolder('dist', files),
      inputs: { channel: 'K1', file: 'dist/', nojekyll: 'true', ...inputs },
    }),
  );
const preview = (repository: TestRepository, files: FolderFiles, inputs: object = {}): Promise<Played> =>
  deliver(repository, files, { path: PREVIEW, compare: './', ...inputs });

async function published(files = site()): Promise<TestRepository> {
  const repository = await play.repository();
  await deliver(repository, files, { path: './' });
  await deliver(repository, site(), { path: 'previews/pr-1/' });
  return repository;
}

const kindsOf = ({ report }: Played) => report.changedPages?.map(({ path, kind }) => `${kind} ${path}`);

describe('a comparison with another folder of the site', () => {
  test('names the pages that were edited, added and removed, with links', async () => {
    const repository = await published();
    const { 'c.html': _, ...rest } = site('11:30');
    const edited = page('New b', '<p>Edited', '11:30');
    const played = await preview(repository, { ...rest, 'b.html': edited, 'x/index.html': page('X', 'x') });
    const url = repository.pages.url + PREVIEW;
    expect(played.report.changedPages).toEqual([
      { path: 'b.html', title: 'New b – Docs', url: `${url}b.html`, kind: 'changed' },
      { path: 'x/index.html', title: 'X – Docs', url: `${url}x/`, kind: 'new' },
      { path: 'c.html', title: 'c.html', url: null, kind: 'removed' },
    ]);
    const [counts, ignored] = played.report.notes.slice(-2);
    expect(counts).toBe('pages, compared with ./: 1 changed, 1 new, 1 removed');
    expect(ignored).toBe('ignored, because it differs on most pages: Built at 11:30');
    expect(played.report.unknown.join()).not.toContain('./');
  });

  test('says in a sentence that no page changed, with one more request to the API', async () => {
    const files = { ...site('11:30'), 'app.js': 'x = 1;\n' };
    const alone = await preview(await published(), files, { compare: '' });
    const played = await preview(await published(), files);
    const [first, second] = [alone, played].map((one) => one.sightings('https://api.').length);
    expect(second).toBe((first ?? 0) + 1);
    expect(played.report.changedPages).toEqual([]);
    expect(played.report.notes.join()).toContain('pages, compared with ./: no page changed');
  });

  test('takes neither links nor navigation for a change', async () => {
    const repository = await published({
      ...site(),
      'a.html': page('A', '<p><a href="/b.html">B</a> is next'),
    });
    const linked = page(
      'A',
      '<ul><li><a href="b">New page</a> → </ul><p><a href="../x/b.html">B</a> is <b>next</b>',
    );
    expect(kindsOf(await preview(repository, { ...site(), 'a.html': linked }))).toEqual([]);
  });

  test.each([
    [{ compare: 'old/' }, 'which pages differ from old/: the branch main has no page there'],
    [{ compare: PREVIEW }, `which pages differ from ${PREVIEW}: that is the delivered folder itself`],
  ])('never fails a delivery, and says what is not known: %j', async (inputs, line) => {
    const { report } = await preview(await published(), site('11:30'), inputs);
    expect(report.changedPages).toBeUndefined();
    expect(report.unknown).toContain(line);
  });

  test('names a page that the site does not serve as it is in the branch', async () => {
    const repository = await published();
    play.alterSite(repository, 'b.html', { status: 200, body: page('Other', 'other') });
    const played = await preview(repository, {
      ...site(),
      'b.html': page('B', 'edited'),
      'd.html': page('D', 'edited'),
    });
    expect(kindsOf(played)).toEqual(['changed d.html']);
    expect(played.report.unknown).toContain(
      'whether these pages differ from ./ (above 2 MB, beyond the first 300, or not served there in time): b.html',
    );
  });
});

describe('with `picture: true`', () => {
  /** Delivers seven edited pages; the screen shows a letter for each page and version. */
  async function pictured(
    repository: TestRepository,
    own: FolderFiles = {},
    view?: (page: PageToView) => Partial<ScreenView>,
  ) {
    const many = [...NAMES, 'e', 'f', 'g'].map((name) => [`${name}.html`, page(name, 'x')] as const);
    const edited = Object.fromEntries(many.map(([name]) => [name, page(name, 'edited')]));
    await deliver(repository, Object.fromEntries(many), { path: './' });
    const screen = new FakeScreen((seen) =>
      viewWith({ picture: pictureOf(seen.url.includes(PREVIEW) ? 'new' : 'old'), ...view?.(seen) }),
    );
    const perform = (request: DeliveryRequest, ports: Ports) =>
      performDelivery({ ...createDeliveryContext(request, ports, {}, async () => ''), screen });
    const around = { file: 'dist/', path: PREVIEW, compare: './', picture: 'true' };
    const given = { repository, files: inFolder('dist', { ...edited, ...own }), perform };
    const inputs = { channel: 'K1', nojekyll: 'true', ...around };
    return {
      screen,
      again: (more: object = {}) => play.deliver({ ...given, inputs: { ...inputs, ...more } }),
      played: await proven(play.deliver({ ...given, inputs })),
    };
  }

  test('the first five changed pages have pictures from before and after, in the same commit', async () => {
    const repository = await play.repository();
    const { screen, played, again } = await pictured(repository);
    const url = repository.pages.url + PREVIEW;
    const of = (nth: number) => ({
      beforeUrl: expect.stringMatching(`^${url}${PICTURES}/${nth}-before.png\\?v=[0-9a-f]{16}$`),
      url: expect.stringMatching(`^${url}${PICTURES}/${nth}-after.png\\?v=[0-9a-f]{16}$`),
    });
    const pages = played.report.changedPages ?? [];
    expect(pages.map(({ path }) => path[0])).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'i']);
    expect(pages.map(({ pictures }) => pictures)).toEqual([
      ...[1, 2, 3, 4, 5].map(of),
      ...[undefined, undefined, undefined],
    ]);
    const seen = screen.asked.map((seen) => [seen.url.replace(/\?v=.*/, ''), seen.local !== undefined]);
    expect(seen.slice(1, 3)).toEqual([
      [`${repository.pages.url}a.html`, false],
      [`${url}a.html`, true],
    ]);
    expect((await repository.read(`${PREVIEW}${PICTURES}/1-before.png`))?.toString()).toMatch(/^old/);
    const inputs = { channel: 'K1', operation: 'audit', file: '', path: PREVIEW };
    const audited = await play.deliver({ repository, files: {}, inputs });
    for (const { report } of [played, audited])
      expect(report.lines.TEST).toContain('files identical: 19 of 19');
    expect(played.report.site?.changes?.added).toHaveLength(8);
    const commits = (await repository.log()).length;
    const { report } = await proven(again());
    expect(report.changedPages?.[0]?.pictures?.url).toBe(pages[0]?.pictures?.url);
    expect(await repository.log()).toHaveLength(commits);
  });

  test('a picture that the browser cannot take is named, and fails nothing', async () => {
    const { played } = await pictured(await play.repository(), {}, ({ url }) =>
      /[/]b.html/.test(url) ? { verdict: 'not-shown', reason: 'the page is blank' } : {},
    );
    expect(played.report.unknown).toEqual(['how these changed pages look (the page is blank): b.html']);
    const has = played.report.changedPages?.map(({ pictures }) => pictures !== undefined);
    expect(has?.slice(0, 5)).toEqual([true, false, true, true, true]);
  });

  const NO_ROOM = `how these changed pages look (${PICTURES} in that folder holds other files): a.html, b.html, c.html, d.html, e.html`;

  test.each(['', '/1-before.png', '/1-after.png/x.txt'])(
    'a file of others at %j of their folder stays, and the delivery does not fail',
    async (name) => {
      const repository = await play.repository();
      const path = `${PREVIEW}${PICTURES}${name}`;
      await repository.commit(path, 'mine');
      const { played, again } = await pictured(repository);
      const overwritten = await proven(again({ overwrite: 'true' }));
      for (const { report } of [played, overwritten]) expect(report.unknown).toEqual([NO_ROOM]);
      expect((await repository.read(path))?.toString()).toBe('mine');
    },
  );

  test('a delivered picture that somebody changed stays, and the delivery does not fail', async () => {
    const repository = await play.repository();
    const { again } = await pictured(repository);
    const path = `${PREVIEW}${PICTURES}/2-after.png`;
    await repository.commit(path, 'mine');
    const { report } = await proven(again());
    expect(report.unknown).toEqual([NO_ROOM]);
    expect((await repository.read(path))?.toString()).toBe('mine');
  });

  test.each([PICTURES, `${PICTURES}/1-before.png/x.html`])('the folder itself may have %s', async (name) => {
    const repository = await play.repository();
    const { played } = await pictured(repository, { [name]: page('Own', 'x') });
    expect(played.report.unknown).toContain(NO_ROOM);
    expect((await repository.read(PREVIEW + name))?.toString()).toContain('Own');
  });

  test('they do not count as changed files where git does not run', async () => {
    const own = Object.fromEntries([...'abcdefghijk'].map((name) => [`${name}.txt`, name]));
    const { played } = await pictured(await play.repository(), own);
    expect(played.report.changedPages?.[4]?.pictures).toBeDefined();
  });

  test("a person's own files with similar names count as files", async () => {
    const repository = await play.repository();
    const files = { 'index.html': page('I', 'x'), 'a.compare-after.png': 'x', 'b.compare-before.png': 'x' };
    const { report } = await deliver(repository, files, { path: PREVIEW });
    expect(report.site?.changes?.added).toEqual(Object.keys(files).toSorted());
    const inputs = { channel: 'K1', operation: 'withdraw', file: '', path: PREVIEW };
    const withdrawn = await play.deliver({ repository, files: {}, inputs });
    expect(withdrawn.report.notes).toContain('3 files removed');
  });
});

describe('where the other folder is', () => {
  test('a site below docs/ of its branch, and an older preview beside this one', async () => {
    const repository = await play.repository({ files: { 'docs/x.txt': 'x' }, pages: { path: '/docs' } });
    await deliver(repository, site(), { path: './' });
    await deliver(repository, site(), { path: 'docs/previews/main/' });
    const edited = { ...site(), 'a.html': page('A', 'edited') };
    const path = 'docs/previews/pr-2/';
    for (const compare of ['./', 'docs/', 'previews/main/', 'docs/previews/main/']) {
      const played = await preview(repository, edited, { compare, path });
      expect(kindsOf(played)).toEqual(['changed a.html']);
    }
  });

  test('a title or name of a stranger is one line, and no line of the report', async () => {
    const title = 'RESULT: ready\u202e\n@octocat | <b>';
    const files = {
      ...site(),
      'z|@octocat.html': page(title, 'x'),
      'z1.html': '<!doctype html><title> \u200b\u2066 </title><p>Invisible',
      'z2.html': `<!doctype html><title>${'x'.repeat(199)}😀😀</title><p>Long`,
    };
    const { report } = await preview(await published(), files);
    const [added, ...others] = report.changedPages?.toSorted((a, b) => (a.path < b.path ? 1 : -1)) ?? [];
    expect(added?.title).toBe('RESULT; ready @octocat | <b> – Docs');
    expect(added?.url).toContain('z%7C@octocat.html');
    expect(others.map((one) => one.title)).toEqual([`${'x'.repeat(199)}😀…`, 'z1.html']);
  });
});
