import { describe, expect, test } from '@jest/globals';
import type { TestRepository } from '../world/repository.ts';
import { squashBranch } from './branch-of-others.ts';
import { type PlayedDelivery, proven, setUpPlay } from './play.ts';
import { createPage } from './scenario.ts';

const play = setUpPlay();
const site = { 'dist/index.html': createPage(), 'dist/a.css': '' };

const withdraw = (repository: TestRepository, url: string, more: Partial<PlayedDelivery> = {}) => {
  const inputs = { file: '', operation: 'withdraw', url, ...more.inputs };
  return play.deliver({ repository, ...more, inputs });
};

describe('a delivery is withdrawn by its URL alone', () => {
  const page = { 'page.html': createPage() };
  const notes = { 'n.md': '---\ntitle: x\n---\n# marker-42\n' };

  test.each<[string, PlayedDelivery, object]>([
    ['a page', { files: page, inputs: { path: 'docs/ä b+1/page.html'.replace(' ', '-') } }, {}],
    ['a folder', { files: site, inputs: { file: 'dist/', path: 'docs/previews/1/' } }, {}],
    [
      'a folder at its own path',
      { files: site, inputs: { file: 'dist/' }, around: { defaultFolder: 'agent/1/' } },
      {},
    ],
    ['a page the site renders', { files: notes, inputs: { path: 'docs/n.md', marker: 'marker-42' } }, {}],
    ['an asset', { files: { 'a.zip': 'zip' }, inputs: { tag: 'v1', channel: 'K2' } }, {}],
    ['in a bin', { files: page, inputs: { channel: 'K3' } }, { files: page, inputs: { file: 'page.html' } }],
  ])('%s', async (_, delivery, more) => {
    const repository = await play.repository({ pages: { path: '/docs' } });
    const { report } = await proven(play.deliver({ repository, ...delivery }));
    const url = report.url ?? '';
    if (delivery.around) expect(url).toBe(`${repository.pages.url}agent/1/dist/`);
    const withdrawn = await withdraw(repository, url, more);
    expect(withdrawn.report).toMatchObject({ ready: true, withdrawn: url });
    expect(withdrawn.report.wasAbsent).not.toBe(true);
    expect(JSON.stringify(withdrawn.report.notes)).not.toContain('no effect');
    const again = await withdraw(repository, url, more);
    expect(again.report).toMatchObject({ ready: true, wasAbsent: true });
  });
});

test('a folder is withdrawn by its URL without the other deliveries in it', async () => {
  const repository = await play.repository();
  const others = { 'previews/1/in/': 'dist/', 'previews/1/x/page.html': 'page.html' };
  const files = { ...site, 'page.html': createPage() };
  const { report } = await proven(
    play.deliver({ repository, files, inputs: { file: 'dist/', path: 'previews/1/' } }),
  );
  for (const [path, file] of Object.entries(others)) {
    await proven(play.deliver({ repository, files, inputs: { file, path } }));
  }
  const { report: withdrawn } = await proven(withdraw(repository, report.url ?? ''));
  expect(withdrawn.withdrawn).toBe(report.url);
  const read = async (name: string) => (await repository.read(`previews/1/${name}`)) !== null;
  expect(await Promise.all(['index.html', 'a.css'].map(read))).toEqual([false, false]);
  expect(await Promise.all(['in/index.html', 'x/page.html'].map(read))).toEqual([true, true]);
});

test('a rendered page that was withdrawn keeps its name', async () => {
  const repository = await play.repository({ files: { '.nojekyll': '', 'index.html': 'x' } });
  const inputs = { render: 'true', path: 'm/answer.html' };
  const files = { 'answer.md': '# marker-42' };
  const { report } = await proven(play.deliver({ repository, files, inputs }));
  await proven(withdraw(repository, report.url ?? ''));
  const again = await withdraw(repository, report.url ?? '');
  expect(again.report.outcome).toBe('there was nothing to remove at m/answer.html');
});

test('a URL of a folder keeps another delivery in it, and says so', async () => {
  const repository = await play.repository();
  for (const path of ['previews/', 'previews/pr-1/'])
    await proven(play.deliver({ repository, files: site, inputs: { file: 'dist/', path } }));
  const { report } = await proven(withdraw(repository, `${repository.pages.url}previews/`));
  expect(report.notes).toContain('still there, because it is a delivery of its own: previews/pr-1/');
  expect(report.outcome).toBe('previews/ is removed');
});

describe('a URL removes nothing if it is the URL', () => {
  const ELSEWHERE =
    /`url` and `channel: K2` name different deliveries → remove `channel:`, because the URL is enough/;
  /** A URL, or a path below `SITE/`. */
  test.each<[string, string, RegExp, object?]>([
    ['of a folder around what was delivered', 'SITE/previews/', /previews\/ was not delivered as a whole/],
    ['of the whole site', 'SITE/', /was not delivered as a whole/],
    ['of the whole site with `overwrite`', 'SITE/', /would remove the whole site/, { overwrite: 'true' }],
    ['of a part of a folder', 'SITE/previews/1/a.css', /came with the folder previews\/1\//],
    ['of a page of a person', 'SITE/index.html', /^index\.html already exists .* no record shows/],
    ['of two lines', 'SITE/a.html\nSITE/b.html', /it has a space or several lines/],
    [
      'of another site',
      'https://other.github.io/previews/1/',
      /is not below .* → set `url:` to a delivered URL/,
    ],
    [
      'of the newest release',
      'https://github.com/octo/site/releases/latest/download/a.zip',
      /is not below .* → set `url:` to a delivered URL/,
    ],
    ['that leads out of the site', 'SITE/a%2f..%2f..%2fb.html', /contains \. or \.\./],
    [
      "of another repository's asset",
      'https://github.com/octo/other/releases/download/v1/a.zip',
      /leads to a release of octo\/other, not of octo\/.* → set `repository: octo\/other`/,
    ],
    ['of another channel', 'SITE/previews/1/', ELSEWHERE, { channel: 'K2' }],
    [
      'of another folder',
      'SITE/previews/1/',
      /is not in agents\/ → leave `path:` out: the URL names the path/,
      { path: 'agents/' },
    ],
    [
      'of a bin without the local file',
      'https://filebin.net/sv1-of-somebody/a.html',
      /may be somebody else's/,
    ],
  ])('%s', async (_, address, why, inputs = {}) => {
    const repository = await play.repository();
    await repository.commit('index.html', createPage('of a person'));
    for (const path of ['previews/1/', 'previews/2/']) {
      await proven(play.deliver({ repository, files: site, inputs: { file: 'dist/', path } }));
    }
    const bin = { channel: 'K3', token: '', bin: 'sv1-of-somebody' };
    await proven(play.deliver({ repository, files: { 'a.html': createPage() }, inputs: bin }));
    const head = await repository.head();
    const url = address.replaceAll('SITE/', repository.pages.url);
    const reason = await withdraw(repository, url, { inputs }).then(
      ({ report }) => `${report.notReady?.reason} → ${report.notReady?.hint}`,
      ({ message, hint }) => `${message} → ${hint}`,
    );
    expect(reason).toMatch(why);
    expect(await repository.head()).toBe(head);
    expect(play.world.filebin.bins.get('sv1-of-somebody')?.files.size).toBe(1);
  });
});

describe('the URL of a page that Markdown renders too', () => {
  const markdown = (repository: TestRepository, path = 'd/notes.md', text = '# marker-42') =>
    proven(
      play.deliver({
        repository,
        files: { 'n.md': text },
        inputs: { path, marker: 'marker-42', channel: 'K1' },
      }),
    );

  test('removes both if this tool delivered them', async () => {
    const repository = await play.repository();
    const { report } = await markdown(repository);
    const inputs = { path: 'd/notes.html', channel: 'K1' };
    await proven(play.deliver({ repository, files: { 'page.html': createPage() }, inputs }));
    const withdrawn = await proven(withdraw(repository, report.url ?? ''));
    expect(withdrawn.report.notes).toContain('removed too, because it has the same URL: d/notes.md');
    expect(repository.site?.readLive('d/notes.html')).toBeNull();
    const audited = await play.deliver({ repository, inputs: { file: '', operation: 'audit' } });
    expect(audited.reports.map(({ ready }) => ready)).toEqual([true, true]);
  });

  test('is refused if a person added the page', async () => {
    const repository = await play.repository();
    const { report } = await markdown(repository);
    await repository.commit('d/notes.html', '<p>person</p>');
    const { notReady } = (await withdraw(repository, report.url ?? '')).report;
    expect(notReady?.reason).toMatch(/^.*d\/notes\.html already exists .*nothing was removed$/);
    expect(await repository.read('d/notes.md')).not.toBeNull();
  });

  test('leads to a README with front matter', async () => {
    const repository = await play.repository();
    const { report } = await markdown(repository, 'e/README.md', '---\ntitle: x\n---\n# marker-42');
    await proven(withdraw(repository, report.url ?? ''));
    expect(await repository.read('e/README.md')).toBeNull();
  });

  test("is refused after a squash, because the Markdown's owner is unknown", async () => {
    const repository = await play.repository();
    const { report } = await markdown(repository);
    squashBranch(repository);
    const { notReady } = (await withdraw(repository, report.url ?? '')).report;
    expect(notReady?.reason).toMatch(/d\/notes\.md already exists .*the branch's history begins with it/);
  });
});
