import { describe, expect, test } from '@jest/globals';
import { previewCommits } from '../../../../src/channels/pages/commit-tasks.ts';
import { addPictures, placePictures } from '../../../../src/channels/pages/pictures.ts';
import { prepareSite } from '../../../../src/channels/pages/prepare.ts';
import type { PagesOptions } from '../../../../src/channels/pages/target.ts';
import { fakePorts } from '../../../support/ports.ts';
import { commitTargetWith } from '../../fake-branch.ts';
import { siteWith } from '../../repository-context.ts';
import { heldFiles, MemoryBranch } from './memory-branch.ts';
import { connect, memoryFile, memorySite } from './site-runs.ts';

const PAGE = { 'index.html': '<p>' };

function prepare(
  contents: Readonly<Record<string, string>>,
  {
    name = 'p/1/',
    options = {},
    pages = siteWith(),
    branch = new MemoryBranch(),
  }: {
    readonly name?: string;
    readonly options?: Partial<PagesOptions>;
    readonly pages?: ReturnType<typeof siteWith>;
    readonly branch?: MemoryBranch;
  } = {},
) {
  const asked: string[] = [];
  const { github } = connect(branch);
  const exists = async (_: string, path: string): Promise<boolean> => {
    asked.push(path);
    return branch.head.files.has(path);
  };
  const context = { ...commitTargetWith(github as never, options), pages, setup: null, exists };
  return {
    asked,
    site: memorySite(contents),
    prepared: prepareSite({ site: memorySite(contents), name }, context),
  };
}

describe('preparing a site', () => {
  test('tells where it goes and where its pages will be served', async () => {
    const { prepared } = prepare(PAGE, { name: 'a ä/1' });
    await expect(prepared).resolves.toMatchObject({
      servedAt: {
        sitePath: '/site/a%20%C3%A4/1/',
        rootPath: '/site/',
        origin: 'https://octo.github.io',
      },
      plan: {
        method: 'one commit for the folder',
        destination: 'branch main, folder a ä/1/',
        name: 'a ä/1/',
      },
      data: { path: 'a ä/1/index.html', target: { folder: 'a ä/1/', siteRoot: '' } },
    });
  });

  test('knows the folder of the branch that is served, and the root of the branch', async () => {
    const pages = siteWith({ folder: 'docs' });
    await expect(prepare(PAGE, { name: 'docs/p/', pages }).prepared).resolves.toMatchObject({
      servedAt: { sitePath: '/site/p/', rootPath: '/site/' },
      data: { target: { folder: 'docs/p/', siteRoot: 'docs/', method: 'C' } },
    });
    await expect(prepare(PAGE, { name: './' }).prepared).resolves.toMatchObject({
      plan: { name: './', destination: 'branch main, folder ./' },
      data: { target: { folder: '' } },
    });
  });

  test('tells where the pictures of the entry will be, which become files of the site', async () => {
    const { prepared: preparing, site: given } = prepare({ ...PAGE, 'a.css': 'p{}' });
    const prepared = await preparing;
    const page = 'https://octo.github.io/site/p/1/index.html';
    expect(prepared.served).toMatchObject({
      url: new URL('https://octo.github.io/site/p/1/'),
      display: 'page',
      pictureUrls: { picture: new URL(`${page}.png`) },
    });
    const pictures = { picture: memoryFile('picture'), before: memoryFile('before') };
    const site = addPictures(given, pictures);
    expect(site.files.map(({ path }) => path)).toEqual([
      'a.css',
      'index.html',
      'index.html.before.png',
      'index.html.png',
    ]);
    expect(site.pictures).toEqual(['index.html.png', 'index.html.before.png']);
    expect(site.size).toBe('<p>p{}picturebefore'.length);
    expect(placePictures(pictures, prepared.data.destination.pageUrl)).toMatchObject({
      url: new URL(`${page}.png`),
      before: new URL(`${page}.before.png`),
    });
  });

  test('refuses a folder that has a file where the picture goes', async () => {
    const site = memorySite({ ...PAGE, 'index.html.png': 'x' });
    expect(() => addPictures(site, { picture: memoryFile('picture'), before: null })).toThrow(
      'the folder has a file index.html.png, where the picture goes',
    );
  });

  test('refuses a file that the site or the repository obeys, unless `overwrite` is set', async () => {
    const contents = { ...PAGE, CNAME: 'example.com' };
    await expect(prepare(contents, { name: './' }).prepared).rejects.toMatchObject({
      message: expect.stringContaining('CNAME'),
    });
    await expect(
      prepare(contents, { name: './', options: { overwrite: true } }).prepared,
    ).resolves.toBeDefined();
    await expect(prepare(contents).prepared).resolves.toBeDefined();
  });
});

describe('names that Jekyll changes', () => {
  const contents = {
    ...PAGE,
    ...{ '_static/a.js': 'x', 'notes.md': '---\n---\n# x', 'front.html': '---\ntitle: x\n---\n' },
  };

  test('are refused together, with both ways out', async () => {
    const { prepared, asked } = prepare(contents);
    expect((await prepared).servedAt.refusal).toMatchObject({
      code: 'BAD_INPUT',
      step: 'check',
      message:
        'Jekyll, which builds this Pages site, leaves out _static/a.js, and renders notes.md, front.html',
      hint: expect.stringMatching(/`nojekyll: true`.*rename/),
      leftBehind: [],
    });
    expect(asked).toEqual(['.nojekyll']);
  });

  // Vitest writes its report to `.vitest`, whose name the site's folder gets by default.
  test.each([
    ['.vitest/', 'vitest/'],
    ['reports/_build/html/', 'reports/build/html/'],
    ['~drafts/', 'drafts/'],
    ['vendor/', 'site/vendor/'],
    ['_/', 'site/'],
  ])('are refused with another path if the folder itself has one: %s', async (name, other) => {
    expect((await prepare(PAGE, { name }).prepared).servedAt.refusal).toMatchObject({
      message: `Jekyll, which builds this Pages site, leaves out the folder ${name}`,
      hint: `set \`nojekyll: true\`, which commits an empty .nojekyll and ends Jekyll for the whole site, or set \`path: ${other}\``,
    });
  });

  test('are no Markdown without front matter, and nothing that only begins with hyphens', async () => {
    const copied = {
      ...PAGE,
      'README.md': '# x',
      'a.md': '# x',
      'key.pem': '-----BEGIN',
      'a.diff': '--- a\n',
    };
    const { prepared, asked } = prepare(copied);
    expect((await prepared).servedAt.refusal).toBeNull();
    expect(asked).toEqual([]);
  });

  test.each<[string, Parameters<typeof prepare>[1]]>([
    ['`nojekyll` is set', { options: { nojekyll: true } }],
    ['a workflow builds the site', { pages: siteWith({ builtBy: 'workflow' }) }],
    ['the branch switches Jekyll off', { branch: new MemoryBranch(heldFiles({ '.nojekyll': '' })) }],
  ])('are accepted where %s', async (_, more) => {
    expect((await prepare(contents, more).prepared).servedAt.refusal).toBeNull();
  });

  test('are looked for at the root of what is served, without a request where there are none', async () => {
    const pages = siteWith({ folder: 'docs' });
    const { prepared, asked } = prepare({ ...PAGE, '_a.js': 'x' }, { name: 'docs/p/', pages });
    expect((await prepared).servedAt.refusal?.hint).toContain('docs/.nojekyll');
    expect(asked).toEqual(['docs/.nojekyll']);
    const plain = prepare(PAGE);
    await plain.prepared;
    expect(plain.asked).toEqual([]);
  });
});

test('a preview tells what would be done, and writes nothing', async () => {
  const branch = new MemoryBranch();
  const task = await prepare(PAGE, { branch }).prepared;
  const preview = async () => {
    const [previewed] = await previewCommits([task], fakePorts(), () => 'nothing');
    return previewed?.result;
  };
  expect(await preview()).toBe('ADD 1: from run 7 of Deliver (files: 1 added)');
  branch.commit(heldFiles({ 'p/1/index.html': '<p>' }), 'theirs');
  const { head } = branch;
  expect(await preview()).toBe('nothing');
  expect(branch.head).toBe(head);
});
