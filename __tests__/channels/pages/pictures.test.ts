import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { commitFiles } from '../../../src/channels/pages/commit.ts';
import { comparePaths, type WantedFile } from '../../../src/channels/pages/compare-paths.ts';
import { formatCommitMessage, isOwnedFile } from '../../../src/channels/pages/ownership.ts';
import type { FileChange } from '../../../src/github/api/git-data.ts';
import type { LocalFile } from '../../../src/rules/inspect.ts';
import { temporaryFolder } from '../../support/files.ts';
import { FakeHttp, fakePorts } from '../../support/ports.ts';
import {
  type BranchFiles,
  branchWith,
  commitTargetWith,
  existingFile,
  FOREIGN_MESSAGE,
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
  const objects = Object.entries(pictures).map(([path, blobSha]) => ({ path, blobSha }));
  const message = formatCommitMessage({
    path: PATH,
    blobSha: page,
    pictures: objects,
    replaces: false,
    essence: 'x',
  });
  const all = { [PATH]: page, ...pictures };
  return Object.fromEntries(Object.entries(all).map(([path, blob]) => [path, existingFile(blob, message)]));
}

async function compare(wanted: WantedFile, files: BranchFiles) {
  const github = branchWith(files);
  const [state] = resultsFor(await comparePaths([wanted], commitTargetWith(github)), [wanted]);
  return { state: state as FileChange, github };
}

const besideOf = ({ beside = [] }: FileChange) =>
  Object.fromEntries(beside.map(({ path, file }) => [path, file?.blobSha ?? null]));

describe('a page with a picture', () => {
  test('is one change, whose message names both', async () => {
    const { state } = await compare(pageWith('new', { [PICTURE]: 'p1' }), {});
    expect(besideOf(state)).toEqual({ [PICTURE]: 'p1' });
    expect(state.message).toBe(
      `ADD page.html: from run 7 of Deliver\n\nDelivered-by: screen-delivery\nDelivered-object: new ${PATH}\nDelivered-object: p1 ${PICTURE}`,
    );
    for (const [path, blob] of [[PATH, 'new'] as const, [PICTURE, 'p1'] as const]) {
      expect(isOwnedFile(state.message, blob, path)).toBe(true);
    }
  });

  test('needs nothing where both are there', async () => {
    const { state } = await compare(
      pageWith('same', { [PICTURE]: 'p1' }),
      delivered('same', { [PICTURE]: 'p1' }),
    );
    expect(state).toEqual({ commitSha: `last ${PATH}`, written: false });
  });

  test('gets a new picture without a change of its own', async () => {
    const { state } = await compare(
      pageWith('same', { [PICTURE]: 'p2' }),
      delivered('same', { [PICTURE]: 'p1' }),
    );
    expect(state).toMatchObject({ replaces: 'same', beside: [{ path: PICTURE, replaces: 'p1' }] });
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
    const { state } = await compare(wanted, delivered('old', { [PICTURE]: 'p1', [BEFORE]: 'p0' }));
    expect(besideOf(state)).toEqual({ [PICTURE]: null, [BEFORE]: null });
  });

  test('leaves a picture that somebody else changed meanwhile', async () => {
    const files = {
      ...delivered('old', { [PICTURE]: 'p1' }),
      [PICTURE]: existingFile('theirs', FOREIGN_MESSAGE),
    };
    const { state } = await compare({ path: PATH, file: null }, files);
    expect(state).toMatchObject({ file: null, beside: [] });
  });

  test('asks for no picture where none was delivered', async () => {
    const { github } = await compare(pageWith('new'), { [PATH]: existingFile('old') });
    expect(github.sent('get_file').map(({ path }) => path)).toEqual([PATH]);
  });

  test('is committed with it, in one commit', async () => {
    const github = branchWith({});
    const host = new FakeHttp((_, nth) => ({ status: 201, body: { sha: nth === 1 ? 'new' : 'p1' } }));
    await commitFiles([pageWith('new', { [PICTURE]: 'p1' })], commitTargetWith(github), fakePorts(host.http));
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
    expect(isOwnedFile(text, 'p1', PICTURE)).toBe(false);
  });
});
