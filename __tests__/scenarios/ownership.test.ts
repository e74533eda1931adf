import { describe, expect, test } from '@jest/globals';
import { describeOutcome } from '../../src/delivery/report.ts';
import { LARGE_CONTENT } from '../faults/delivery-kinds.ts';
import type { TestRepository } from '../world/repository.ts';
import { squashBranch } from './branch-of-others.ts';
import { type Played, proven, refused, setUpPlay, writesOf } from './play.ts';
import { createPage } from './scenario.ts';

const play = setUpPlay();
const PATH = 'previews/page.html';
const OURS = createPage('first');
const THEIRS = '<p>written by a person</p>';
const NOT_OURS = /no record shows that this tool delivered its current content(; nothing was removed)?$/;
const inputs = { channel: 'K1', path: PATH };

const deliver = (repository: TestRepository, text: string | Buffer = createPage('second'), more = {}) =>
  play.deliver({
    repository,
    files: { 'page.html': text },
    inputs: { ...inputs, 'self-contained': 'off', ...more },
  });
const withdraw = (repository: TestRepository, _: unknown = null, more = {}) =>
  play.deliver({ repository, inputs: { ...inputs, operation: 'withdraw', ...more } });

/** Delivers our page, then a person commits theirs with a message made of ours. */
const afterOurs = (messageOf: (ours: string) => string) => async (repository: TestRepository) => {
  await proven(deliver(repository, OURS));
  const [{ message } = { message: '' }] = await repository.log();
  await repository.commit(PATH, THEIRS, messageOf(message));
};

type State = readonly [state: string, make: (repository: TestRepository) => Promise<unknown>];

/** States of the path in which nothing may be changed. */
const FOREIGN: readonly State[] = [
  ['holds the file of a person', (repository) => repository.commit(PATH, THEIRS)],
  ['was amended', afterOurs((message) => message)],
  ['was squashed', afterOurs((message) => `Add previews (#12)\n\n* ${message}\n\n* fix the page`)],
  ['was cherry-picked', afterOurs((message) => `${message}\n(cherry picked from ${'a'.repeat(40)})`)],
  ['has our trailer quoted', afterOurs(() => 'Explain it\n\nDelivered-by: screen-delivery')],
  ['was changed by hand', afterOurs(() => 'Fix the page')],
];

async function expectKept(repository: TestRepository, playing: Promise<Played>) {
  const { report } = await playing;
  expect(report).toMatchObject({ ready: false, url: null, notReady: { code: 'NOT_OURS' } });
  expect(String(await repository.read(PATH))).toBe(THEIRS);
  return report.notReady;
}

describe.each(FOREIGN)('a path that %s', (_, make) => {
  test.each<[string, typeof deliver, string | Buffer, object]>([
    ['a delivery', deliver, createPage('second'), {}],
    ['a large delivery', deliver, LARGE_CONTENT, {}],
    ['a dry run', deliver, createPage('second'), { 'dry-run': 'true' }],
    ['a withdrawal', withdraw, '', {}],
  ])('is not changed by %s', async (_what, work, content, more) => {
    const repository = await play.repository();
    await make(repository);
    const head = await repository.head();
    const notReady = await expectKept(repository, work(repository, content, more));
    expect(notReady).toMatchObject({ step: 'place', reason: expect.stringMatching(NOT_OURS) });
    expect(notReady?.hint).toContain('overwrite: true');
    expect(await repository.head()).toBe(head);
  });
});

test('a file that somebody adds between our check and the write stays', async () => {
  for (const content of [createPage(), LARGE_CONTENT]) {
    const repository = await play.repository();
    play.meanwhile({ method: 'GET', url: /\/contents\/previews(\/|%2F)page\.html/ }, () =>
      repository.commit(PATH, THEIRS),
    );
    await expectKept(repository, deliver(repository, content));
  }
});

test.each([
  ['a folder at the path', `${PATH}/index.html`, /is a folder in the repo/, /path: previews\/page\.html\//],
  ['a file where its folder would be', 'previews', /previews is a file in the repository/, /`path:`/],
])('%s is refused with what to set', async (_, path, reason, hint) => {
  for (const content of [createPage(), LARGE_CONTENT]) {
    const repository = await play.repository({ files: { [path]: THEIRS } });
    const { report } = await deliver(repository, content);
    expect(report.notReady?.reason).toMatch(reason);
    expect(report.notReady?.hint).toMatch(hint);
    expect(String(await repository.read(path))).toBe(THEIRS);
  }
});

test('with `overwrite: true`, only that path is replaced and withdrawn', async () => {
  const repository = await play.repository({ files: { [PATH]: THEIRS, 'index.html': THEIRS } });
  const overwrite = { overwrite: 'true' };
  await proven(deliver(repository, OURS, overwrite));
  expect((await repository.log())[0]?.files).toEqual([PATH]);
  await repository.commit(PATH, THEIRS);
  expect((await proven(withdraw(repository, null, overwrite))).report.url).toBeNull();
  expect(await repository.read(PATH)).toBeNull();
  expect(String(await repository.read('index.html'))).toBe(THEIRS);
});

test('our own page is kept, replaced and removed, in one commit each, or none if nothing changes', async () => {
  const repository = await play.repository();
  for (const [text, commits] of [
    [OURS, 2],
    [OURS, 2],
    [createPage('second'), 3],
  ] as const) {
    const { report } = await proven(deliver(repository, text));
    expect(report.url).toBe(`${repository.pages.url}${PATH}`);
    expect(await repository.log()).toHaveLength(commits);
  }
  for (const [result, commits] of [
    [`${PATH} is removed`, 4],
    [`there was nothing to remove at ${PATH}`, 4],
  ] as const) {
    const { report } = await proven(withdraw(repository));
    expect(report.url).toBeNull();
    expect(report.lines.RESULT).toMatch(new RegExp(`^ГОТОВО, ${result}`));
    expect(report.lines.TEST).toMatch(/^HTTP 404; nothing of it is served, except perhaps by a cache/);
    expect(await repository.log()).toHaveLength(commits);
  }
  const words = (await repository.log()).map(({ message }) => message.split(' ')[0]);
  expect(words).toEqual(['REMOVE', 'UPDATE', 'ADD', 'Initial']);
});

test('a folder of single files loses only our files in one commit, and a note names what stays', async () => {
  const repository = await play.repository();
  const files = { 'out/1/page.html': createPage('1'), 'out/2/page.html': createPage('2') };
  const below = { channel: 'K1', path: 'previews/pr-12/' };
  await play.deliver({ repository, files, inputs: { ...below, file: 'out/**' } });
  await repository.commit('previews/pr-12/theirs.html', THEIRS);
  await repository.commit('previews/pr-123/page.html', THEIRS);
  const { reports } = await play.deliver({ repository, inputs: { ...below, operation: 'withdraw' } });
  expect(reports.map(({ notReady, lines }) => [notReady, lines.CLAIM.split(' ')[0]])).toEqual([
    [null, 'previews/pr-12/'],
  ]);
  expect(reports[0]?.notes.join()).toMatch(/still there, because .*theirs\.html/);
  expect((await repository.log())[0]?.files).toHaveLength(2);
  for (const path of ['previews/pr-12/theirs.html', 'previews/pr-123/page.html']) {
    expect(String(await repository.read(path))).toBe(THEIRS);
  }
});

test.each([
  ['K1', { channel: 'K1' }, /ADD page\.html/],
  ['K2', { channel: 'K2' }, /the release files-\d+ would be created/],
  ['K3', { channel: 'K3' }, /page\.html would be uploaded/],
  ['K1 with a duplicate', { channel: 'K1+K3' }, /ADD page\.html/],
  ['a withdrawal', { ...inputs, operation: 'withdraw' }, /this tool has no delivery there/],
])('a dry run of %s reports its plan, and sends no write', async (_, given, foreseen) => {
  const dry = { ...given, 'dry-run': 'true' };
  const planned = await play.deliver({ files: { 'page.html': OURS }, inputs: dry });
  expect(planned.report.result).toBe('planned');
  expect(planned.log).toMatch(foreseen);
  expect(writesOf(planned)).toEqual([]);
});

test('a file that a person removes between two pushes of a step is not ready', async () => {
  const repository = await play.repository();
  const files = { 'page.html': createPage('one'), 'dist/index.html': createPage('two') };
  const put = (more = {}) =>
    play.deliver({ repository, files, inputs: { file: 'page.html\ndist/', channel: 'K1', ...more } });
  await put();
  play.meanwhile({ method: 'POST', url: /\/graphql$/ }, () =>
    repository.commit('page.html', null, 'a person removes it'),
  );
  const { reports } = await put({ nojekyll: 'true' });
  expect(await repository.read('page.html')).toBeNull();
  expect(reports.map(({ ready }) => ready)).toEqual([false, true]);
});

describe("a new page with the URL of a person's file that Jekyll renders", () => {
  const NOTES = '# Notes';
  const FRONT = `---\ntitle: x\n---\n# Front`;
  const TAKEN = /is on the branch, and Jekyll shows it at the URL of .* → .*overwrite: true/;
  const put = (repository: TestRepository, path: string, more = {}) => {
    const isFolder = path.startsWith('docs/');
    const file = isFolder ? `site/${path.slice('docs/'.length)}` : 'page.html';
    const at = isFolder ? { file: 'site/', path: 'docs/' } : { path };
    const files = { 'site/index.html': createPage('site'), [file]: createPage('ours') };
    return play.deliver({ repository, files, inputs: { channel: 'K1', ...at, ...more } });
  };

  test.each([
    ['notes.html', 'notes.md', NOTES],
    ['front.html', 'front.markdown', FRONT],
    ['notes.md', 'notes.html', '<p>Theirs</p>'],
    ['docs/notes.html', 'docs/notes.md', NOTES],
  ])('is refused without `overwrite`: %s beside %s', async (path, theirs, text) => {
    const repository = await play.repository({ files: { [theirs]: text } });
    await refused(put(repository, path), TAKEN);
    expect(repository.read(path)).toBeNull();
    await proven(put(repository, path, { overwrite: 'true' }));
    await proven(put(repository, path));
    expect(String(repository.read(theirs))).toBe(text);
  });

  test.each<[string, string, Record<string, string>, object]>([
    [
      "a README that the folder's index hides",
      'sub/index.html',
      { 'sub/README.md': NOTES, 'sub/index.html': OURS },
      { overwrite: 'true' },
    ],
    ['a README that replaces a missing index', 'sub/index.html', { 'sub/README.md': NOTES }, {}],
    ['a README that is not a page', 'README.html', { 'README.md': NOTES }, {}],
    ['a README of another folder', 'sub/page.html', { 'sub/README.md': NOTES }, {}],
    ['a site without Jekyll', 'notes.html', { 'notes.md': NOTES, '.nojekyll': '' }, {}],
    ['a folder that ends Jekyll', 'docs/notes.html', { 'docs/notes.md': NOTES }, { nojekyll: 'true' }],
  ])('is not refused because of %s', async (_, path, files, more) => {
    await proven(put(await play.repository({ files }), path, more));
  });

  test.each(['notes.html', 'docs/notes.html'])(
    'is published beside Markdown of this tool: %s',
    async (path) => {
      const repository = await play.repository();
      const source = path.replace('.html', '.md');
      const inputs = { channel: 'K1', file: 'notes.md', path: source };
      await proven(play.deliver({ repository, files: { 'notes.md': NOTES }, inputs }));
      await proven(put(repository, path));
    },
  );
});

describe('agents over MCP', () => {
  const site = (text: string) => ({
    'site/index.html': createPage(text),
    'site/b.html': createPage(`${text} b`),
  });
  const folder = (path: string) => ({ file: 'site/', path });
  const page = (path: string) => ({ file: 'site/b.html', path });
  const gone = (path: string) => ({ file: '', operation: 'withdraw', path });
  const asset = { file: 'site/b.html', channel: 'K2', tag: 'v1' };
  const AGENT = { soleDeliverer: 'an agent over MCP' };
  const FROM = { deliverer: { name: 'octo/site/.github/workflows/site.yml', run: '1/1' } };

  /** Plays an agent's delivery in a repository with a workflow's deliveries. */
  async function playAgent(byWorkflow: readonly object[], byAgent: object, before: readonly object[] = []) {
    const repository = await play.repository();
    await repository.commit('of-a-person.txt', 'x');
    for (const inputs of byWorkflow) {
      await proven(play.deliver({ repository, files: site('CI'), inputs, around: FROM }));
    }
    for (const inputs of before) {
      await proven(play.deliver({ repository, files: site('before'), inputs, around: AGENT }));
    }
    const head = await repository.head();
    const played = await play.deliver({ repository, files: site('agent'), inputs: byAgent, around: AGENT });
    return { played, isKept: (await repository.head()) === head };
  }

  const THERE = ' already exists .* no record shows that ';
  test.each<[string, readonly object[], object, string, (readonly object[])?]>([
    ['replace a page', [page('a/b.html')], page('a/b.html'), 'a/b.html already'],
    ['replace a part of a folder', [folder('./')], page('b.html'), 'b.html already'],
    ['replace a folder', [folder('./')], folder('./'), './ already'],
    ['add to a folder', [folder('a/')], { ...folder('a/'), prune: 'false' }, 'a/ already'],
    ['take a page into a folder', [page('a/b.html')], folder('a/'), 'a/b.html already'],
    ['remove a page', [page('a/b.html')], gone('a/b.html'), `a/b.html${THERE}`],
    ['remove a folder', [folder('a/')], gone('a/'), `a/${THERE}`],
    ['remove a part of a folder', [folder('a/')], gone('a/b.html'), `a/b.html${THERE}`],
    [
      'remove a folder around one',
      [folder('a/c/')],
      gone('a/'),
      `a/c/b.html, a/c/index.html already exist.*`,
    ],
    ['remove an asset', [asset], { ...asset, operation: 'withdraw' }, 'the asset b.html of release v1 '],
  ])("can't %s of a workflow", async (_, byWorkflow, byAgent, why, before = []) => {
    const { played, isKept } = await playAgent(byWorkflow, byAgent, before);
    const reason = expect.stringMatching(`^${why.replace(/\.(?!\*)/g, '\\.')}`);
    expect(played.report.notReady).toMatchObject({ code: 'NOT_OURS', reason });
    expect(played.report.notReady?.hint).not.toMatch(/path: |url: /);
    expect([isKept, writesOf(played)]).toEqual([true, []]);
    const forced = await playAgent(byWorkflow, { ...byAgent, overwrite: 'true' }, before);
    expect(forced.played.report.notReady).toBeNull();
  });

  test.each<[string, object, object]>([
    ['a page', page('a/b.html'), gone('a/b.html')],
    ['a folder', folder('a/'), gone('a/')],
    ['a folder around others', folder('./'), gone('./')],
    ['an asset', asset, { ...asset, operation: 'withdraw' }],
  ])('can replace and remove %s that they delivered', async (_, byAgent, removal) => {
    const isAsset = byAgent === asset;
    if (!isAsset) await proven(playAgent([], byAgent, [byAgent]).then(({ played }) => played));
    const { played } = await playAgent([], removal, [byAgent]);
    expect(played.report).toMatchObject({ notReady: null });
    expect(played.report.wasAbsent).not.toBe(true);
    expect(String(await played.repository.read('of-a-person.txt'))).toBe('x');
  });

  test.each([
    ['by its URL', (url: string) => ({ file: '', operation: 'withdraw', url })],
    ['by its path', () => gone('a/')],
  ])(
    'can remove their folder %s, and what a workflow delivered in it stays and is named',
    async (_, removal) => {
      const repository = await play.repository();
      const run = (inputs: object, around: object) =>
        proven(play.deliver({ repository, files: site('agent'), inputs, around }));
      const { report } = await run(folder('a/'), AGENT);
      await run(folder('a/pr-1/'), FROM);
      await run(page('a/c.html'), FROM);
      const withdrawn = await run(removal(report.url ?? ''), AGENT);
      expect(withdrawn.report.notes).toContainEqual(
        expect.stringMatching(/^still there, because .*: a\/pr-1\/, a\/c\.html$/),
      );
      const paths = ['a/index.html', 'a/b.html', 'a/c.html', 'a/pr-1/index.html'];
      expect(paths.map((path) => repository.entry(path) !== null)).toEqual([false, false, true, true]);
    },
  );

  test.each([
    ['deliver', page('a/b.html')],
    ['withdraw', gone('a/b.html')],
  ])('learn that a file came with their own folder, if they %s it alone', async (verb, inputs) => {
    const { played, isKept } = await playAgent([], inputs, [folder('a/')]);
    expect([isKept, played.report.notReady]).toMatchObject([
      true,
      {
        code: 'NOT_OURS',
        reason: expect.stringContaining('it came with the folder a/ that was delivered as a whole'),
        hint: expect.stringContaining(`${verb} the folder a/`),
      },
    ]);
  });

  test('can remove a folder with all that agents delivered below it, from any workflow', async () => {
    const repository = await play.repository();
    const run = (inputs: object, around: object) =>
      proven(play.deliver({ repository, files: site('agent'), inputs, around }));
    await run(folder('a/'), AGENT);
    await run(folder('a/c/'), { ...AGENT, ...FROM });
    await run(gone('a/'), AGENT);
    expect(repository.read('a/c/index.html')).toBeNull();
  });

  test("can't choose the URL by front matter, even with a marker", async () => {
    const repository = await play.repository();
    const text = '---\npermalink: /index.html\n---\n<!doctype html><p>marker-42 {{ site.pages }}</p>\n';
    const inputs = { channel: 'K1', file: 'fm.html', path: 'a/fm.html', marker: 'marker-42' };
    const delivery = play.deliver({ repository, files: { 'fm.html': text }, inputs, around: AGENT });
    const { report } = await refused(
      delivery,
      /^check: Jekyll, .* renders a\/fm\.html → .*an \.html file without front matter/,
    );
    expect(report.notReady?.hint).not.toContain('marker');
  });

  test('`keep` counts the deliveries of one owner', async () => {
    const { played } = await playAgent([folder('p/1/'), folder('p/2/')], { ...folder('p/4/'), keep: '1' }, [
      folder('p/3/'),
    ]);
    const there = ['p/1/', 'p/2/', 'p/3/', 'p/4/'].map((one) => played.repository.read(`${one}index.html`));
    expect((await Promise.all(there)).map((one) => one !== null)).toEqual([true, true, false, true]);
  });
});

describe('a folder that is withdrawn', () => {
  const files = { 'site/index.html': createPage('site'), 'site/b.txt': 'b' };
  const from = (name: string) => ({
    deliverer: { name: `octo/site/.github/workflows/${name}.yml`, run: '1/1' },
  });
  const put = (repository: TestRepository, path: string, name: string, more = {}) =>
    play.deliver({
      repository,
      files,
      inputs: { channel: 'K1', file: 'site/', path, ...more },
      around: from(name),
    });
  const take = (repository: TestRepository, path: string, more = {}) =>
    put(repository, path, 'site', { file: '', operation: 'withdraw', ...more });

  test('keeps and names what another workflow delivered in it', async () => {
    const repository = await play.repository();
    await proven(put(repository, 'reports/', 'site'));
    await proven(put(repository, 'reports/pr-1/', 'preview'));
    const { report } = await proven(take(repository, 'reports/'));
    expect(report.notes).toContain('still there, because somebody else delivered it: reports/pr-1/');
    expect([repository.read('reports/b.txt'), repository.read('reports/pr-1/b.txt')?.toString()]).toEqual([
      null,
      'b',
    ]);
    await proven(take(repository, 'reports/', { overwrite: 'true' }));
    expect(repository.read('reports/pr-1/b.txt')).toBeNull();
  });

  test("does not count as withdrawn while a person's page opens there", async () => {
    const repository = await play.repository();
    await proven(put(repository, 'p/', 'site'));
    await repository.commit('p/index.html', THEIRS);
    const head = await repository.head();
    await refused(take(repository, 'p/'), /^place: somebody changed p\/index\.html, so it would still open/);
    expect(await repository.head()).toBe(head);
    // Nor if it is the page of a folder below.
    await proven(put(repository, 'q/one/', 'site'));
    await repository.commit('q/one/index.html', THEIRS);
    await refused(take(repository, 'q/'), /^place: somebody changed q\/one\/index\.html/);
    // Nor if it has another name: only announced URLs count.
    const more = { 'site/a.html': createPage('a'), 'site/start.html': createPage('start') };
    const entry = { file: 'site/', path: 'r/', entry: 'start.html' };
    await proven(
      play.deliver({ repository, files: { ...files, ...more }, inputs: entry, around: from('site') }),
    );
    await repository.commit('r/index.html', THEIRS);
    const audited = await play.deliver({ repository, inputs: { operation: 'audit', path: 'r/' } });
    expect(audited.report.gates[1]?.evidence).toBe(`${repository.pages.url}r/start.html`);
    const { report } = await proven(take(repository, 'r/'));
    expect(report.notes.join()).toMatch(/still there, because .*: r\/index\.html/);
    await proven(take(repository, 'p/', { overwrite: 'true' }));
  });
});

describe('a delivery from before the branch was squashed', () => {
  const site = (text: string) => ({ 'site/index.html': createPage(text), 'site/b.txt': 'b' });

  test.each([
    ['a folder', { file: 'site/', path: 'p/' }, 'first'],
    ['a folder with other content', { file: 'site/', path: 'p/' }, 'second'],
    ['all of the site', { file: 'site/', path: './' }, 'first'],
    ['a page', { file: 'site/index.html', path: 'p/index.html' }, 'first'],
    ['a page with other content', { file: 'site/index.html', path: 'p/index.html' }, 'second'],
  ])('is refused, and replaced as a whole with `overwrite: true`: %s', async (_, place, text) => {
    const repository = await play.repository();
    const put = (content: string, more = {}) =>
      play.deliver({ repository, files: site(content), inputs: { channel: 'K1', ...place, ...more } });
    const take = () =>
      play.deliver({ repository, inputs: { channel: 'K1', path: place.path, operation: 'withdraw' } });
    await proven(put('first'));
    squashBranch(repository);
    const says = (way: string) =>
      RegExp(
        `^place: .*the branch's history begins with .*rewritten.*, so it is unknown who delivered it.* → ${way}`,
      );
    const once = 'or set `overwrite: true` once';
    await refused(put('third'), says(`set \`path:\` to a path that nothing else uses, ${once}`));
    const taken = place.path === './' ? 'or set `overwrite: true` to deliver it once, and withdraw it' : once;
    await refused(take(), says(`leave it there, ${taken}`));
    await proven(put(text, { overwrite: 'true' }));
    const head = repository.head();
    await proven(put(text, { overwrite: 'true' }));
    expect(repository.head()).toBe(head);
    await proven(put('third'));
    squashBranch(repository);
    await proven(put('third', { overwrite: 'true' }));
    const { report } = await proven(take());
    expect(report.wasAbsent).not.toBe(true);
    if (place.path === './') {
      await proven(put('third', { overwrite: 'true' }));
      await repository.commit('index.html', 'of a person');
      await refused(
        take(),
        /somebody changed index\.html.* → leave it there, or set `overwrite: true` to deliver it once, and withdraw/,
      );
      await proven(put('third', { overwrite: 'true' }));
      await proven(take());
    }
    const left = repository.git.listTree(repository.head() ?? '', { recursive: true });
    expect(left.filter(({ path }) => /index|b\.txt/.test(path))).toEqual([]);
  });

  test.each([{}, { overwrite: 'true' }])(
    'is named if `keep` or an unchanged folder leaves it: %j',
    async (more) => {
      const repository = await play.repository();
      const put = (nth: number, given = {}) => {
        const inputs = { channel: 'K1', file: 'site/', path: `p/${nth}/`, keep: '2', ...given };
        return proven(play.deliver({ repository, files: site('first'), inputs }));
      };
      for (const nth of [1, 2]) await put(nth);
      squashBranch(repository);
      const same = await put(2, { keep: '' });
      expect(same.report.notes).toContain(
        'kept, because no known delivery to this folder contains it: b.txt, index.html',
      );
      const { report } = await put(3, more);
      expect(report.notes).toContain(
        '`keep` skips folders that are not as this workflow delivered them: p/1/, p/2/',
      );
    },
  );
});

test('a public duplicate is named if K1 publishes nothing', async () => {
  const repository = await play.repository();
  await repository.commit('page.html', 'theirs', 'Add a page');
  const inputs = { channel: 'K1+K3', 'allow-public-bin': 'true' };
  const files = { 'page.html': createPage() };
  const { report } = await play.deliver({ repository, files, inputs });
  const { CLAIM, UNKNOWN } = report.lines;
  expect(CLAIM).toMatch(/isn't verified on K1, but its duplicate on K3 is \(about 7 days/);
  expect(UNKNOWN).toBe('nothing was published through K1');
  const copy = report.duplicates[0]?.url;
  expect([report.ready, copy]).toEqual([false, expect.stringContaining('filebin')]);
  expect(describeOutcome(report)).toMatch(/^Not ready: .* already exists /);
  expect(describeOutcome(report)).toContain(`. Verified copy (file-bin): ${copy}`);
});
