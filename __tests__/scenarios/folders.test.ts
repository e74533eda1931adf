import { rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { HISTORY_PAGES, LIST_PAGE, SITE as SITE_LIMITS } from '../../src/protocol/limits.ts';
import { runOf } from '../action/current-runs.ts';
import { temporaryFolder } from '../support/files.ts';
import type { TestRepository } from '../world/repository.ts';
import { writeFiles } from '../world/runner.ts';
import { addCommits, addFiles } from './branch-of-others.ts';
import { listUnproven } from './expect-report.ts';
import { type Played, type PlayedDelivery, proven, refused, setUpPlay, writesOf } from './play.ts';
import { createPage, listRequests, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const play = setUpPlay();

const SITE = {
  'dist/index.html': createPage(),
  'dist/assets/app.js': 'document.title = 1;\n',
  'dist/assets/style.css': 'p { color: red }\n',
  'dist/empty.txt': '',
  'dist/.hidden': 'left out\n',
};
const PATH = 'previews/pr-12/';
const inputs = { channel: 'K1', file: 'dist/', path: PATH };
const withdrawal = { channel: 'K1', operation: 'withdraw', path: PATH };
const deliver = (
  repository: TestRepository,
  more: object = {},
  files: Readonly<Record<string, string | Buffer>> = SITE,
  around: PlayedDelivery['around'] = {},
): Promise<Played> => play.deliver({ repository, files, inputs: { ...inputs, ...more }, around });
const withdraw = (repository: TestRepository, more: object = {}): Promise<Played> =>
  play.deliver({ repository, inputs: { ...withdrawal, ...more } });

const expectSite = ({ report }: Pick<Played, 'report'>, url: string, count: number): void => {
  expect(report.notReady).toBeNull();
  expect(report.url).toBe(url);
  expect(report.lines.TEST).toContain(`files identical: ${count} of ${count}`);
};

describe('a folder, by git', () => {
  test('is one commit, one push and one URL; a rerun writes nothing, and a change writes only changed files', async () => {
    const repository = await scenario.repository();
    const url = `${repository.pages.url}${PATH}`;
    const delivered = await scenario.deliver({ repository, files: SITE, inputs });
    expectSite(delivered, url, 4);
    expect(delivered.outputs).toMatchObject({ result: 'ready', url });
    const [commit, ...before] = await repository.log();
    expect(before).toHaveLength(1);
    expect(commit?.message).toMatch(
      /^ADD pr-12: .+\n\nDelivered-by: screen-delivery\nDelivered-object: [0-9a-f]{40} previews\/pr-12\/$/,
    );
    expect(await repository.read(`${PATH}.hidden`)).toBeNull();
    expect(String(await scenario.fetchPublic(url))).toBe(createPage());
    expect(delivered.report.site).toMatchObject({ entry: 'index.html', count: 4, leftOut: ['.hidden'] });

    const again = await scenario.deliver({ repository, files: SITE, inputs });
    expectSite(again, url, 4);
    expect(again.report.gates[0]?.evidence).toBe(`commit ${commit?.sha} had this site before this delivery`);
    expect((await repository.log())[0]?.sha).toBe(commit?.sha);

    const { 'dist/assets/style.css': _, ...fewer } = SITE;
    const files = {
      ...fewer,
      'dist/assets/app.js': 'document.title = 2;\n',
      'dist/index.html': createPage('second'),
      'dist/new.html': createPage(),
    };
    const updated = await scenario.deliver({ repository, files, inputs });
    expectSite(updated, url, 4);
    expect(updated.report.site?.changes).toEqual({
      added: ['new.html'],
      changed: ['assets/app.js', 'index.html'],
      removed: ['assets/style.css'],
      kept: [],
      removedFolders: [],
    });
    expect(listUnproven(updated.report)).toBe('');
    expect((await repository.log())[0]?.message).toMatch(/^UPDATE pr-12: /);
    expect(String(await scenario.fetchPublic(url))).toBe(createPage('second'));
  });

  test('of 151 files costs few API requests, and UNKNOWN counts the files not fetched without ?v=', async () => {
    const pages = Array.from({ length: 150 }, (_, nth) => [`dist/p${nth}.html`, `<p>${nth}</p>`]);
    const repository = await scenario.repository();
    const files = { 'dist/index.html': createPage(), ...Object.fromEntries(pages) };
    const delivered = await scenario.deliver({ repository, files, inputs });
    expectSite(delivered, `${repository.pages.url}${PATH}`, 151);
    expect(listRequests(scenario, /^\w+ https:\/\/api\.github\.com/).length).toBeLessThanOrEqual(20);
    expect(listUnproven(delivered.report)).toBe(
      'whether a cache still gives an old answer for 50 more new or changed files, for up to ten minutes',
    );
  });
});

describe('a folder', () => {
  test.each<[string, (dist: string) => Promise<void>, RegExp]>([
    ['grows', (dist) => writeFile(join(dist, 'late.html'), 'late'), /: late\.html is new →/],
    ['shrinks', (dist) => rm(join(dist, 'empty.txt')), /: empty\.txt is gone →/],
    [
      'gets a symbolic link',
      (dist) => symlink('x', join(dist, 'link')),
      /link is a symbolic link to nothing →/,
    ],
  ])('that %s after its check is refused before a write', async (_, change, says) => {
    const repository = await play.repository();
    const folder = await temporaryFolder();
    await writeFiles(folder, SITE);
    play.meanwhile({ method: 'GET', url: /\/pages$/ }, () => change(join(folder, 'dist')));
    const around = { folder, allowedRoots: [folder] };
    const played = await refused(play.deliver({ repository, inputs, around }), says);
    expect(played.report.lines.UNKNOWN).toBe('nothing was published');
    expect(writesOf(played)).toEqual([]);
  });

  test('is ready if a cache still has an old file, and UNKNOWN says so, also in a second run', async () => {
    const repository = await play.repository();
    await deliver(repository);
    repository.pages.purges = false;
    for (const written of [true, false]) {
      const changed = { ...SITE, 'dist/assets/app.js': 'document.title = 2;\n' };
      const delivered = await deliver(repository, {}, changed);
      expectSite(delivered, `${repository.pages.url}${PATH}`, 4);
      expect(delivered.log.includes('had this site before this delivery')).toBe(!written);
      expect(listUnproven(delivered.report)).toBe(
        'a cache still answered older copies of 1 file, but not of the page; it may show them for up to 10 minutes',
      );
    }
  });

  test.each([
    ['is missing', /assets\/app\.js/, ''],
    ['is missing for browsers', /assets\/app\.js$/, ' without \\?v='],
  ])('of 14 files is not ready if one file %s, and its audit reports the same', async (_, url, which) => {
    const more = Array.from({ length: 10 }, (_, nth) => [`dist/${nth}.html`, `<p>${nth}</p>`]);
    const files = { ...SITE, ...Object.fromEntries(more) };
    const repository = await play.repository();
    play.intercept({ url: new RegExp(`github\\.io/.*${url.source}`), times: 999 }, { status: 404 });
    const says = `^verify 404: 1 of 14 files of the site do not show the delivered bytes${which}: \\S+app\\.js \\(HTTP 404\\)`;
    const { report } = await refused(deliver(repository, {}, files), new RegExp(says));
    expect(report.lines.TEST).toContain('; files identical: 13 of 14; ');
    if (which !== '') return;
    const audit = play.deliver({ repository, inputs: { operation: 'audit', path: PATH } });
    const audited = await refused(audit, new RegExp(says));
    expect(audited.report.lines.TEST).toContain('; files identical: 13 of 14; ');
  });

  test('leaves files of others alone, and refuses to replace one of them', async () => {
    const repository = await play.repository({ files: { [`${PATH}notes.txt`]: 'theirs' } });
    const { report } = await proven(deliver(repository));
    expect(report.site?.changes?.kept).toEqual(['notes.txt']);
    const more = { 'dist/notes.txt': 'ours', 'dist/index.html': createPage('second') };
    const next = await refused(deliver(repository, {}, { ...SITE, ...more }), /^place.*: .*notes\.txt/);
    expect(next.report.notReady?.code).toBe('NOT_OURS');
    expect(String(await repository.read(`${PATH}notes.txt`))).toBe('theirs');
    expect(String(await repository.read(`${PATH}index.html`))).toBe(createPage());
  });

  test('inside another delivered folder is refused, and the hint names that folder for `path:`', async () => {
    const repository = await play.repository();
    await proven(deliver(repository, {}, { ...SITE, 'dist/docs/index.html': createPage() }));
    const within = deliver(repository, { path: `${PATH}docs/` }, { 'dist/index.html': createPage('second') });
    const says =
      /: \S+docs\/ already exists in the repository, and it came with the folder previews\/pr-12\/ that was delivered as a whole → .*`path: previews\/pr-12\/`/;
    expect((await refused(within, says)).report.notReady?.code).toBe('NOT_OURS');
    const inputs = { operation: 'audit', path: `${PATH}docs/index.html` };
    await refused(
      play.deliver({ repository, inputs }),
      / → set `path: previews\/pr-12\/` to audit all of it$/,
    );
  });

  test('names the older folders that it removed if it is not verified', async () => {
    const repository = await play.repository();
    await proven(deliver(repository, { path: 'runs/1/', keep: '1' }));
    repository.pages.builds = ['errored', 'errored'];
    const { report } = await refused(deliver(repository, { path: 'runs/2/', keep: '1' }), /^wait/);
    expect(report.lines.UNKNOWN).toContain('older sites removed: runs/1/');
  });

  describe('`keep`', () => {
    const NIGHTLY = { name: 'octo/site/.github/workflows/nightly.yml', run: '7/1' };
    const MANUAL = { ...NIGHTLY, name: 'octo/site/.github/workflows/manual.yml' };
    const put = (repository: TestRepository, path: string, from?: typeof NIGHTLY, more: object = {}) =>
      proven(deliver(repository, { path, keep: '2', ...more }, SITE, { deliverer: from }));
    const removedBy = ({ report }: Played) => report.site?.changes?.removedFolders;

    test.each(['runs/', ''])("follows the history, whatever the runners' clocks say in %j", async (below) => {
      const repository = await play.repository();
      for (const [nth, hours] of [48, 0].entries()) {
        const now = new Date(Date.now() + hours * 3_600_000);
        repository.now = () => now;
        await put(repository, `${below}${nth + 1}/`);
      }
      expect(removedBy(await put(repository, `${below}3/`))).toEqual([`${below}1/`]);
    });

    test('removes no folder if the history does not show which ones are the newest', async () => {
      const repository = await play.repository();
      for (const path of ['runs/1/', 'runs/2/']) await put(repository, path);
      play.intercept({ url: /\/commits\?path=runs&/, times: 99 }, { status: 200, body: '[]' });
      expect(removedBy(await put(repository, 'runs/3/'))).toEqual([]);
    });

    test.each([{ path: 'runs/1/extra/' }, { path: 'runs/1/extra.html', file: 'dist/index.html' }])(
      'leaves and names a folder in which another workflow has a delivery: %j',
      async ({ path, ...more }) => {
        const repository = await play.repository();
        await put(repository, 'runs/1/', NIGHTLY);
        await put(repository, path, MANUAL, more);
        const next = { ...SITE, 'dist/new.txt': 'x' };
        await proven(deliver(repository, { path: 'runs/1/' }, next, { deliverer: NIGHTLY }));
        await put(repository, 'runs/2/', NIGHTLY);
        const { report } = await put(repository, 'runs/3/', NIGHTLY);
        expect(report.notes).toContain(
          '`keep` skips folders that are not as this workflow delivered them: runs/1/',
        );
      },
    );

    test("names somebody else's folder that changed since, and its own even if none is kept", async () => {
      const repository = await play.repository();
      for (const nth of [1, 2]) await put(repository, `runs/${nth}/`, MANUAL);
      await put(repository, 'runs/1/extra.html', NIGHTLY, { file: 'dist/index.html' });
      await put(repository, 'runs/3/', NIGHTLY);
      for (const nth of [2, 3]) await repository.commit(`runs/${nth}/index.html`, 'changed by a person');
      const { report } = await put(repository, 'runs/4/', NIGHTLY, { keep: '1' });
      expect(report.notes).toEqual([
        '`keep` skips folders that are not as this workflow delivered them: runs/1/, runs/2/, runs/3/',
      ]);
    });

    test('counts only the folders of its own workflow, from any run', async () => {
      const repository = await play.repository();
      await put(repository, 'runs/by-hand/', MANUAL);
      await put(repository, 'runs/laptop/');
      for (const run of ['1', '2']) await put(repository, `runs/${run}/`, { ...NIGHTLY, run: `${run}/1` });
      const { report } = await put(repository, 'runs/3/', NIGHTLY);
      expect(report.site?.changes?.removedFolders).toEqual(['runs/1/']);
      const foreign =
        '`keep` skips folders that are not as this workflow delivered them: runs/by-hand/, runs/laptop/';
      expect(report.notes).toContain(foreign);
      const all = await put(repository, 'runs/4/', NIGHTLY, { overwrite: 'true' });
      expect(new Set(removedBy(all))).toEqual(new Set(['runs/by-hand/', 'runs/laptop/', 'runs/2/']));
      await repository.commit('runs/4/index.html', 'changed by a person');
      const next = await put(repository, 'runs/5/', NIGHTLY);
      expect(next.report.notes).toContain(
        '`keep` skips folders that are not as this workflow delivered them: runs/4/',
      );
      const [, , commit] = await repository.log();
      expect(commit?.message).toContain(`\nDelivered-from: 7/1 ${NIGHTLY.name}\n`);
    });
  });

  test('with names that Jekyll skips is refused before the commit, unless `nojekyll` is set', async () => {
    const repository = await play.repository();
    const files = { ...SITE, 'dist/_static/app.js': 'one\n', 'dist/notes.md': '---\n---\n# two\n' };
    const says =
      /^check: Jekyll, .*, ignores \S+_static\/app\.js, and renders \S+notes\.md → .*`nojekyll: true`/;
    await refused(deliver(repository, {}, files), says);
    const delivered = await deliver(repository, { nojekyll: 'true' }, files);
    expectSite(delivered, `${repository.pages.url}${PATH}`, 6);
    expect((await repository.read('.nojekyll'))?.length).toBe(0);
    const note = 'with an empty .nojekyll, which ends Jekyll for the whole site';
    expect(delivered.report.notes).toContain(note);
  });

  test('at the root of the site is delivered again and withdrawn beside the file that switches Jekyll off', async () => {
    const repository = await play.repository({ owner: 'Mona', name: 'mona.github.io' });
    // URLs from the root are right there.
    const put = async (text: string): Promise<Played> => {
      const page = createPage(text).replace('<p>', '<script src="/_static/app.js"></script><p>');
      const files = { ...SITE, 'dist/index.html': page, 'dist/_static/app.js': '1' };
      const delivered = await deliver(repository, { path: './', nojekyll: 'true' }, files);
      expectSite(delivered, 'https://mona.github.io/', 5);
      return delivered;
    };
    await put('first');
    await repository.commit('theirs.txt', 'theirs');
    const { report } = await put('second');
    expect(report.site?.changes).toMatchObject({ changed: ['index.html'], removed: [] });
    await proven(withdraw(repository, { path: './' }));
    const left = await Promise.all(
      ['index.html', 'theirs.txt', '.nojekyll'].map((path) => repository.read(path)),
    );
    expect(left.map((bytes) => bytes && String(bytes))).toEqual([null, 'theirs', '']);
  });

  test('without a path goes only into the folder that the site is built from', async () => {
    const repository = await play.repository({ files: { 'docs/a.txt': 'a' }, pages: { path: '/docs' } });
    expectSite(await deliver(repository, { path: '' }), `${repository.pages.url}dist/`, 4);
    expect(await repository.read('docs/dist/index.html')).not.toBeNull();
    const { report } = await deliver(repository);
    expect(report.notReady?.hint).toBe('set `path: docs/previews/pr-12/`');
  });

  const many = Object.fromEntries(Array.from({ length: 25 }, (_, nth) => [`dist/${nth}.txt`, `${nth}\n`]));
  const TOO_MANY = /^place: .*29 changed files, and no git .* at most 20/;
  const token = `ghp_${'0123456789abcdefghijABCDEFGHIJ012345'}`;
  const hidden = { [`dist/.${token}`]: 'x' };
  const missing =
    '<!doctype html>\n<script src="app.js"></script>\n<link rel="stylesheet" href="Style.css">\n';
  const elsewhere = '<!doctype html><script type="module" src="/assets/app.js"></script>';
  test.each<[string, Record<string, string | Buffer>, object, RegExp]>([
    ['outside the workspace', {}, { file: '/etc/' }, /^check: the folder \/etc\/ is outside the workspace /],
    [
      'for a named tag, whose release takes only files,',
      {},
      { channel: 'auto', tag: 'v1' },
      /^check: a tag was named, and a GitHub release takes single files, not the folder dist\/ → .*`tar -czf site\.tar\.gz dist\/`/,
    ],
    ['with a secret in the name of a hidden file', hidden, {}, /^check: the name of a file contains/],
    [
      'with a base for another path',
      { 'dist/index.html': elsewhere },
      {},
      /^check: .*\/assets\/app\.js.* → .*set the base path of the generator to `\/play-\d+\/previews\/pr-12\/`/,
    ],
    [
      'without a file that its page loads',
      { 'dist/index.html': missing },
      {},
      /^check: .*index\.html line 2: .*app\.js.*; index\.html line 3: .*Style\.css/,
    ],
    ['with 25 more files, and no git', many, {}, TOO_MANY],
    ['with 25 more files, and no git, in a dry run', many, { 'dry-run': 'true' }, TOO_MANY],
  ])('%s is refused before anything is written', async (_, more, given, says) => {
    const played = await refused(deliver(await play.repository(), given, { ...SITE, ...more }), says);
    expect(writesOf(played)).toEqual([]);
    expect(JSON.stringify([played.report, played.log])).not.toContain(token);
  });
});

describe('links and hidden names', () => {
  const DEFAULTS = {
    'dist/index.html': createPage(),
    'dist/.well-known/security.txt': 'Contact: x\n',
    'dist/.env': 'left out\n',
    'dist/.store/lib/app.js': 'document.title = 1;\n',
    'out/.report/page.html': createPage('report'),
    'out/.report/.env': 'left out\n',
  };
  const linked = async (links: Readonly<Record<string, string>>) => {
    const folder = await temporaryFolder();
    await writeFiles(folder, DEFAULTS);
    for (const [path, target] of Object.entries(links)) await symlink(target, join(folder, path));
    return { folder, allowedRoots: [folder] };
  };

  test('a folder is delivered with `.well-known/`, and with the files that its links lead to', async () => {
    const repository = await play.repository();
    const links = { 'dist/lib': '.store/lib', 'dist/home.html': 'index.html', 'dist/app.js': 'lib/app.js' };
    const around = await linked(links);
    const put = (more: object) => play.deliver({ repository, inputs: { ...inputs, ...more }, around });
    const hint = /ignores .*\.well-known\/security\.txt → set `nojekyll: true`/;
    await refused(put({}), hint);
    const { report } = await proven(put({ nojekyll: 'true' }));
    expect(report.site).toMatchObject({ count: 5, leftOut: ['.env', '.store/'] });
    const files = ['.well-known/security.txt', 'lib/app.js', 'home.html', 'app.js', '.env'];
    const found = await Promise.all(files.map(async (name) => `${await repository.read(PATH + name)}`));
    const script = DEFAULTS['dist/.store/lib/app.js'];
    expect(found).toEqual(['Contact: x\n', script, createPage(), script, 'null']);
  });

  test('a line that names a hidden folder finds the files in it', async () => {
    const repository = await play.repository();
    const around = await linked({ 'out/.report/latest.html': 'page.html' });
    const named = { ...inputs, file: 'out/.report/*' };
    const { reports } = await play.deliver({ repository, inputs: named, around });
    expect(reports.map(({ notReady, url }) => [notReady, url])).toEqual(
      ['latest.html', 'page.html'].map((name) => [null, `${repository.pages.url}${PATH}${name}`]),
    );
  });
});

describe('a line that begins with !', () => {
  const PARTS = {
    'dist/index.html': createPage(),
    'dist/a/b.txt': 'b',
    'dist/a/b.json': '{}',
    'dist/drafts/d.html': createPage('draft'),
  };
  const listBelow = async (repository: TestRepository): Promise<readonly string[]> => {
    const names = Object.keys(PARTS).map((name) => name.replace('dist/', ''));
    const found = await Promise.all(names.map((name) => repository.read(PATH + name)));
    return names.filter((_, nth) => found[nth] !== null);
  };
  const ALL = ['index.html', 'a/b.txt', 'a/b.json', 'drafts/d.html'];
  const NO_DRAFTS = ALL.slice(0, 3);
  const run = (repository: TestRepository, file: string, more: object = {}) =>
    play.deliver({ repository, files: PARTS, inputs: { ...inputs, file, ...more } });

  test.each<[string, string, readonly string[]]>([
    ['a folder', 'dist/\n!dist/drafts/**', NO_DRAFTS],
    ['a folder, with a slash', 'dist/\n!dist/drafts/', NO_DRAFTS],
    ['a folder without slashes', 'dist\n!dist/drafts', NO_DRAFTS],
    ['a folder, before it', '!dist/drafts/**\ndist/', NO_DRAFTS],
    ['a folder, by two lines', 'dist/\n!dist/**/*.json\n!**/drafts', ['index.html', 'a/b.txt']],
    ['a pattern', 'dist/**\n!dist/drafts', NO_DRAFTS],
    ['a pattern, before it', '!dist/drafts/**\ndist/**', NO_DRAFTS],
    ['named files', 'dist/index.html\ndist/drafts/d.html\n!dist/drafts/*', ['index.html']],
  ])('excludes files from %s and from its withdrawal', async (_, file, expected) => {
    const repository = await play.repository();
    const { report } = await proven(run(repository, file));
    expect(await listBelow(repository)).toEqual(expected);
    const isFolder = report.site !== null;
    if (isFolder) expect(report.site?.leftOut).toContain('drafts/');
    if (isFolder) expect(report.lines.CODE).toContain('left out: ');
    // Another step's delivery in it stays too.
    const others = ALL.filter((name) => !expected.includes(name));
    for (const name of others) await run(repository, `dist/${name}`, { path: PATH + name });
    const withdrawn = await proven(run(repository, file, { operation: 'withdraw' }));
    expect(await listBelow(repository)).toEqual(others);
    if (isFolder) {
      expect(withdrawn.report.notes).toContainEqual(
        expect.stringMatching(/^excluded, so still there: .*drafts\/d\.html/),
      );
    }
    for (const name of others) await proven(withdraw(repository, { path: PATH + name }));
  });

  test('excludes a deleted local folder from a withdrawal', async () => {
    const repository = await play.repository();
    await proven(run(repository, 'dist/'));
    const { report } = await proven(withdraw(repository, { file: 'dist/\n!dist/drafts/**' }));
    expect(report.lines.CLAIM).toContain('is removed in part: nothing of that part is served');
    expect(await listBelow(repository)).toEqual(['drafts/d.html']);
  });

  test('excludes files from a release and from its withdrawal', async () => {
    const repository = await play.repository();
    const file = 'dist/a/b.txt\ndist/**/*.json\ndist/drafts/d.html\n!dist/drafts';
    const onRelease = { channel: 'K2', path: '', tag: 'v1' };
    const { reports } = await proven(run(repository, file, onRelease));
    expect(reports.map((one) => one.file?.path)).toEqual(['dist/a/b.txt', 'dist/a/b.json']);
    const withdrawn = await proven(run(repository, file, { ...onRelease, operation: 'withdraw' }));
    expect(withdrawn.reports).toHaveLength(2);
  });

  const secret = { 'dist/drafts/key.txt': `token=ghp_${'x7Kq2mZ9'.repeat(4)}aBcD` };
  test('excludes what would be refused: links and secrets', async () => {
    const repository = await play.repository();
    const folder = await temporaryFolder();
    await writeFiles(folder, { ...PARTS, ...secret });
    await symlink('/etc/hostname', join(folder, 'dist/drafts/link.html'));
    await symlink('/etc/hostname', join(folder, 'dist/link.html'));
    const around = { folder, allowedRoots: [folder] };
    const put = (file: string) => play.deliver({ repository, inputs: { ...inputs, file }, around });
    await refused(put('dist/\n!dist/drafts/'), /link\.html is a symbolic link/);
    await proven(put('dist/\n!dist/drafts/\n!dist/link.html'));
  });

  test('lets a growing folder be refused, unless it grows in an excluded part', async () => {
    const folder = await temporaryFolder();
    await writeFiles(folder, PARTS);
    play.meanwhile({ method: 'GET', url: /\/pages$/ }, () =>
      writeFiles(folder, { 'dist/drafts/late.html': 'x' }),
    );
    const around = { folder, allowedRoots: [folder] };
    await proven(play.deliver({ inputs: { ...inputs, file: 'dist/\n!dist/drafts' }, around }));
  });

  test.each<[string, string, RegExp]>([
    ['a name without its folder', 'dist/**\n!d.html', /^check: the line !d\.html does not .*`!\*\*\/name`/],
    [
      'all that is in a folder',
      'dist/\n!dist/*',
      /^check: the folder dist\/ contains no files to deliver → .*`!`/,
    ],
    ['the entry', 'dist/\n!dist/*.html', /^check: the folder dist\/ has no page index\.html →/],
  ])('that excludes %s is refused', async (_, file, says) => {
    await refused(run(await play.repository(), file), says);
  });
});

describe('withdrawing a folder', () => {
  const openPull = async () => {
    const repository = await play.repository();
    await repository.issues.openPullRequest('a change', 'feature');
    const { fullName, owner, name: repo } = repository;
    const head = { sha: 'c0ffee0123456789', repo: { full_name: fullName } };
    const pull_request = { number: 1, head, base: { repo: { full_name: fullName } } };
    return { repository, run: { ...runOf({ pull_request }), repository: { owner, repo } } };
  };

  test.each([
    ['keeps the link if its page stays', '!dist/index.html', true],
    ['loses the link if its page was removed', '!dist/empty.txt', false],
  ])('in part is noted in the comment, which %s', async (_, line, isLinked) => {
    const { repository, run } = await openPull();
    const given = { ...inputs, comment: 'true' };
    await proven(play.deliver({ repository, files: SITE, run, inputs: given }));
    for (const verb of ['withdrawn in part', 'nothing to withdraw']) {
      const part = { ...withdrawal, file: `dist/\n${line}`, comment: 'true' };
      await proven(play.deliver({ repository, run, inputs: part }));
      const [{ body = '' } = {}] = await repository.issues.comments(1);
      expect(body).toMatch(new RegExp(`^### \\S+ Preview ${verb}: `, 'm'));
      expect(body).toContain('excluded, so still there');
      expect(body.includes(`](<${repository.pages.url}${PATH}>)`)).toBe(isLinked);
    }
    await proven(play.deliver({ repository, run, inputs: { ...withdrawal, comment: 'true' } }));
    const [{ body = '' } = {}] = await repository.issues.comments(1);
    expect(body).toContain('Preview withdrawn: ');
    expect(body).not.toContain(`](<${repository.pages.url}`);
  });

  test("in part is noted in the comment if a person's file stays", async () => {
    const { repository, run } = await openPull();
    await proven(play.deliver({ repository, files: SITE, run, inputs: { ...inputs, comment: 'true' } }));
    await repository.commit(`${PATH}new.html`, createPage('theirs'));
    await proven(play.deliver({ repository, run, inputs: { ...withdrawal, comment: 'true' } }));
    const [{ body = '' } = {}] = await repository.issues.comments(1);
    expect(body).toContain('Preview withdrawn in part: ');
    expect(body).toMatch(/Note:\*\* still there, because somebody changed it since.*new\.html/);
  });

  test("keeps the comment's link to another workflow's page, which stays", async () => {
    const { repository, run } = await openPull();
    await proven(deliver(repository));
    const around = { deliverer: { name: 'octo/site/.github/workflows/other.yml', run: '1/1' } };
    const given = { channel: 'K1', path: PATH, comment: 'true' };
    const files = { 'other.html': createPage() };
    await proven(play.deliver({ repository, files, run, inputs: given, around }));
    await proven(play.deliver({ repository, run, inputs: { ...withdrawal, comment: 'true' } }));
    const [{ body = '' } = {}] = await repository.issues.comments(1);
    expect(body).toContain('Preview withdrawn: ');
    expect(body).toContain(`](<${repository.pages.url}${PATH}other.html>)`);
  });

  test("with `overwrite` doesn't name a delivery that a `!` line keeps", async () => {
    const repository = await play.repository();
    for (const path of [PATH, `${PATH}q/`]) {
      await proven(play.deliver({ repository, files: SITE, inputs: { ...inputs, path } }));
    }
    await repository.commit(`${PATH}q/index.html`, createPage('theirs'));
    const part = { ...withdrawal, file: 'dist/\n!dist/q', overwrite: 'true' };
    const { report } = await proven(play.deliver({ repository, inputs: part }));
    expect(report.notes.join()).not.toMatch(/of 2 sites/);
    const [{ message = '' } = {}] = await repository.log();
    expect(message).toMatch(new RegExp(`^Removed(?:-from)?: ${PATH}$`, 'm'));
    expect(message).not.toContain(`${PATH}q/`);
  });

  test('below another folder in one commit updates the comments on its sites', async () => {
    const { repository, run } = await openPull();
    for (const path of ['previews/pr-1/', 'previews/a/deeper/pr-2/']) {
      const files = { ...SITE, 'dist/start.html': createPage() };
      const given = { ...inputs, path, comment: 'true', entry: 'start.html' };
      await play.deliver({ repository, files, run, inputs: given });
    }
    const given = { ...withdrawal, path: 'previews/', comment: 'true' };
    const withdrawn = await play.deliver({ repository, run, inputs: given });
    expect(withdrawn.reports.map(({ notReady, unknown }) => [notReady, unknown])).toEqual([
      [null, [expect.stringMatching(/^whether caches still show it/)]],
    ]);
    expect((await repository.log())[0]?.message).toMatch(/^REMOVE previews: /);
    const comments = await repository.issues.comments(1);
    expect(comments.map(({ body }) => /🗑️ Preview withdrawn/.test(body))).toEqual([true, true]);
    expect(comments.map(({ body }) => body).join()).not.toContain('](<https://octo.github.io');
    expect(await repository.read('previews/pr-1/index.html')).toBeNull();
  });

  test('removes the site in one commit, leaves files that others added or changed, and checks that every URL answers 404', async () => {
    const repository = await play.repository();
    await deliver(repository);
    await repository.commit(`${PATH}theirs.txt`, 'theirs');
    await repository.commit(`${PATH}assets/app.js`, 'changed by hand');
    const { report } = await proven(withdraw(repository));
    expect(report.url).toBeNull();
    expect(report.lines.RESULT).toBe(`ГОТОВО, ${PATH} is removed in part`);
    expect(report.unknown.join()).not.toContain('stays');
    expect(report.notes.join()).toMatch(
      /still there, because somebody changed it since, or no known delivery contains it: .*app\.js, .*theirs\.txt/,
    );
    const [commit, ...before] = await repository.log();
    expect(before).toHaveLength(4);
    expect(commit?.message).toMatch(/^REMOVE pr-12: .*\n\n.*\nRemoved: previews\/pr-12\/$/);
    expect(await repository.read(`${PATH}index.html`)).toBeNull();
    expect(String(await repository.read(`${PATH}theirs.txt`))).toBe('theirs');
    expect(String(await repository.read(`${PATH}assets/app.js`))).toBe('changed by hand');
  });

  test.each<[string, string, readonly boolean[]]>([
    ['by its path removes all of it', '', [false, false, false]],
    ['by the delivered folder removes all of it', 'dist/', [false, false, false]],
    ['by a file in it leaves the other files', 'page.html', [false, true, true]],
    ['by a file and a folder in it leaves the other files', 'page.html\nsub/', [false, false, true]],
  ])('%s', async (_, file, left) => {
    const repository = await play.repository();
    const paths = ['page.html', 'sub/page.html', 'other.html'];
    const page = { 'page.html': createPage() };
    for (const path of paths) await deliver(repository, { file: 'page.html', path: PATH + path }, page);
    const { reports } = await proven(withdraw(repository, { file }));
    expect(reports).toHaveLength(file.split('\n').length);
    const found = await Promise.all(paths.map((path) => repository.read(PATH + path)));
    expect(found.map((one) => one !== null)).toEqual(left);
  });

  test('removes single pages too, however many files others have in it', async () => {
    const repository = await play.repository();
    await deliver(repository);
    await deliver(repository, { file: 'dist/index.html', path: `${PATH}one.html` });
    addFiles(
      repository,
      Array.from({ length: SITE_LIMITS.singleFiles + 1 }, (_, nth) => `${PATH}${nth}.txt`),
    );
    await repository.site?.whenBuilt();
    await proven(withdraw(repository, { path: 'previews/' }));
    expect(await repository.read(`${PATH}one.html`)).toBeNull();
    expect(await repository.read(`${PATH}0.txt`)).not.toBeNull();
    const { report } = await proven(withdraw(repository, { path: 'previews/' }));
    expect(report.outcome).toBe('there was nothing to remove at previews/');
  });

  test('removes nothing if older deliveries may be in it', async () => {
    const repository = await play.repository();
    await deliver(repository, { path: 'old/' });
    addCommits(repository, HISTORY_PAGES * LIST_PAGE);
    await deliver(repository);
    const says =
      /^place: \.\/ may contain more deliveries .* → withdraw each delivery in it by its own `path:`$/;
    await refused(withdraw(repository, { path: './' }), says);
    for (const path of ['old/', PATH]) await proven(withdraw(repository, { path }));
  });

  test('is refused at once if `!` lines exclude all that is in it', async () => {
    const repository = await play.repository();
    await deliver(repository);
    const played = play.deliver({
      ...{ repository, files: SITE },
      inputs: { ...withdrawal, file: 'dist/\n!dist/*' },
    });
    await refused(
      played,
      /^place: the `!` lines exclude all of .*, so nothing is left to remove → remove or /,
    );
    expect((await played).took).toBe(0);
  });

  test.each(['squashed', 'quoted'])('that somebody %s removes no file', async (how) => {
    const repository = await play.repository();
    await deliver(repository);
    const [{ message } = { message: '' }] = await repository.log();
    const theirs = how === 'quoted' ? `Notes\n\n${message}` : message;
    await repository.commit(`${PATH}index.html`, 'a person wrote this', theirs);
    await withdraw(repository);
    expect(String(await repository.read(`${PATH}index.html`))).toBe('a person wrote this');
  });
});

describe('a file that configures the whole site or the repository', () => {
  const whole = { path: './', nojekyll: 'true' };
  const allowed = { ...whole, overwrite: 'true' };

  test.each([
    ['CNAME', "it changes the site's domain"],
    ['_config.yml', 'it changes how Jekyll builds the site'],
    ['CODEOWNERS', 'it decides who must approve changes'],
  ])('is changed or removed only with `overwrite`, and named: %s', async (name, effect) => {
    const repository = await play.repository();
    const read = async (): Promise<string> => String(await repository.read(name));
    const stays = `not removed, because that needs \`overwrite\`: ${name} (${effect})`;
    const files = { ...SITE, [`dist/${name}`]: 'one' };
    const leave = `leave it out: add the line \`!\\*\\*/${name}\`, or set \`overwrite: true\``;
    const says = RegExp(`${name} would affect more than itself: ${effect} → ${leave}`);
    await refused(deliver(repository, whole, files), says);
    await proven(deliver(repository, { ...whole, file: `dist/\n!**/${name}` }, files));
    expect(await read()).toBe('null');
    await proven(deliver(repository, allowed, files));
    await proven(deliver(repository, whole, files));
    const changed = { ...files, [`dist/${name}`]: 'two' };
    await refused(
      deliver(repository, whole, changed),
      RegExp(`${name} would affect more than itself: ${effect} → `),
    );
    for (const run of [deliver, withdraw]) {
      const { report } = await proven(run(repository, whole));
      expect(report.notes).toContain(stays);
      expect(await read()).toBe('one');
    }
    expect(await repository.read('index.html')).toBeNull();
    await proven(withdraw(repository, whole));
    await proven(play.deliver({ repository, inputs: { operation: 'audit' } }));
    await proven(deliver(repository, allowed, changed));
    const { report } = await proven(deliver(repository, allowed));
    expect(report.notes).toContain(`removed too: ${name} (${effect})`);
    expect(await read()).toBe('null');
  });

  test('stays if a person put the same file there, even if it is named', async () => {
    const repository = await play.repository({ files: { CNAME: 'www.example.org' } });
    const given = { channel: 'K1', path: 'CNAME', overwrite: 'true' };
    await proven(play.deliver({ repository, files: { CNAME: 'example.com' }, inputs: given }));
    for (const path of ['CNAME', './']) {
      await refused(withdraw(repository, { path }), /CNAME would affect more than itself/);
    }
    await repository.commit('CNAME', 'www.example.org');
    await proven(deliver(repository, whole, { ...SITE, 'dist/CNAME': 'www.example.org' }));
    expect(String(await repository.read('CNAME'))).toBe('www.example.org');
  });

  test('stays if a folder would replace it, or if `keep` removes the folder around it', async () => {
    const repository = await play.repository();
    const files = { ...SITE, 'dist/CODEOWNERS': '* @octo' };
    await proven(deliver(repository, { path: 'docs/', overwrite: 'true' }, files));
    const inItsPlace = { ...SITE, 'dist/CODEOWNERS/a.txt': 'x' };
    await refused(
      deliver(repository, { path: 'docs/' }, inItsPlace),
      /a file would replace a folder.*: docs\/CODEOWNERS/,
    );
    const { report } = await proven(deliver(repository, { path: 'next/', keep: '1' }));
    expect(report.notes.join()).toMatch(/older sites removed: docs\/,not removed, .*: docs\/CODEOWNERS \(/);
    expect(String(await repository.read('docs/CODEOWNERS'))).toBe('* @octo');
    expect(await repository.read('docs/index.html')).toBeNull();
  });
});

describe('a second withdrawal, with nothing left on the branch', () => {
  const withdrawBelow = (repository: TestRepository): Promise<Played> =>
    withdraw(repository, { path: 'previews/', timeout: '30' });

  test('is not ready while the build breaks and all is still served, then checks every URL', async () => {
    const repository = await play.repository();
    await deliver(repository);
    repository.pages.builds = 'errored';
    for (const nth of ['first', 'second', 'third']) {
      const { report } = await withdrawBelow(repository);
      expect([nth, report.ready, report.notReady?.code]).toEqual([nth, false, 'BUILD_ERRORED']);
    }
    expect(await repository.pages.readLive(`${PATH}index.html`)).not.toBeNull();
    repository.pages.builds = 'normal';
    const { requests } = await proven(withdrawBelow(repository));
    expect(await repository.pages.readLive(`${PATH}index.html`)).toBeNull();
    expect(requests.join('\n')).toContain(`${PATH}assets/app.js`);
    expect(await repository.log()).toHaveLength(3);
  });

  test.each(['one.html', 'two.html'])(
    'is not ready if only %s answers 404, and no build starts',
    async (hidden) => {
      const repository = await play.repository();
      const files = { 'one.html': createPage('one'), 'two.html': createPage('two') };
      const both = { channel: 'K1', file: 'one.html\ntwo.html', timeout: '30' };
      await play.deliver({ repository, files, inputs: both });
      repository.pages.builds = 'never';
      play.alterSite(repository, hidden, { status: 404 });
      for (const _ of ['first', 'second']) {
        const { reports } = await play.deliver({ repository, inputs: { ...both, operation: 'withdraw' } });
        expect(reports.map(({ ready }) => ready)).toEqual([false, false]);
      }
    },
  );

  test('is ready at once if nothing was ever delivered', async () => {
    const repository = await play.repository();
    await deliver(repository, { path: 'docs/' });
    const { requests } = await proven(withdrawBelow(repository));
    expect(requests.filter((one) => /pages\/builds$/.test(one))).toEqual([]);
  });
});

describe('a submodule of the repository', () => {
  const REASON = /^lib is a submodule, so this branch doesn't contain its files$/;
  const page = { 'page.html': createPage() };
  const below = { 'dist/index.html': createPage(), 'dist/lib/a.html': createPage() };
  const inPlace = { 'dist/index.html': createPage(), 'dist/lib': 'text' };
  const several = Object.fromEntries([1, 2, 3].map((nth) => [`out/${nth}.html`, createPage()]));

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['a file at its path', { LICENSE: 'text' }, { file: 'LICENSE', path: 'lib' }],
    ['a file deep below it', page, { path: 'lib/a/b/page.html' }],
    ['a file below it, in a dry run', page, { path: 'lib/page.html', 'dry-run': 'true' }],
    ['several files below it', several, { file: 'out/*.html', path: 'lib/' }],
    ['a folder at its path', below, { file: 'dist/', path: 'lib/' }],
    ['a folder below it', below, { file: 'dist/', path: 'lib/site/' }],
    ['a folder with a file below it', below, { file: 'dist/', path: './' }],
    ['a folder with a file at its path', inPlace, { file: 'dist/', path: './' }],
    ['its removal', {}, { operation: 'withdraw', path: 'lib' }],
    ['the removal of a file below it', {}, { operation: 'withdraw', path: 'lib/page.html' }],
    ['the removal of everything in it', {}, { operation: 'withdraw', path: 'lib/' }],
    ['the removal of everything below it', {}, { operation: 'withdraw', path: 'lib/a/' }],
  ])('is not changed by %s', async (_, files, given) => {
    const repository = await play.repository();
    const sha = await repository.addSubmodule('lib');
    const head = await repository.head();
    for (const overwrite of ['false', 'true']) {
      const all = { channel: 'K1', overwrite, ...given };
      const { reports } = await play.deliver({ repository, files, inputs: all });
      for (const { notReady } of reports) {
        expect(notReady).toMatchObject({ code: 'NOT_OURS', reason: expect.stringMatching(REASON) });
        expect(notReady?.hint).toBe('set `path:` to a path that nothing else uses');
      }
      expect(await repository.entry('lib')).toBe(`160000 ${sha}`);
      expect(await repository.head()).toBe(head);
    }
  });

  test('stays in the folder of a site that is delivered, pruned and withdrawn, and is named', async () => {
    const repository = await play.repository();
    const entry = `160000 ${await repository.addSubmodule(`${PATH}lib`)}`;
    expect((await deliver(repository)).report.site?.changes?.kept).toEqual(['lib']);
    const second = await deliver(repository, {}, { 'dist/index.html': createPage('second') });
    expect(second.report.site?.changes).toMatchObject({ kept: ['lib'] });
    expect(second.report.site?.changes?.removed).toContain('empty.txt');
    expect(await repository.entry(`${PATH}lib`)).toBe(entry);
    const withdrawn = await withdraw(repository, { overwrite: 'true' });
    expect(withdrawn.report.notes.join()).toMatch(/still there, because .*lib/);
    expect(await repository.entry(`${PATH}lib`)).toBe(entry);
    expect(await repository.read(`${PATH}index.html`)).toBeNull();
  });

  test('keeps an older site from being removed by `keep`', async () => {
    const repository = await play.repository();
    await deliver(repository, { path: 'runs/1/', keep: '1' });
    const entry = `160000 ${await repository.addSubmodule('runs/1/lib')}`;
    const { report } = await deliver(repository, { path: 'runs/2/', keep: '1' });
    expect(report.site?.changes?.removedFolders).toEqual([]);
    expect(await repository.entry('runs/1/lib')).toBe(entry);
  });
});
