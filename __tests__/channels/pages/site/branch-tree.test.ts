import { expect, test } from '@jest/globals';
import { createBranchHistory } from '../../../../src/channels/pages/branch-reader.ts';
import { listKept } from '../../../../src/channels/pages/delivery-records.ts';
import { findDeliveries } from '../../../../src/channels/pages/ownership.ts';
import { SITE } from '../../../../src/protocol/limits.ts';
import { FakeGitHub } from '../../../github/fake-github.ts';
import { heldFiles, MemoryBranch } from './memory-branch.ts';
import type { Contents } from './memory-files.ts';
import { connect, deliverSite, readBranchTree } from './site-runs.ts';

const FOLDER = 'p/1/';
const CONTENTS = { 'index.html': 'page', 'css/a.css': 'style' };

const readTree = (branch: MemoryBranch) => readBranchTree(connect(branch).github);

/** The paths of a folder that this tool owns, and the rest of the answer. */
async function findOwned(branch: MemoryBranch, folder = FOLDER) {
  const { github } = connect(branch);
  const target = { history: createBranchHistory(github, 'main'), options: { overwrite: false } };
  const { sites } = await findDeliveries(target, await readBranchTree(github), folder);
  return (sites.get(folder)?.files ?? []).map(({ path }) => path.slice(folder.length)).sort();
}

test("a branch is refused if GitHub can't list all its files", async () => {
  const github = new FakeGitHub({
    get_ref: { object: { sha: 'a'.repeat(40) } },
    get_commit: { tree: { sha: 'b'.repeat(40) } },
    tree_below: { truncated: true, tree: [] },
  });
  await expect(readBranchTree(github)).rejects.toMatchObject({ code: 'TOO_LARGE' });
});

const keptOf = async (files: Contents, delivered: readonly string[]) =>
  listKept(
    await readTree(new MemoryBranch(heldFiles(files))),
    FOLDER,
    new Set(delivered.map((path) => FOLDER + path)),
  ).map(({ path }) => path);

test('other files of a folder are named in short: the highest folder without deliveries', async () => {
  const files = { 'p/1/a/b/c': '1', 'p/1/a/b/d': '2', 'p/1/a/e': '3', 'p/1/f': '4', 'p/2/g': '5' };
  await expect(keptOf(files, ['a/e', 'new'])).resolves.toEqual(['a/b/', 'f']);
  await expect(keptOf(files, [])).resolves.toEqual(['a/', 'f']);
  await expect(keptOf(files, ['a/b/c', 'a/b/d', 'a/e', 'f'])).resolves.toEqual([]);
});

test("other files of a folder are refused if a message can't name them all", async () => {
  const files = Array.from({ length: SITE.kept + 1 }, (_, nth) => [`p/1/${nth}.txt`, String(nth)]);
  const message = expect.stringContaining(`${SITE.kept + 1} files and folders`);
  await expect(keptOf(Object.fromEntries(files), [])).rejects.toMatchObject({ code: 'NOT_OURS', message });
});

test('a delivery is found even if a hundred deliveries of other folders come after it', async () => {
  const branch = new MemoryBranch();
  await deliverSite(branch, '', CONTENTS);
  for (let nth = 0; nth < 130; nth += 1) branch.change({ 'p/1/a.txt': String(nth) }, `UPDATE 1: ${nth}`);
  expect(await findOwned(branch, '')).toEqual(['css/a.css', 'index.html']);
});
