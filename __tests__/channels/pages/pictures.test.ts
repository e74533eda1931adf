import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { formatCommitMessage } from '../../../src/channels/pages/commit-message.ts';
import { compareFiles } from '../../../src/channels/pages/compare-files.ts';
import type { CommitTarget } from '../../../src/channels/pages/target.ts';
import { hasFailed } from '../../../src/errors.ts';
import { failure } from '../../github/fake-github.ts';
import { temporaryFolder } from '../../support/files.ts';
import {
  type BranchFiles,
  branchWith,
  commitTargetWith,
  existingFile,
  FOREIGN_MESSAGE,
  pagesTaskWith,
} from '../fake-branch.ts';
import type { Contents } from './site/memory-files.ts';

const PATH = 'docs/page.html';
const PICTURE = `${PATH}.png`;
const BEFORE = `${PATH}.before.png`;

const { PATH: SEARCH_PATH } = process.env;
// Without git, the API is used, whose calls the fake records.
beforeEach(async () => {
  process.env.PATH = await temporaryFolder();
});
afterEach(() => {
  process.env.PATH = SEARCH_PATH;
});

/** What a page and its pictures are to be, by their paths and blobs; nothing where it is removed. */
const pageWith = (page: string, pictures: Contents = {}): Contents => ({ [PATH]: page, ...pictures });
const WITHDRAWN: Contents = {};

function formatDelivery(place: string, object: string, shas: Contents): string {
  const pictures = Object.entries(shas).map(([path, sha]) => ({ path, sha }));
  const delivered = { place, object, pictures, kept: [] };
  return formatCommitMessage(place, { verb: 'ADD', essence: 'x', delivered });
}

function delivered(page: string, pictures: Contents): BranchFiles {
  const message = formatDelivery(PATH, page, pictures);
  const all = Object.entries(pageWith(page, pictures));
  return Object.fromEntries(all.map(([path, blob]) => [path, existingFile(blob, message)]));
}

async function compare(wanted: Contents, files: BranchFiles) {
  const github = branchWith(files);
  return { ...(await planOne(wanted, commitTargetWith(github))), github };
}

/** What a page needs: by path, the new blob of each that changes, `null` for one that is removed. */
async function planOne(wanted: Contents, target: CommitTarget) {
  const task = pagesTaskWith(target, PATH, wanted);
  const [state] = await compareFiles([task]);
  const { change } = state && !hasFailed(state) ? state : {};
  const changed = Object.fromEntries([
    ...(change?.writes ?? []).map(({ path, file }) => [path, file.blobSha]),
    ...(change?.removals ?? []).map((path) => [path, null]),
  ]);
  const { [PATH]: page, ...beside } = changed;
  return { state, change, page, beside };
}

describe('a page with a picture', () => {
  test('gets a new picture without a change of its own', async () => {
    const before = delivered('same', { [PICTURE]: 'p1' });
    const { page, beside } = await compare(pageWith('same', { [PICTURE]: 'p2' }), before);
    expect([page, beside]).toEqual([undefined, { [PICTURE]: 'p2' }]);
  });

  test.each([
    ['delivered again without one', pageWith('new')],
    ['delivered again as it was', pageWith('old')],
    ['withdrawn', WITHDRAWN],
  ])('takes its pictures with it, which came later than its own bytes, when it is %s', async (_, wanted) => {
    const pictures = delivered('old', { [PICTURE]: 'p1', [BEFORE]: 'p0' });
    const { change, beside } = await compare(wanted, { ...pictures, [PATH]: existingFile('old') });
    expect(change?.replaces).toBe('old');
    expect(beside).toEqual({ [PICTURE]: null, [BEFORE]: null });
  });

  test('that is gone already is withdrawn with the picture that is not', async () => {
    const { [PICTURE]: picture } = delivered('old', { [PICTURE]: 'p1' });
    const { page, beside } = await compare(WITHDRAWN, picture ? { [PICTURE]: picture } : {});
    expect([page, beside]).toEqual([undefined, { [PICTURE]: null }]);
  });

  test.each<[string, string | null]>([
    ['a file of its own', null],
    ['a file of somebody else', FOREIGN_MESSAGE],
    ['the picture of another page', formatDelivery('docs/other.html', 'x', { [PICTURE]: 'mine' })],
  ])('neither replaces nor removes what was delivered as %s', async (_, message) => {
    const files = { [PATH]: existingFile('old'), [PICTURE]: existingFile('mine', message) };
    const { state } = await compare(pageWith('new', { [PICTURE]: 'p1' }), files);
    const hint = 'set `picture: false`, or `overwrite: true` to replace it';
    expect(state).toMatchObject({ code: 'NOT_OURS', message: expect.stringContaining(PICTURE), hint });
    for (const wanted of [pageWith('new'), WITHDRAWN]) {
      expect((await compare(wanted, files)).beside).toEqual({});
    }
  });

  test('is not withdrawn where it is unknown whether it has a picture', async () => {
    const down = failure('HOST_ERROR', 500);
    const get_file = ({ path }: { path: string }) => (path === PATH ? { type: 'file', sha: 'old' } : down);
    const github = branchWith({ [PATH]: existingFile('old') }, { get_file });
    const { state } = await planOne(WITHDRAWN, commitTargetWith(github));
    expect(state).toMatchObject({ httpCode: 500 });
  });

  test('is not asked for a picture where it is new, nor is a file that is no page', async () => {
    const { github } = await compare(pageWith('new'), {});
    const target = commitTargetWith(branchWith({ 'docs/notes.txt': existingFile('old') }));
    const task = pagesTaskWith(target, 'docs/notes.txt', { 'docs/notes.txt': 'new' });
    await compareFiles([task]);
    for (const asked of [github, target.github as unknown as typeof github]) {
      expect(asked.sent('get_file').filter(({ path }) => String(path).endsWith('png'))).toEqual([]);
    }
  });
});
