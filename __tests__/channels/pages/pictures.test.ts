import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type ComparedPlace, commitCompared } from '../../../src/channels/pages/commit.ts';
import { formatCommitMessage } from '../../../src/channels/pages/commit-message.ts';
import { compareFiles } from '../../../src/channels/pages/compare-files.ts';
import { isOwned } from '../../../src/channels/pages/ownership.ts';
import type { CommitTarget, WantedFile } from '../../../src/channels/pages/target.ts';
import { hasFailed } from '../../../src/errors.ts';
import type { LocalFile } from '../../../src/rules/inspect.ts';
import { absent, failure } from '../../github/fake-github.ts';
import { temporaryFolder } from '../../support/files.ts';
import { FakeHttp, fakePorts } from '../../support/ports.ts';
import {
  type BranchFiles,
  branchWith,
  commitTargetWith,
  existingFile,
  FOREIGN_MESSAGE,
  ownMessage,
} from '../fake-branch.ts';
import { resultsFor } from '../prepare-one.ts';
import { memoryFile } from './site/site-runs.ts';

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

const fileOf = (blobSha: string): LocalFile => ({ ...memoryFile(blobSha), blobSha });

/** A page with its pictures, by the blobs that they have. */
const pageWith = (blob: string, pictures: Readonly<Record<string, string>> = {}): WantedFile => ({
  path: PATH,
  file: fileOf(blob),
  pictures: Object.entries(pictures).map(([path, sha]) => ({ path, file: fileOf(sha) })),
});

/** What one commit of ours left: the page and its pictures. */
function delivered(page: string, pictures: Readonly<Record<string, string>>): BranchFiles {
  const all = { [PATH]: page, ...pictures };
  const objects = Object.entries(all).map(([path, sha]) => ({ path, sha }));
  const message = formatCommitMessage(PATH, { verb: 'ADD', essence: 'x', objects });
  return Object.fromEntries(Object.entries(all).map(([path, blob]) => [path, existingFile(blob, message)]));
}

async function compare(wanted: WantedFile, files: BranchFiles) {
  const github = branchWith(files);
  return { ...(await planOne(wanted, commitTargetWith(github))), github };
}

/** What a page needs: by path, the new blob of each that changes, `null` for one that is removed. */
async function planOne(wanted: WantedFile, target: CommitTarget) {
  const [state] = resultsFor((await compareFiles([wanted], target)).places, [wanted]);
  const { change } = hasFailed(state) ? {} : (state as ComparedPlace);
  const changed = Object.fromEntries([
    ...(change?.writes ?? []).map(({ path, file }) => [path, file.blobSha]),
    ...(change?.removals ?? []).map((path) => [path, null]),
  ]);
  const { [PATH]: page, ...beside } = changed;
  return {
    state,
    message: change?.message ?? '',
    basis: Object.fromEntries(change?.basis ?? []),
    page,
    beside,
  };
}

describe('a page with a picture', () => {
  test('is one change, whose message names both', async () => {
    const { page, beside, message } = await compare(pageWith('new', { [PICTURE]: 'p1' }), {});
    expect([page, beside]).toEqual(['new', { [PICTURE]: 'p1' }]);
    expect(message).toBe(
      `ADD page.html: from run 7 of Deliver\n\nDelivered-by: screen-delivery\nDelivered-object: new ${PATH}\nDelivered-object: p1 ${PICTURE}`,
    );
    for (const [path, blob] of [[PATH, 'new'] as const, [PICTURE, 'p1'] as const]) {
      expect(isOwned(message, { path, sha: blob })).toBe(true);
    }
  });

  test('needs nothing where both are there', async () => {
    const { state } = await compare(
      pageWith('same', { [PICTURE]: 'p1' }),
      delivered('same', { [PICTURE]: 'p1' }),
    );
    expect(state).toEqual({ commitSha: `last ${PATH}` });
  });

  test('gets a new picture without a change of its own', async () => {
    const { basis, page, beside } = await compare(
      pageWith('same', { [PICTURE]: 'p2' }),
      delivered('same', { [PICTURE]: 'p1' }),
    );
    expect(basis).toEqual({ [PATH]: 'same', [PICTURE]: 'p1' });
    expect([page, beside]).toEqual([undefined, { [PICTURE]: 'p2' }]);
  });

  test('never replaces a picture of somebody else', async () => {
    const { state } = await compare(pageWith('new', { [PICTURE]: 'p1' }), {
      [PICTURE]: existingFile('theirs', FOREIGN_MESSAGE),
    });
    expect(state).toMatchObject({ code: 'NOT_OURS', message: expect.stringContaining(PICTURE) });
  });

  test.each([
    ['delivered again without one', pageWith('new')],
    ['withdrawn', { path: PATH, file: null }],
  ])('takes all its pictures with it when it is %s', async (_, wanted) => {
    const { beside } = await compare(wanted, delivered('old', { [PICTURE]: 'p1', [BEFORE]: 'p0' }));
    expect(beside).toEqual({ [PICTURE]: null, [BEFORE]: null });
  });

  test.each([
    ['delivered again without one', pageWith('new')],
    ['delivered again as it was', pageWith('old')],
    ['withdrawn', { path: PATH, file: null }],
  ])('takes a picture with it that came later than its own bytes when it is %s', async (_, wanted) => {
    const { [PICTURE]: picture } = delivered('old', { [PICTURE]: 'p1' });
    const files = { [PATH]: existingFile('old'), ...(picture && { [PICTURE]: picture }) };
    const { basis, beside } = await compare(wanted, files);
    expect(basis).toMatchObject({ [PATH]: 'old' });
    expect(beside).toEqual({ [PICTURE]: null });
  });

  test('that is gone already is withdrawn with the picture that is not', async () => {
    const { [PICTURE]: picture } = delivered('old', { [PICTURE]: 'p1' });
    const { page, beside } = await compare({ path: PATH, file: null }, picture ? { [PICTURE]: picture } : {});
    expect([page, beside]).toEqual([undefined, { [PICTURE]: null }]);
  });

  test.each<[string, string | null]>([
    ['a file of its own', null],
    [
      'the picture of another page',
      formatCommitMessage('docs/other.html', {
        verb: 'ADD',
        essence: 'x',
        objects: [
          { path: 'docs/other.html', sha: 'x' },
          { path: PICTURE, sha: 'mine' },
        ],
      }),
    ],
  ])('neither replaces nor removes what was delivered as %s', async (_, message) => {
    const files = { [PATH]: existingFile('old'), [PICTURE]: existingFile('mine', message) };
    const { state } = await compare(pageWith('new', { [PICTURE]: 'p1' }), files);
    expect(state).toMatchObject({
      code: 'NOT_OURS',
      message: expect.stringContaining(PICTURE),
      hint: 'set `picture: false`, or `overwrite: true` to replace it',
    });
    for (const wanted of [pageWith('new'), { path: PATH, file: null }]) {
      expect((await compare(wanted, files)).beside).toEqual({});
    }
  });

  test('is not withdrawn where it is unknown whether it has a picture', async () => {
    const down = failure('HOST_ERROR', 500);
    const github = branchWith(
      {},
      {
        get_file: ({ path }: { path: string }) => (path === PATH ? { type: 'file', sha: 'old' } : down),
        commits_of_path: [{ sha: 'last', commit: { message: ownMessage('old', PATH) } }],
      },
    );
    const wanted = { path: PATH, file: null };
    const { state } = await planOne(wanted, commitTargetWith(github));
    expect(state).toMatchObject({ httpCode: 500 });
  });

  test('has it on a branch that does not exist yet', async () => {
    const github = branchWith({}, { get_ref: absent });
    const wanted = pageWith('new', { [PICTURE]: 'p1' });
    const { beside } = await planOne(wanted, commitTargetWith(github, { method: 'B', setup: true }));
    expect(beside).toEqual({ [PICTURE]: 'p1' });
  });

  test('leaves a picture that somebody else changed meanwhile', async () => {
    const files = {
      ...delivered('old', { [PICTURE]: 'p1' }),
      [PICTURE]: existingFile('theirs', FOREIGN_MESSAGE),
    };
    const { page, beside } = await compare({ path: PATH, file: null }, files);
    expect([page, beside]).toEqual([null, {}]);
  });

  test('is not asked for a picture where it is new, nor is a file that is no page', async () => {
    const { github } = await compare(pageWith('new'), {});
    const text = 'docs/notes.txt';
    const other = await compare({ path: text, file: fileOf('new') }, { [text]: existingFile('old') });
    expect(other.github.sent('get_file').map(({ path }) => path)).toEqual([text]);
    expect(github.sent('get_file').map(({ path }) => path)).not.toContain(PICTURE);
  });

  test('is committed with it, in one commit', async () => {
    const github = branchWith({});
    const host = new FakeHttp((_, nth) => ({ status: 201, body: { sha: nth === 1 ? 'new' : 'p1' } }));
    const wanted = [pageWith('new', { [PICTURE]: 'p1' })];
    await commitCompared((now) => compareFiles(wanted, now), commitTargetWith(github), fakePorts(host.http));
    expect(github.writes).toEqual(['tree', 'commit', 'update_ref']);
    expect(github.sent('tree')).toMatchObject([
      {
        tree: [
          { path: PATH, sha: 'new' },
          { path: PICTURE, sha: 'p1' },
        ],
      },
    ]);
  });
});

describe('the ownership of a picture', () => {
  const message = (...objects: readonly string[]) =>
    [
      'ADD page.html: x',
      '',
      'Delivered-by: screen-delivery',
      ...objects.map((one) => `Delivered-object: ${one}`),
    ].join('\n');

  test.each([
    ['another file as the first', message(`p1 ${PICTURE}`, `new ${PATH}`)],
    ['a file that is no picture of the page', message(`new ${PATH}`, `p1 ${PICTURE}`, 'x docs/other.html')],
    ['no page', message(`p1 ${PICTURE}`)],
  ])('needs the form that this tool writes, not %s', (_, text) => {
    expect(isOwned(text, { path: PICTURE, sha: 'p1' })).toBe(false);
  });
});
