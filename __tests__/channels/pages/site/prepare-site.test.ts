import { describe, expect, test } from '@jest/globals';
import type { PagesOptions } from '../../../../src/channels/pages/destination.ts';
import { hasFailed } from '../../../../src/errors.ts';
import type { PagesSettings } from '../../../../src/github/api/repository.ts';
import { heldFiles, MemoryBranch } from './memory-branch.ts';
import { type Contents, memorySite } from './memory-files.ts';
import { actionsOn } from './site-runs.ts';

const PAGE = { 'index.html': '<p>' };

interface Situation {
  readonly name?: string;
  readonly options?: Partial<PagesOptions>;
  readonly pages?: Partial<PagesSettings>;
  readonly branch?: MemoryBranch;
}

async function prepare(
  contents: Contents,
  { name = 'p/1/', options = {}, pages = {}, branch = new MemoryBranch() }: Situation = {},
) {
  const { publish } = actionsOn(branch, { ...options, pages });
  const [prepared] = await publish.prepare([{ site: memorySite(contents), name }]);
  if (prepared === undefined || hasFailed(prepared)) throw prepared;
  const task = prepared;
  const preview = async () => (await publish.preview([task]))[0];
  return { ...task, preview, refusal: task.served?.refusal ?? null };
}

test('preparing a site names every path that it may write, with its pictures', async () => {
  const page = 'p/1/index.html';
  const { writes } = await prepare({ ...PAGE, 'a.css': '' }, { options: { picture: true } });
  expect(writes).toEqual([page, 'p/1/a.css', `${page}.png`, `${page}.before.png`]);
  expect((await prepare(PAGE)).writes).toEqual([page]);
});

test.each<[boolean, string, Parameters<typeof prepare>[1]]>([
  [true, 'at the root', { name: './' }],
  [false, 'with `overwrite`', { name: './', options: { overwrite: true } }],
  [false, 'that is there', { name: './', branch: new MemoryBranch(heldFiles({ CNAME: 'example.com' })) }],
  [false, 'below the root', {}],
])('whether a preview refuses a file that the site obeys is %s for one %s', async (isRefused, _, more) => {
  const { preview } = await prepare({ ...PAGE, CNAME: 'example.com' }, more);
  const answer = await preview();
  expect(hasFailed(answer) && answer.message).toEqual(isRefused && expect.stringContaining('CNAME'));
});

describe('names that Jekyll changes', () => {
  const contents = {
    ...PAGE,
    ...{ '_static/a.js': 'x', 'notes.md': '---\n---\n# x', 'front.html': '---\ntitle: x\n---\n' },
  };

  // Vitest writes its report to `.vitest`, whose name the site's folder gets by default.
  test.each(['.vitest/', 'reports/_build/html/', '~drafts/', 'vendor/bundle/'])(
    'are refused with what to change if the folder itself has one: %s',
    async (name) => {
      const message = `Jekyll, which builds this Pages site, ignores ${name}index.html`;
      const hint = expect.stringMatching(/^set `nojekyll: true`, which .*, or choose names that do not /);
      expect((await prepare(PAGE, { name })).refusal).toMatchObject({ message, hint });
    },
  );

  test.each<[string, Parameters<typeof prepare>[1]]>([
    [
      'a workflow builds the site',
      { pages: { builtBy: 'workflow' }, options: { pagesBase: new URL('https://example.com/') } },
    ],
    ['the branch switches Jekyll off', { branch: new MemoryBranch(heldFiles({ '.nojekyll': '' })) }],
  ])('are accepted where %s', async (_, more) => {
    expect((await prepare(contents, more)).refusal).toBeNull();
  });
});
