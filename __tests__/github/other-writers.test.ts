import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DeliveryError, hasFailed, resultOf } from '../../src/errors.ts';
import { siteOfFile } from '../../src/rules/local-site.ts';
import { ownMessage } from '../channels/fake-branch.ts';
import { changedPaths } from '../channels/pages/site/authorship.ts';
import { heldFiles, MemoryBranch } from '../channels/pages/site/memory-branch.ts';
import { memoryFile, shaOf } from '../channels/pages/site/memory-files.ts';
import { actionsOn, runOne } from '../channels/pages/site/site-runs.ts';

const PATH = 'docs/page.html';
const BEFORE = 'ours before';
/** Methods A and B differ by the size of the file. */
const TEXTS = { A: '<p>hello</p>', B: 'large'.repeat(220_000) } as const;
const RUNS = 250;

/** Another writer's change on the branch; `null` deletes the file. */
interface OtherChange {
  readonly path: string;
  readonly bytes: string | null;
}

/** What happens around one request. */
interface RequestEvents {
  /** Other writers' changes before it arrives. */
  readonly before: readonly OtherChange[];
  /** Whether the request is lost, or only its answer. */
  readonly line: 'ok' | 'request lost' | 'answer lost';
}

const theirs = fc.oneof(
  fc.integer().map((nth) => `their ${nth}`),
  fc.constant(null),
);
const elsewhere = fc.record({ path: fc.constantFrom('README.md', 'docs/other.html'), bytes: theirs });
/** Changes at our path, our own bytes included. */
const anywhere = fc.oneof(
  { weight: 3, arbitrary: elsewhere },
  {
    weight: 2,
    arbitrary: fc.record({ path: fc.constant(PATH), bytes: fc.oneof(theirs, fc.constant(BEFORE)) }),
  },
);
const mostlyOk = fc.oneof(
  { weight: 8, arbitrary: fc.constant('ok' as const) },
  { weight: 1, arbitrary: fc.constantFrom('request lost' as const, 'answer lost' as const) },
);

const listEvents = (change: fc.Arbitrary<OtherChange>, line: fc.Arbitrary<RequestEvents['line']>) => {
  const before = fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(change, { minLength: 1, maxLength: 2 }) },
  );
  return fc.array(fc.record({ before, line }), { maxLength: 24 });
};

interface Setting {
  readonly method: keyof typeof TEXTS;
  readonly existing: 'nothing' | 'ours' | 'theirs';
  readonly overwrite: boolean;
}

/** Publishes through K1, from reading the path to the commit, and watches the branch. */
async function run({ method, existing, overwrite }: Setting, events: readonly RequestEvents[]) {
  const branch = new MemoryBranch(heldFiles({ 'README.md': 'theirs' }));
  if (existing === 'theirs') branch.change({ [PATH]: 'theirs' });
  if (existing === 'ours') branch.change({ [PATH]: BEFORE }, ownMessage(shaOf(BEFORE), PATH));
  const commits: string[] = [];
  const change = ({ path, bytes }: OtherChange): void => {
    const isSame = branch.now[path] === (bytes === null ? undefined : shaOf(bytes));
    if (!isSame) commits.push(branch.change({ [path]: bytes }).sha);
  };
  /** What was at the path before each of our commits. */
  const replaced: (string | undefined)[] = [];
  const answer = branch.answer.bind(branch);
  let nth = 0;
  branch.answer = async (seen) => {
    const { before, line } = events[nth] ?? { before: [], line: 'ok' };
    nth += 1;
    before.forEach(change);
    const broken = new DeliveryError('CONNECTION', 'the exchange broke off', { retryable: true });
    if (line === 'request lost') throw broken;
    const { head, now } = branch;
    const answered = await answer(seen);
    if (['PUT', 'PATCH'].includes(seen.method) && branch.head !== head) replaced.push(now[PATH]);
    if (line === 'ok') return answered;
    throw broken;
  };
  const { publish } = actionsOn(branch, { overwrite, path: PATH });
  const site = siteOfFile(memoryFile(TEXTS[method]));
  const outcome = await resultOf(() => runOne(publish, { site, name: 'page.html' }));
  const log = branch.history;
  const ours = log.filter(({ message }) => /^(ADD|UPDATE) page\.html: .*run 7/.test(message));
  return {
    log,
    ours,
    commits,
    replaced,
    overwrite,
    outcome,
    text: site.entry.blobSha,
    page: branch.now[PATH],
  };
}

type Run = Awaited<ReturnType<typeof run>>;

function expectNothingLost({ log, ours, commits, replaced, overwrite }: Run): void {
  expect(log.map(({ sha }) => sha)).toEqual(expect.arrayContaining(commits));
  for (const { parent, files } of ours) {
    expect(changedPaths(parent?.files ?? new Map(), files)).toEqual([PATH]);
  }
  expect(replaced).toHaveLength(ours.length);
  if (!overwrite) for (const before of replaced) expect([undefined, shaOf(BEFORE)]).toContain(before);
}

/** Published in a commit with the file, or a failure with a reason; a published file is not published again. */
function expectPublishedOrReported({ log, ours, outcome, replaced, text }: Run): void {
  expect(replaced).not.toContain(text);
  if (hasFailed(outcome)) {
    expect(outcome).toMatchObject({ message: expect.stringMatching(/\w/), retryable: false });
    expect(outcome.code).not.toBe('INTERNAL');
    return;
  }
  const commit = log.find(({ sha }) => sha === outcome.commitSha);
  expect(commit).toBeDefined();
  if (outcome.evidence === `commit ${outcome.commitSha}`) expect(ours).toContain(commit);
}

describe.each(['A', 'B'] as const)('publishing with method %s among other writers', (method) => {
  const settings = fc.record({
    method: fc.constant(method),
    existing: fc.constantFrom('nothing', 'ours', 'theirs'),
    overwrite: fc.boolean(),
  });

  const calm = listEvents(elsewhere, fc.constant('ok'));
  const events: fc.Arbitrary<RequestEvents[]> = fc.oneof(listEvents(anywhere, mostlyOk), calm);

  test('loses no change of others, and publishes the file or reports a failure', async () => {
    await fc.assert(
      fc.asyncProperty(settings, events, async (setting, happening) => {
        const result = await run(setting, happening);
        expectNothingLost(result);
        expectPublishedOrReported(result);
        const isCalm = happening.every(
          ({ before, line }) => line === 'ok' && before.every(({ path }) => path !== PATH),
        );
        if (!isCalm) return;
        const mayWrite = setting.existing !== 'theirs' || setting.overwrite;
        expect(result.ours).toHaveLength(mayWrite ? 1 : 0);
        expect(hasFailed(result.outcome) ? result.outcome.code : '').toBe(mayWrite ? '' : 'NOT_OURS');
        expect(result.page).toBe(mayWrite ? result.text : shaOf('theirs'));
      }),
      { numRuns: RUNS },
    );
  });
});
