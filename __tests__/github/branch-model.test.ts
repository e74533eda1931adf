import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Placement, PreparedTask } from '../../src/channels/channel.ts';
import { createPagesPublisher, type PagesTask } from '../../src/channels/pages/publish.ts';
import { DeliveryError, hasFailed, resultOf } from '../../src/errors.ts';
import { createGitHubClient } from '../../src/github/api/client.ts';
import { TRAILER } from '../../src/protocol/words.ts';
import type { LocalFile } from '../../src/rules/inspect.ts';
import { repositoryContextWith } from '../channels/repository-context.ts';
import { localFile } from '../support/files.ts';
import { FakeHttp, fakePorts } from '../support/ports.ts';
import { BranchModel, type Change, type ModelCommit } from './branch-model.ts';

const PATH = 'docs/page.html';
/** What an earlier delivery has left there. */
const BEFORE = 'our-blob-before';
const RUNS = 300;

/** What happens around one request. */
interface Move {
  /** What others do before it arrives. */
  readonly before: readonly Change[];
  /** What others do while it is at work. */
  readonly during: readonly Change[];
  /** Whether it is lost on its way, or its answer is, although it was done. */
  readonly line: 'up' | 'request lost' | 'answer lost';
}

const elsewhere = fc.record({
  path: fc.constantFrom('README.md', 'docs/other.html', 'index.html'),
  blob: fc.oneof(
    fc.integer().map((nth) => `their-blob-${nth}`),
    fc.constant(null),
  ),
});

/** Files at our path, in its place as a folder, and in the place of its folder; also our own bytes put back. */
const anywhere = fc.oneof(
  { weight: 3, arbitrary: elsewhere },
  {
    weight: 2,
    arbitrary: fc.record({
      path: fc.constant(PATH),
      blob: fc.oneof(
        fc.integer().map((nth) => `their-blob-${nth}`),
        fc.constantFrom(null, BEFORE),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      path: fc.constantFrom(`${PATH}/inside.txt`, 'docs'),
      blob: fc.constantFrom('their-blob', null),
    }),
  },
);

const plan = (change: fc.Arbitrary<Change>, line: fc.Arbitrary<Move['line']>): fc.Arbitrary<Move[]> => {
  const changes = fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(change, { minLength: 1, maxLength: 2 }) },
  );
  return fc.array(fc.record({ before: changes, during: changes, line }), { maxLength: 24 });
};

const oftenUp = fc.oneof(
  { weight: 8, arbitrary: fc.constant('up' as const) },
  { weight: 1, arbitrary: fc.constantFrom('request lost' as const, 'answer lost' as const) },
);

const METHODS = ['A', 'B'] as const;
const STANDING = ['nothing', 'ours', 'theirs'] as const;

let delivered: Readonly<Record<(typeof METHODS)[number], LocalFile>>;

beforeAll(async () => {
  delivered = { A: await localFile('<p>hello</p>'), B: await localFile(Buffer.alloc(1_048_577, 'large')) };
});

interface Course {
  readonly model: BranchModel;
  readonly file: LocalFile;
  readonly overwrite: boolean;
  readonly placement: Placement | null;
  readonly failure: unknown;
}

interface Setting {
  readonly method: (typeof METHODS)[number];
  readonly standing: (typeof STANDING)[number];
  readonly overwrite: boolean;
  readonly moves: readonly Move[];
}

/** The whole placing by K1, from the look at the path to the commit, against the model. */
async function run({ method, standing, overwrite, moves }: Setting): Promise<Course> {
  const file = delivered[method];
  const model = new BranchModel({
    by: standing === 'ours' ? 'us' : 'others',
    message: standing === 'ours' ? `ADD page.html: before\n\n${TRAILER}` : 'First',
    files: new Map([
      ['README.md', 'their-readme'],
      ...(standing === 'nothing' ? [] : [[PATH, standing === 'ours' ? BEFORE : 'their-page'] as const]),
    ]),
  });
  const host = new FakeHttp((seen, nth) => {
    const { before, during, line } = moves[nth - 1] ?? { before: [], during: [], line: 'up' };
    for (const change of before) model.change(change);
    const broken = new DeliveryError('CONNECTION', 'the exchange broke off', { retryable: true });
    if (line === 'request lost') return broken;
    const answer = model.answer(seen, during);
    return line === 'up' ? answer : broken;
  });
  const ports = fakePorts(host.http);
  const about = {
    apiUrl: new URL('https://api.github.com'),
    token: 'ghs_token',
    owner: 'octo',
    repo: 'site',
  };
  const channel = createPagesPublisher(
    {
      overwrite,
      essence: 'from run 7 of Deliver',
      marker: undefined,
      timeout: 240_000,
      branch: undefined,
      path: PATH,
      pagesBase: undefined,
      rawBase: undefined,
      serverUrl: new URL('https://github.com'),
    },
    { github: createGitHubClient(about, ports), repository: repositoryContextWith() },
    ports,
  );
  const course = { model, file, overwrite, placement: null, failure: null };
  const [prepared] = await channel.prepare([{ file, name: 'page.html' }]);
  if (prepared === undefined || hasFailed(prepared.result)) return { ...course, failure: prepared?.result };
  const task = prepared.result as PreparedTask<PagesTask>;
  const placed = await resultOf(() => channel.perform([task]));
  const result = hasFailed(placed) ? placed : placed[0]?.result;
  return result === undefined || hasFailed(result)
    ? { ...course, failure: result }
    : { ...course, placement: result as Placement };
}

/** Commits of this delivery, the newest first. */
const oursIn = (model: BranchModel): ModelCommit[] =>
  model.history.filter(({ by, parent }) => by === 'us' && parent !== null);

function expectNothingLost({ model, file, overwrite }: Course): void {
  const history = new Set(model.history);
  expect(model.others.filter((commit) => !history.has(commit))).toEqual([]);
  for (const { parent, files: after, message } of oursIn(model)) {
    const before = parent?.files ?? new Map();
    const { [PATH]: standing, ...others } = Object.fromEntries(before);
    expect(Object.fromEntries(after)).toEqual({ ...others, [PATH]: file.blobSha });
    expect(message).toMatch(/^(ADD|UPDATE) page\.html: /);
    // An update may find its file gone: the host ignores the sha of what is not there.
    if (message.startsWith('ADD')) expect(standing).toBeUndefined();
    if (!overwrite) expect([undefined, BEFORE]).toContain(standing);
  }
}

/** Landed in a commit that holds it, or a failure with a reason; never twice unless others took it away between. */
function expectLandedOrReported({ model, file, placement, failure }: Course): void {
  const ours = oursIn(model);
  for (const { parent } of ours.slice(0, -1)) expect(parent?.files.get(PATH)).not.toBe(file.blobSha);
  if (placement === null) {
    expect(failure).toBeInstanceOf(DeliveryError);
    expect(failure).toMatchObject({ message: expect.stringMatching(/\w/), retryable: false });
    expect(failure).not.toMatchObject({ code: 'INTERNAL' });
    return;
  }
  const commit = model.history.find(({ sha }) => sha === placement.commitSha);
  expect(commit?.files.get(PATH)).toBe(file.blobSha);
  if (placement.evidence === `commit ${placement.commitSha}`) expect(ours).toContain(commit);
}

const cases = METHODS.flatMap((method) =>
  STANDING.flatMap((standing) => [false, true].map((overwrite) => ({ method, standing, overwrite }))),
);

describe.each(METHODS)('method %s, among other writers', (method) => {
  const settings = fc.record({
    method: fc.constant(method),
    standing: fc.constantFrom(...STANDING),
    overwrite: fc.boolean(),
  });

  test('whatever others do and whatever breaks, nothing of theirs is lost, and ours lands or is reported', async () => {
    const stories = fc.tuple(settings, plan(anywhere, oftenUp));
    await fc.assert(
      fc.asyncProperty(stories, async ([setting, moves]) => {
        const course = await run({ ...setting, moves });
        expectNothingLost(course);
        expectLandedOrReported(course);
      }),
      { numRuns: RUNS },
    );
  });

  test('while others keep off its path, it always lands, in one commit', async () => {
    const stories = fc.tuple(settings, plan(elsewhere, fc.constant('up')));
    await fc.assert(
      fc.asyncProperty(stories, async ([{ standing, overwrite }, moves]) => {
        const mine = standing !== 'theirs' || overwrite;
        const course = await run({ method, standing, overwrite, moves });
        expectNothingLost(course);
        expect(oursIn(course.model)).toHaveLength(mine ? 1 : 0);
        expect(course.failure).toEqual(mine ? null : expect.objectContaining({ code: 'NOT_OURS' }));
        expect(course.model.head.files.get(PATH)).toBe(mine ? course.file.blobSha : 'their-page');
      }),
      { numRuns: RUNS },
    );
  });
});

test.each(cases)('method $method over $standing, undisturbed, overwrite $overwrite', async (setting) => {
  const course = await run({ ...setting, moves: [] });
  expectNothingLost(course);
  const mine = setting.standing !== 'theirs' || setting.overwrite;
  expect(oursIn(course.model)).toHaveLength(mine ? 1 : 0);
});
