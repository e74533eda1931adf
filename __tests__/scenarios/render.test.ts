import { describe, expect, test } from '@jest/globals';
import { readJobRuntime } from '../../src/channels/pages/deploy/job-runtime.ts';
import type { RawInputs } from '../../src/request/inputs.ts';
import type { TestRepository } from '../world/repository.ts';
import type { BufferedReply } from '../world/server/interceptions.ts';
import { type PlayedDelivery, proven, refused, setUpPlay, writesOf } from './play.ts';

const play = setUpPlay();
const NOTE = '# Report\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n**marker-42**\n';
const NEWER = NOTE.replace('marker-42', 'marker-43');

/** A site that Jekyll does not build. */
const plainSite = () => play.repository({ files: { '.nojekyll': '', 'index.html': 'x', 'theirs.txt': 'b' } });

const deliver = async (
  files: PlayedDelivery['files'],
  inputs: Partial<RawInputs> = {},
  more: Omit<PlayedDelivery, 'files' | 'inputs'> = {},
) =>
  play.deliver({
    repository: await plainSite(),
    files: files ?? {},
    inputs: { render: 'true', ...inputs },
    ...more,
  });

const readText = async (repository: TestRepository, path: string): Promise<string | undefined> =>
  (await repository.read(path))?.toString();

describe('render: true', () => {
  test('delivers a page and its source in one commit, and proves both', async () => {
    const repository = await plainSite();
    const commits = (await repository.log()).length;
    const played = await proven(deliver({ 'report.md': NOTE }, { marker: 'marker-42' }, { repository }));
    const { report } = played;
    expect(report).toMatchObject({ url: `${repository.pages.url}report.md.html`, notes: [] });
    expect(await readText(repository, 'report.md')).toBe(NOTE);
    expect(await readText(repository, 'report.md.html')).toMatch(/<table .*Source: report\.md,/s);
    expect(await repository.log()).toHaveLength(commits + 1);
    expect(report.lines.CODE).toContain(`; rendered as report.md.html; sha256 ${report.file?.sha256}`);
    for (const name of ['report.md', 'report.md.html']) {
      expect(played.requests.some((one) => one.startsWith(`GET ${repository.pages.url}${name}?v=`))).toBe(
        true,
      );
    }
    const again = await proven(deliver({ 'report.md': NOTE }, {}, { repository }));
    expect(writesOf(again)).toEqual([]);
  });

  test('reports a missing picture as unknown', async () => {
    const files = { 'report.md': `${NOTE}![Chart](chart.png)\n` };
    const { report } = await proven(deliver(files, {}, { repository: await plainSite() }));
    const missing = 'line 8: the picture chart.png is missing: the file chart.png does not exist';
    expect(report.notes).toEqual([]);
    expect(report.unknown).toContain(missing);
  });

  test('is not ready if the site does not serve the source', async () => {
    const repository = await plainSite();
    play.alterSite(repository, 'report.md', { status: 404 });
    await refused(deliver({ 'report.md': NOTE }, {}, { repository }), /^verify 404: .*report\.md/);
  });

  test('a later delivery replaces both', async () => {
    const repository = await plainSite();
    await proven(deliver({ 'report.md': NOTE }, {}, { repository }));
    await proven(deliver({ 'report.md': NEWER }, {}, { repository }));
    expect(await readText(repository, 'report.md')).toBe(NEWER);
    expect(await readText(repository, 'report.md.html')).toContain('marker-43');
  });

  test('a page that is not shown is replaced by the earlier page and its source', async () => {
    const repository = await plainSite();
    await proven(deliver({ 'report.md': NOTE }, {}, { repository }));
    const hide = (real: BufferedReply): BufferedReply =>
      String(real.body).includes('marker-43') ? { status: 404 } : real;
    play.alterSite(repository, 'report.md.html', { alter: hide });
    const inputs = { 'on-failure': 'restore', timeout: '30' };
    const { report } = await deliver({ 'report.md': NEWER }, inputs, { repository });
    expect(report).toMatchObject({ ready: false, restored: { proven: true } });
    expect(await readText(repository, 'report.md')).toBe(NOTE);
    expect(await readText(repository, 'report.md.html')).toContain('marker-42');
  });

  test('a site without a branch is deployed with both', async () => {
    const repository = await play.repository({ pages: { buildType: 'workflow', built: false } });
    const job = { commit: (await repository.head()) ?? '', repository: repository.fullName };
    const around = { runtime: readJobRuntime(await play.world.actions.startJob(job)) };
    const { report } = await proven(
      deliver({ 'report.md': NOTE }, { channel: 'K1', path: './' }, { repository, around }),
    );
    expect(report.url).toBe(`${repository.pages.url}report.md.html`);
    expect(String(await repository.pages.readLive('report.md'))).toBe(NOTE);
    expect(String(await repository.pages.readLive('report.md.html'))).toContain('marker-42');
  });

  test('a later delivery removes the earlier source, and may take its path', async () => {
    const repository = await plainSite();
    const files = { 'a.md': NOTE, 'b.md': NOTE, 'other/b.md': NEWER };
    const place = { path: 'docs/out.html' };
    await proven(deliver(files, { file: 'a.md', ...place }, { repository }));
    await proven(deliver(files, { file: 'b.md', ...place }, { repository }));
    expect([await repository.read('docs/a.md'), await readText(repository, 'docs/b.md')]).toEqual([
      null,
      NOTE,
    ]);
    const plain = { render: 'false', file: 'other/b.md', path: 'docs/b.md' };
    await proven(deliver(files, plain, { repository }));
    expect(await readText(repository, 'docs/b.md')).toBe(NEWER);
    // The page has lost its source, and is withdrawn alone.
    const removal = { operation: 'withdraw', file: '', render: 'false', path: 'docs/out.html' };
    await proven(deliver({}, removal, { repository }));
    expect(await readText(repository, 'docs/b.md')).toBe(NEWER);
  });

  test.each<[string, (url: string) => Partial<RawInputs>]>([
    ['the file', () => ({ file: 'report.md' })],
    ["the file's name", () => ({ file: 'report.md', render: 'false' })],
    ["the page's path", () => ({ path: 'report.md.html', render: 'false' })],
    ["the source's path", () => ({ path: 'report.md', render: 'false' })],
    ["the page's URL", (url) => ({ url })],
    ["the source's URL", (url) => ({ url: url.replace('.html', '') })],
  ])('a withdrawal removes both by %s', async (_, inputs) => {
    const repository = await plainSite();
    const { report } = await proven(deliver({ 'report.md': NOTE }, {}, { repository }));
    const given = { operation: 'withdraw', channel: 'K1', file: '', ...inputs(report.url ?? '') };
    const { report: withdrawn, requests } = await proven(deliver({}, given, { repository }));
    expect(withdrawn.result).toBe('withdrawn');
    for (const name of ['report.md', 'report.md.html']) {
      expect(await repository.read(name)).toBeNull();
      expect(requests.some((one) => one.startsWith(`GET ${repository.pages.url}${name}?v=`))).toBe(true);
    }
  });

  test('a withdrawal by the path of a source that no browser shows checks the page as well', async () => {
    const repository = await plainSite();
    const { report } = await proven(deliver({ 'data.csv': 'a,b\n1,2\n' }, {}, { repository }));
    const removal = { operation: 'withdraw', file: '', path: 'data.csv', render: 'false' };
    const withdrawn = await proven(deliver({}, removal, { repository }));
    expect(withdrawn.report).toMatchObject({
      withdrawn: report.url,
      gone: [report.url, `${repository.pages.url}data.csv`],
    });
  });

  test.each<[string, Partial<RawInputs>, readonly string[]]>([
    ['a path', { path: 'docs/out.html' }, ['docs/out.html', 'docs/report.md']],
    ['a folder', { path: 'docs/' }, ['docs/report.md.html', 'docs/report.md']],
    ['several files', { file: 'report.md\na/**' }, ['report.md.html', 'report.md', 'a/b.md.html', 'a/b.md']],
  ])('puts the source beside the page: %s', async (_, inputs, paths) => {
    const { repository } = await proven(deliver({ 'report.md': NOTE, 'a/b.md': NOTE }, inputs));
    for (const path of paths) expect(await repository.read(path)).not.toBeNull();
  });

  test.each<[string, Partial<RawInputs>]>([
    ['a release', { channel: 'K2', tag: 'v1' }],
    ['a file-bin', { channel: 'K3', token: '', bin: 'my-own-bin-7' }],
  ])('delivers the page alone to %s, and withdraws it', async (_, inputs) => {
    const repository = await plainSite();
    const files = { 'report.md': NOTE };
    const { report } = await proven(deliver(files, inputs, { repository }));
    expect(report.url).toMatch(/\/report\.md\.html$/);
    const stored = [
      ...repository.releases().flatMap(({ assets }) => assets.map(({ name }) => name)),
      ...[...play.world.filebin.bins.values()].flatMap((bin) => [...bin.files.keys()]),
    ];
    expect(stored).toEqual(['report.md.html']);
    const removal = { ...inputs, operation: 'withdraw', overwrite: 'true' };
    const { report: withdrawn } = await proven(deliver(files, removal, { repository }));
    expect(withdrawn.withdrawn).toBe(report.url);
  });

  test('audits both', async () => {
    const repository = await plainSite();
    await proven(deliver({ 'report.md': NOTE }, {}, { repository }));
    const audit = () =>
      deliver({}, { operation: 'audit', channel: 'K1', file: '', render: 'false' }, { repository });
    expect((await proven(audit())).report).toMatchObject({
      subject: 'report.md.html',
      verdict: 'as-delivered',
    });
    await repository.commit('report.md', 'changed');
    expect((await audit()).report.verdict).toBe('changed');
  });

  test.each<[string, Record<string, string>, Partial<RawInputs>, RegExp]>([
    [
      'a drawing',
      { 'a.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>' },
      { file: 'a.svg' },
      /^a\.svg was not rendered: this type is shown as it is$/,
    ],
    [
      'a folder',
      { 'dist/index.html': '<!doctype html><p>x</p>' },
      { file: 'dist/' },
      /^the folder was delivered as it is/,
    ],
  ])('delivers %s as it is, with a note', async (_, files, inputs, note) => {
    const { report } = await proven(deliver(files, inputs));
    expect(report.notes).toContainEqual(expect.stringMatching(note));
  });

  test.each<[string, string, string, Partial<PlayedDelivery>]>([
    ['Markdown', 'report.md', NOTE, {}],
    ['Markdown of agents', 'report.markdown', NOTE, { around: { soleDeliverer: 'agents' } }],
    ['a README, which may become the index', 'README.md', NOTE, {}],
    ['front matter', 'data.csv', '---\n---\na,b\n', {}],
  ])('a site that Jekyll builds gets the page without its source: %s', async (_, name, text, more) => {
    const repository = await play.repository({ files: { 'docs/x.txt': 'x' } });
    const place = { path: 'docs/' };
    const { report } = await proven(deliver({ [name]: text }, place, { repository, ...more }));
    expect(await repository.read(`docs/${name}`)).toBeNull();
    expect(await readText(repository, `docs/${name}.html`)).not.toContain(`href="./${name}"`);
    expect(report.notes).toEqual([
      `docs/${name} is not beside the page, because Jekyll could make a page of it or change it; an empty .nojekyll on the branch, which \`nojekyll\` commits, would keep it`,
    ]);
    const removal = { ...place, operation: 'withdraw', channel: 'K1' };
    expect((await proven(deliver({ [name]: text }, removal, { repository, ...more }))).report.withdrawn).toBe(
      report.url,
    );
  });

  test('a site that Jekyll builds gets the source too with `nojekyll`, which ends Jekyll', async () => {
    const repository = await play.repository({ files: { 'docs/x.txt': 'x' } });
    const place = { path: 'docs/', nojekyll: 'true' };
    const added = 'with an empty .nojekyll, which ends Jekyll for the whole site';
    for (const text of [NOTE, NEWER]) {
      const { report } = await proven(deliver({ 'report.md': text }, place, { repository }));
      expect(report.notes.includes(added)).toBe(text === NOTE);
      expect(await readText(repository, 'docs/report.md')).toBe(text);
      expect(await readText(repository, '.nojekyll')).toBe('');
    }
    const removal = { ...place, operation: 'withdraw', channel: 'K1' };
    await proven(deliver({ 'report.md': NEWER }, removal, { repository }));
    expect(await repository.read('docs/report.md')).toBeNull();
    expect(await readText(repository, '.nojekyll')).toBe('');
  });

  test('a site that another workflow builds, perhaps with Jekyll, gets the page without Markdown', async () => {
    const repository = await play.repository({ pages: { buildType: 'workflow' } });
    await repository.commit('.github/workflows/pages.yml', 'on: workflow_dispatch');
    const token = play.world.token({ contents: 'write', pages: 'write', actions: 'write' });
    await deliver({ 'report.md': NOTE }, { 'site-workflow': 'pages.yml' }, { repository, token });
    expect(await readText(repository, 'report.md.html')).toContain('marker-42');
    expect(await repository.read('report.md')).toBeNull();
  });

  test('a delivery removes the source that an earlier one put beside the page before Jekyll', async () => {
    const repository = await plainSite();
    await proven(deliver({ 'report.md': NOTE }, {}, { repository }));
    await repository.commit('.nojekyll', null);
    await proven(deliver({ 'report.md': NEWER }, {}, { repository }));
    expect(await repository.read('report.md')).toBeNull();
  });

  test('asks for no template tags of a page that shows them on purpose', async () => {
    const { report } = await proven(deliver({ 'report.md': 'Write {{ x }} there.\n' }));
    expect(report.unknown.filter((line) => line.includes('{{'))).toEqual([]);
  });

  test('names an allowed finding of the source, even if the page leaves it out', async () => {
    const rows = Array.from({ length: 6_000 }, (_, nth) => `${nth},x`).join('\n');
    const files = { 'data.csv': `${rows}\nghp_${'x7Kq2mZ9'.repeat(4)}aBcD,y\n` };
    const { report: refusal } = await refused(deliver(files), /what looks like a secret/);
    const [, fingerprint = ''] = /fingerprint (\w+)/.exec(refusal.notReady?.reason ?? '') ?? [];
    const { report } = await proven(deliver(files, { 'allow-secret': fingerprint }));
    expect(report.unknown).toContain(
      'whether allowed findings that look like secrets are harmless: data.csv',
    );
  });

  test.each([
    ['a.log', 'ghp_x7Kq2mZ9x7Kq\u001b[0m2mZ9x7Kq\u001b[31m2mZ9x7Kq2mZ9\u001b[0maBcD'],
    ['a.md', 'ghp_x7Kq2mZ9x7Kq2mZ9**x7Kq2mZ9**x7Kq2mZ9aBcD'],
    [
      'a.ipynb',
      JSON.stringify({
        nbformat: 4,
        cells: [{ cell_type: 'raw', source: 'ghp_x7Kq2mZ9x7Kq\u001b[31m2mZ9x7Kq\u001b[0m2mZ9x7Kq2mZ9aBcD' }],
      }),
    ],
  ])(
    'refuses a secret that only the page of %s shows in one piece, unless it is allowed',
    async (name, text) => {
      const says = new RegExp(`^check: the file ${name}\\.html contains what looks like a secret`);
      const { report: refusal } = await refused(deliver({ [name]: text }), says);
      const [, fingerprint = ''] = /fingerprint (\w+)/.exec(refusal.notReady?.reason ?? '') ?? [];
      const { report } = await proven(deliver({ [name]: text }, { 'allow-secret': fingerprint }));
      expect(report.unknown).toContain(
        `whether allowed findings that look like secrets are harmless: ${name}.html`,
      );
    },
  );

  test.each([
    ['a.md', 'Tom & Jerry, "5 < 6"\n', 'Tom & Jerry, "5 < 6"', 1],
    ['a.md', 'Build **7f3a**\nis done, Build 7f3a too', 'Build 7f3a', 2],
    ['a.md', '[a](https://only-in-the-source.example)', 'only-in-the-source', 1],
    ['a.log', "It's \u001b[1;31m7f\u001b[32m3a\u001b[0m\n", "It's 7f3a", 1],
    ['a.log', 'Build \u001b[1;31m7f\u001b[32m3a\u001b[0m\n', 'Build 7f3a', 1],
  ])('takes the marker as %s shows or has it: %j', async (name, text, marker, count) => {
    const { report } = await proven(deliver({ [name]: text }, { marker }));
    expect(report.lines.TEST).toContain(`marker found: yes, ${count} ×`);
    expect(JSON.stringify(report.gates)).not.toContain('marker found: no');
  });

  test.each([
    ['a.md', '# Nightly\n\nEverything broke.\n', 'passed'],
    ['a.md', 'Everything broke.\n', 'SHA-256'],
    ['a.csv', 'a,b\n1,2\n', 'class="wide"'],
    ['a.csv', `a\n${'1\n'.repeat(5_002)}`, 'in the source'],
  ])('takes no marker that only the frame of %s has: %j', async (name, text, marker) => {
    await refused(deliver({ [name]: text }, { marker }), /^check: the expected text was not found/);
  });

  test.each([
    ['a.csv', `a\n${'1\n'.repeat(5_002)}`, '2 more rows'],
    ['a.log', 'x\n'.repeat(25_001), '1 more line'],
    ['a.py', `${' '.repeat(2_000_000)}abc`, '3 more characters'],
    ['a.json', `[${'1,'.repeat(50_001)}1]`, '3 more values'],
    [
      'a.xml',
      `<testsuite><testcase name="a"><failure>${'x'.repeat(20_002)}</failure></testcase></testsuite>`,
      '2 more characters',
    ],
  ])('reports what the page of %s leaves out (%#)', async (name, text, rest) => {
    const { report } = await proven(deliver({ [name]: text }));
    expect(report.unknown).toContain(`the page leaves out: ${rest} in the source`);
  });

  const OWN = ['Zk7pQ2vX9', 'rT4mB8', 'nL1wS6yD3'] as const;

  test.each([
    ['a.log', OWN.join('\u001b[1;31m')],
    ['a.log', `${OWN[0]}\u001b]8;;https://a.example\u0007${OWN[1]}\u001b]8;;\u0007${OWN[2]}`],
    ['a.md', `x ${OWN.join('**')} y`],
    ['a.md', `x ${OWN[0]}[${OWN[1]}](https://a.example)${OWN[2]} y`],
    [
      'a.ipynb',
      JSON.stringify({
        nbformat: 4,
        cells: [
          { cell_type: 'code', outputs: [{ output_type: 'error', traceback: [OWN.join('\u001b[31m')] }] },
        ],
      }),
    ],
    [
      'a.xml',
      `<testsuite><testcase name="a"><failure>${OWN.join('#x1B[31m')}</failure></testcase></testsuite>`,
    ],
  ])(
    "refuses the job's own credential that only the page of %s shows in one piece (%#)",
    async (name, text) => {
      const around = { secrets: [{ name: 'KEY', value: OWN.join('') }] };
      await refused(
        deliver({ [name]: text }, {}, { around }),
        new RegExp(`^check: the file ${name}\\.html contains a credential of this environment \\(KEY\\)`),
      );
    },
  );

  test.each<[string, Record<string, string | Buffer>, Partial<RawInputs>, RegExp]>([
    [
      'a path that names no page',
      { 'report.md': NOTE },
      { path: 'out.md' },
      /^check: input `path` is not the name of a page → set `path: out\.md\.html`/,
    ],
    [
      'a file that is broken',
      { 'report.md': Buffer.from([0x23, 0xff]) },
      {},
      /^check: report\.md line 1: the file is not in UTF-8/,
    ],
    [
      'a file above 20 MB',
      { 'a.log': Buffer.alloc(20 * 1_048_576 + 1, 'a\n') },
      {},
      /^check: a\.log has more than 20 MB → make it smaller/,
    ],
    [
      'a secret in the source',
      { 'report.md': `ghp_${'x7Kq2mZ9'.repeat(4)}aBcD` },
      {},
      /^check: the file report\.md contains what looks like a secret/,
    ],
    [
      'a Git LFS pointer',
      { 'report.md': `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 5\n` },
      {},
      /is a Git LFS pointer/,
    ],
    [
      'a source at a path of somebody else',
      { 'theirs.txt': 'a' },
      { path: 'a.html' },
      /^place: .*theirs\.txt already exists/,
    ],
  ])('refuses %s', async (_, files, inputs, says) => {
    await refused(deliver(files, { file: Object.keys(files)[0] ?? '', ...inputs }), says);
  });
});
