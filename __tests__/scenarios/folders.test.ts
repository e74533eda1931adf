import { describe, expect, test } from '@jest/globals';
import { listUnproven } from './expect-report.ts';
import { createPage, type DeliveredStep, listRequests, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();

const SITE = {
  'dist/index.html': createPage(),
  'dist/assets/app.js': 'document.title = 1;\n',
  'dist/assets/style.css': 'p { color: red }\n',
  'dist/empty.txt': '',
  'dist/.hidden': 'left out\n',
};
const inputs = { channel: 'K1', file: 'dist/', path: 'previews/pr-12/' };

const expectSite = ({ report, outputs }: DeliveredStep, url: string, count: number): void => {
  expect(report.notReady).toBeNull();
  expect(outputs).toMatchObject({ result: 'ready', url });
  expect(report.lines.TEST).toContain(`files identical: ${count} of ${count}`);
};

describe('a folder', () => {
  test('is one commit, one push and one address, and every file of it is fetched back', async () => {
    const repository = await scenario.repository();
    const before = (await repository.log()).length;
    const delivered = await scenario.deliver({ repository, files: SITE, inputs });
    const url = `${repository.pages.url}previews/pr-12/`;
    expectSite(delivered, url, 4);
    expect(delivered.reports).toHaveLength(1);
    const log = await repository.log();
    expect(log).toHaveLength(before + 1);
    expect(log[0]?.message).toMatch(
      /^ADD pr-12: .+\n\nDelivered-by: screen-delivery\nDelivered-tree: [0-9a-f]{40} previews\/pr-12\/$/,
    );
    expect(await repository.read('previews/pr-12/.hidden')).toBeNull();
    expect((await scenario.fetchPublic(url)).toString()).toBe(createPage());
    expect((await scenario.fetchPublic(`${url}empty.txt`)).toString()).toBe('');
    expect(delivered.report.site).toMatchObject({
      entry: 'index.html',
      count: 4,
      leftOut: ['.hidden'],
      changes: { added: expect.any(Array), changed: [], removed: [], kept: [] },
    });
  });

  test('delivered again, writes nothing and is proven again; changed files alone are written', async () => {
    const repository = await scenario.repository();
    const url = `${repository.pages.url}previews/pr-12/`;
    expectSite(await scenario.deliver({ repository, files: SITE, inputs }), url, 4);
    const [first] = await repository.log();
    const again = await scenario.deliver({ repository, files: SITE, inputs });
    expectSite(again, url, 4);
    expect(again.report.gates[0]?.evidence).toBe(`commit ${first?.sha} already holds this site`);
    expect((await repository.log())[0]?.sha).toBe(first?.sha);

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
    const asked = listRequests(scenario, /assets\/app\.js/).map(({ url }) => new URL(url).search);
    expect(asked.at(-1)).toBe('');
    expect((await repository.log())[0]?.message).toMatch(/^UPDATE pr-12: /);
    expect(await repository.read('previews/pr-12/assets/style.css')).toBeNull();
    expect((await scenario.fetchPublic(url)).toString()).toBe(createPage('second'));
  });

  test('with more new files than are asked without ?v= is ready, and UNKNOWN says how many, also again', async () => {
    const repository = await scenario.repository();
    const many = Array.from({ length: 103 }, (_, nth) => [`dist/${nth}.txt`, `${nth}`]);
    const files = { 'dist/index.html': createPage(), ...Object.fromEntries(many) };
    for (const _ of ['written', 'found there']) {
      const delivered = await scenario.deliver({ repository, files, inputs });
      expectSite(delivered, `${repository.pages.url}previews/pr-12/`, 104);
      expect(listUnproven(delivered.report)).toBe(
        'whether a cache still answers otherwise for 3 more new or changed files, for up to ten minutes',
      );
    }
  });

  test('of which a cache still has an old file is ready, and UNKNOWN says so, also in a second run', async () => {
    const repository = await scenario.repository();
    await scenario.deliver({ repository, files: SITE, inputs });
    repository.pages.purges = false;
    const changed = { ...SITE, 'dist/assets/app.js': 'document.title = 2;\n' };
    for (const written of [true, false]) {
      const delivered = await scenario.deliver({ repository, files: changed, inputs, simulatedTime: true });
      expectSite(delivered, `${repository.pages.url}previews/pr-12/`, 4);
      expect(delivered.stdout.includes('already holds this site')).toBe(!written);
      expect(listUnproven(delivered.report)).toBe(
        'without ?v= a cache still answered older copies of 1 file; it may show them for up to 10 minutes',
      );
    }
  });

  test('leaves files of others alone, and refuses to replace one of them', async () => {
    const theirs = { 'previews/pr-12/notes.txt': 'theirs' };
    const repository = await scenario.repository({ files: theirs });
    const delivered = await scenario.deliver({ repository, files: SITE, inputs });
    expect(delivered.report.notReady).toBeNull();
    expect(delivered.report.site?.changes?.kept).toEqual(['notes.txt']);
    const next = await scenario.deliver({
      repository,
      files: { ...SITE, 'dist/notes.txt': 'ours', 'dist/index.html': createPage('second') },
      inputs,
    });
    expect(next.report.notReady).toMatchObject({
      code: 'NOT_OURS',
      reason: expect.stringContaining('notes.txt'),
    });
    expect((await repository.read('previews/pr-12/notes.txt'))?.toString()).toBe('theirs');
    expect((await repository.read('previews/pr-12/index.html'))?.toString()).toBe(createPage());
  });

  test('keeps the newest folders beside it, and removes the oldest that are wholly its own', async () => {
    const repository = await scenario.repository({ files: { 'previews/mine/index.html': 'a person' } });
    for (const number of [1, 2, 3]) {
      const path = `previews/pr-${number}/`;
      const files = { 'dist/index.html': createPage(path) };
      await scenario.deliver({ repository, files, inputs: { ...inputs, path, keep: '2' } });
    }
    expect(await repository.read('previews/pr-1/index.html')).toBeNull();
    expect(await repository.read('previews/pr-2/index.html')).not.toBeNull();
    expect(await repository.read('previews/pr-3/index.html')).not.toBeNull();
    expect((await repository.read('previews/mine/index.html'))?.toString()).toBe('a person');
  });

  test('beside another one of the same step does not remove that', async () => {
    const repository = await scenario.repository();
    await scenario.deliver({ repository, files: SITE, inputs: { ...inputs, path: 'previews/old/' } });
    const delivered = await scenario.deliver({
      repository,
      files: { 'one/index.html': createPage('one'), 'two/index.html': createPage('two') },
      inputs: { channel: 'K1', file: 'one\ntwo', path: 'previews/', keep: '1' },
    });
    expect(delivered.outputs.result).toBe('ready');
    expect(await repository.read('previews/old/index.html')).toBeNull();
    expect(await repository.read('previews/one/index.html')).not.toBeNull();
    expect(await repository.read('previews/two/index.html')).not.toBeNull();
  });

  test('with names that Jekyll leaves out is refused before the commit, unless `nojekyll` is set', async () => {
    const repository = await scenario.repository();
    const files = { ...SITE, 'dist/_static/app.js': 'one\n', 'dist/notes.md': '---\n---\n# two\n' };
    const refused = await scenario.deliver({ repository, files, inputs });
    expect(refused.report.notReady).toMatchObject({
      step: 'check',
      reason: 'Jekyll, which builds this Pages site, leaves out _static/app.js, and renders notes.md',
    });
    expect(refused.report.notReady?.hint).toContain('`nojekyll: true`');
    expect(await repository.log()).toHaveLength(1);
    const delivered = await scenario.deliver({ repository, files, inputs: { ...inputs, nojekyll: 'true' } });
    expectSite(delivered, `${repository.pages.url}previews/pr-12/`, 6);
    expect((await repository.read('.nojekyll'))?.length).toBe(0);
  });

  test('at the root of the site is delivered again and withdrawn beside the file that switches Jekyll off', async () => {
    const repository = await scenario.repository();
    const atRoot = { channel: 'K1', path: './' };
    const files = { ...SITE, 'dist/_static/app.js': 'one\n' };
    const deliver = (more: Readonly<Record<string, string>>) =>
      scenario.deliver({ repository, files: { ...files, ...more }, inputs: { ...atRoot, ...delivery } });
    const delivery = { file: 'dist', nojekyll: 'true' };
    expectSite(await deliver({}), repository.pages.url, 5);
    await repository.commit('theirs.txt', 'theirs');
    const again = await deliver({ 'dist/index.html': createPage('second') });
    expectSite(again, repository.pages.url, 5);
    expect(again.report.site?.changes).toMatchObject({ changed: ['index.html'], removed: [] });
    expect((await repository.read('.nojekyll'))?.length).toBe(0);
    const withdrawn = await scenario.deliver({ repository, inputs: { ...atRoot, operation: 'withdraw' } });
    expect(withdrawn.report.notReady).toBeNull();
    expect(await repository.read('index.html')).toBeNull();
    expect(String(await repository.read('theirs.txt'))).toBe('theirs');
    expect((await repository.read('.nojekyll'))?.length).toBe(0);
  });

  test.each(['K2', 'K3'])('is refused by %s with the command that packs it', async (channel) => {
    const repository = await scenario.repository();
    const refused = await scenario.deliver({ repository, files: SITE, inputs: { file: 'dist', channel } });
    expect(refused.report.notReady?.hint).toContain('`tar -czf dist.tar.gz dist`');
    expect(listRequests(scenario, /^POST /)).toEqual([]);
  });

  test.each(['a file', 'a folder', 'a hidden file'])(
    'with a secret in the name of %s is refused',
    async (where) => {
      const repository = await scenario.repository();
      const token = scenario.world.token();
      const foreign = `ghp_${'0123456789abcdefghijABCDEFGHIJ012345'}`;
      const name = {
        'a file': `${token}.txt`,
        'a folder': `${foreign}/a.txt`,
        'a hidden file': `.${foreign}`,
      }[where];
      const files = { ...SITE, [`dist/${name}`]: 'x\n' };
      const refused = await scenario.deliver({ repository, token, files, inputs });
      expect(refused.report.notReady).toMatchObject({
        step: 'check',
        reason: expect.stringContaining('the name of a file contains'),
      });
      expect(await repository.log()).toHaveLength(1);
      expect(JSON.stringify([refused.outputs, refused.summary])).not.toContain(foreign);
    },
  );

  test('without a path goes into what the site is built from, and nowhere else', async () => {
    const repository = await scenario.repository({ files: { 'docs/a.txt': 'a' }, pages: { path: '/docs' } });
    const delivered = await scenario.deliver({
      repository,
      files: SITE,
      inputs: { channel: 'K1', file: 'dist/' },
    });
    expectSite(delivered, `${repository.pages.url}dist/`, 4);
    expect(await repository.read('docs/dist/index.html')).not.toBeNull();
    const refused = await scenario.deliver({ repository, files: SITE, inputs });
    expect(refused.report.notReady?.hint).toBe('set `path: docs/previews/pr-12/`');
  });

  test('outside the workspace is refused without a look at its names', async () => {
    const repository = await scenario.repository();
    const refused = await scenario.deliver({ repository, inputs: { channel: 'K1', file: '/etc/' } });
    expect(refused.report.notReady?.reason).toBe('the file /etc/ is outside the workspace');
  });

  test('with a pointer of Git LFS in place of a picture is refused', async () => {
    const repository = await scenario.repository();
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12345\n`;
    const refused = await scenario.deliver({ repository, files: { ...SITE, 'dist/a.png': pointer }, inputs });
    expect(refused.report.notReady).toMatchObject({
      step: 'check',
      reason: 'the file dist/a.png is a Git LFS pointer, not the file itself',
      hint: expect.stringContaining('`lfs: true`'),
    });
    expect(await repository.log()).toHaveLength(1);
  });

  test.each(['true', 'false'])(
    'too large for a machine without git is refused (dry run: %s)',
    async (dryRun) => {
      const repository = await scenario.repository();
      const texts = Array.from({ length: 25 }, (_, nth) => [`dist/${nth}.txt`, `${nth}\n`]);
      const refused = await scenario.deliver({
        repository,
        files: { ...SITE, ...Object.fromEntries(texts) },
        inputs: { ...inputs, 'dry-run': dryRun },
        env: { PATH: repository.name },
      });
      expect(refused.outputs.result).toBe('not-ready');
      expect(refused.report.notReady?.reason).toMatch(/29 changed files, and no git .* at most 20 files/);
      expect(refused.report.unknown.join()).toContain('nothing was published');
      expect(listRequests(scenario, /^POST .*blobs/)).toEqual([]);
    },
  );

  test('costs the same few API requests with one file and with hundreds', async () => {
    const pages = Array.from({ length: 150 }, (_, nth) => [`dist/p${nth}.html`, `<p>${nth}</p>`]);
    const repository = await scenario.repository();
    const files = { 'dist/index.html': createPage(), ...Object.fromEntries(pages) };
    expectSite(
      await scenario.deliver({ repository, files, inputs }),
      `${repository.pages.url}previews/pr-12/`,
      151,
    );
    expect(listRequests(scenario, /^\w+ https:\/\/api\.github\.com/).length).toBeLessThanOrEqual(20);
  });
});

describe('withdrawing a folder', () => {
  const withdrawal = { channel: 'K1', operation: 'withdraw' };

  test('removes the site in one commit, leaves what others added, and proves every address empty', async () => {
    const repository = await scenario.repository();
    await scenario.deliver({ repository, files: SITE, inputs });
    await repository.commit('previews/pr-12/theirs.txt', 'theirs');
    await repository.commit('previews/pr-12/assets/app.js', 'changed by hand');
    const before = (await repository.log()).length;
    const path = 'previews/pr-12/';
    const withdrawn = await scenario.deliver({ repository, inputs: { ...withdrawal, path } });
    expect(withdrawn.report.notReady).toBeNull();
    expect(withdrawn.outputs).toMatchObject({ result: 'withdrawn', url: '' });
    const log = await repository.log();
    expect(log).toHaveLength(before + 1);
    expect(log[0]?.message).toMatch(/^REMOVE pr-12: /);
    expect(await repository.read('previews/pr-12/index.html')).toBeNull();
    expect(String(await repository.read('previews/pr-12/theirs.txt'))).toBe('theirs');
    expect(String(await repository.read('previews/pr-12/assets/app.js'))).toBe('changed by hand');
    expect(withdrawn.stdout).toContain('not removed: previews/pr-12/theirs.txt');
    await expect(scenario.fetchPublic(`${repository.pages.url}${path}`)).rejects.toThrow('404');
  });

  test('removes every site below it in one commit, and the comments about them say so', async () => {
    const repository = await scenario.repository();
    await repository.issues.openPullRequest('a change', 'feature');
    const repo = { full_name: repository.fullName };
    const pull_request = { number: 1, head: { sha: 'c0ffee0123456789', repo }, base: { repo } };
    const event = { name: 'pull_request', payload: { action: 'closed', pull_request, repository: repo } };
    for (const path of ['previews/pr-1/', 'previews/a/deeper/pr-2/']) {
      const files = { ...SITE, 'dist/start.html': createPage() };
      const given = { ...inputs, path, comment: 'true', entry: 'start.html' };
      await scenario.deliver({ repository, files, inputs: given, event });
    }
    const given = { ...withdrawal, path: 'previews/', comment: 'true' };
    const withdrawn = await scenario.deliver({ repository, inputs: given, event });
    expect(withdrawn.reports.map(({ notReady, unknown }) => [notReady, unknown])).toEqual([
      [null, [expect.stringMatching(/^whether caches still show it/)]],
    ]);
    expect((await repository.log())[0]?.message).toMatch(/^REMOVE previews: /);
    const comments = await repository.issues.comments(1);
    expect(comments.map(({ body }) => /\*\*Withdrawn/.test(body))).toEqual([true, true]);
    expect(comments.map(({ body }) => body).join()).not.toContain('](<https://octo.github.io');
    expect(await repository.read('previews/pr-1/index.html')).toBeNull();
    expect(await repository.read('previews/a/deeper/pr-2/index.html')).toBeNull();
  });

  test.each(['squashed', 'quoted'])('that somebody %s removes nothing of it', async (how) => {
    const repository = await scenario.repository();
    await scenario.deliver({ repository, files: SITE, inputs });
    const [delivery] = await repository.log();
    const message = how === 'quoted' ? `Notes\n\n${delivery?.message}` : (delivery?.message ?? '');
    await repository.commit('previews/pr-12/index.html', 'a person wrote this', message);
    const path = 'previews/pr-12/';
    await scenario.deliver({ repository, inputs: { ...withdrawal, path } });
    expect(String(await repository.read('previews/pr-12/index.html'))).toBe('a person wrote this');
  });
});

describe('the references of a folder', () => {
  const viteOutput = (base: string) => ({
    'dist/index.html': `<!doctype html><title>App</title><script type="module" crossorigin src="${base}assets/index-D4kf93Fa.js"></script><link rel="stylesheet" crossorigin href="${base}assets/index-B7f3kd9Z.css"><div id="app"></div>`,
    'dist/assets/index-D4kf93Fa.js': 'document.querySelector("#app").textContent = "shown";\n',
    'dist/assets/index-B7f3kd9Z.css': '#app { color: red }\n',
  });

  test('with a base for another place are refused with what to set', async () => {
    const repository = await scenario.repository();
    const refused = await scenario.deliver({ repository, files: viteOutput('/'), inputs });
    expect(refused.report.notReady).toMatchObject({ step: 'check', code: 'BAD_FILE' });
    expect(refused.report.notReady?.hint).toContain(
      `set the base path of the generator to \`/${repository.name}/previews/pr-12/\``,
    );
    expect(await repository.log()).toHaveLength(1);
    const delivered = await scenario.deliver({ repository, files: viteOutput('./'), inputs });
    expectSite(delivered, `${repository.pages.url}previews/pr-12/`, 3);
  });

  test('at the root of a site may begin with a slash', async () => {
    const repository = await scenario.repository({ owner: 'Mona', name: 'mona.github.io' });
    const atRoot = { channel: 'K1', file: 'dist', path: './' };
    const delivered = await scenario.deliver({ repository, files: viteOutput('/'), inputs: atRoot });
    expectSite(delivered, 'https://mona.github.io/', 3);
    const again = await scenario.deliver({
      repository,
      files: { ...viteOutput('/'), 'dist/more.txt': 'more' },
      inputs: atRoot,
    });
    expectSite(again, 'https://mona.github.io/', 4);
    expect(again.report.site?.changes).toMatchObject({ added: ['more.txt'], changed: [], removed: [] });
  });

  test('that are missing are refused together, before anything is written', async () => {
    const repository = await scenario.repository();
    const files = {
      'dist/index.html':
        '<!doctype html>\n<script src="app.js"></script>\n<link rel="stylesheet" href="Style.css">\n',
      'dist/style.css': '/* not the same case */',
    };
    const refused = await scenario.deliver({ repository, files, inputs });
    expect(refused.report.notReady?.reason).toMatch(
      /index\.html line 2: .*app\.js.*; index\.html line 3: .*Style\.css.*style\.css/,
    );
    expect(await repository.log()).toHaveLength(1);
  });

  test('that load later are notes', async () => {
    const repository = await scenario.repository();
    const page = createPage().replace(
      '<p>',
      '<link rel="icon" href="favicon.ico"><a href="other.html">x</a><p>',
    );
    const delivered = await scenario.deliver({ repository, files: { 'dist/index.html': page }, inputs });
    expectSite(delivered, `${repository.pages.url}previews/pr-12/`, 1);
    expect(delivered.report.notes.join('\n')).toMatch(/favicon\.ico[\s\S]*other\.html/);
  });
});
