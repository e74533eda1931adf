import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Placement, PreparedTask } from '../../src/channels/channel.ts';
import { createPagesActions } from '../../src/channels/pages/publish.ts';
import type { PagesTask } from '../../src/channels/pages/target.ts';
import { DeliveryError, hasFailed, resultOf } from '../../src/errors.ts';
import { createGitHubClient } from '../../src/github/api/client.ts';
import type { LocalFile } from '../../src/rules/inspect.ts';
import { siteOfFile } from '../../src/rules/local-site.ts';
import { ownMessage } from '../channels/fake-branch.ts';
import { repositoryContextWith } from '../channels/repository-context.ts';
import { localFile } from '../support/files.ts';
import { FakeHttp, fakePorts } from '../support/ports.ts';
import { BranchModel, type Change, type ModelCommit } from './branch-model.ts';

const PATH = 'docs/page.html';
/** The blob of an earlier delivery. */
const BEFORE = 'our-blob-before';
const RUNS = 300;

/** What happens around one request. */
interface RequestEvents {
  /** Changes of others before it arrives. */
  readonly before: readonly Change[];
  /** Changes of others while it is answered. */
  readonly during: readonly Change[];
  /** Whether the request is lost, or only its answer. */
  readonly line: 'ok' | 'request lost' | 'answer lost';
}

const elsewhere = fc.record({
  path: fc.constantFrom('README.md', 'docs/other.html', 'index.html'),
  blob: fc.oneof(
    fc.integer().map((nth) => `their-blob-${nth}`),
    fc.constant(null),
  ),
});

/** Changes at our path, below it as a folder, and at the path of its folder; also our own blob again. */
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

const listEvents = (
  change: fc.Arbitrary<Change>,
  line: fc.Arbitrary<RequestEvents['line']>,
): fc.Arbitrary<RequestEvents[]> => {
  const changes = fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(change, { minLength: 1, maxLength: 2 }) },
  );
  return fc.array(fc.record({ before: changes, during: changes, line }), { maxLength: 24 });
};

const mostlyOk = fc.oneof(
  { weight: 8, arbitrary: fc.constant('ok' as const) },
  { weight: 1, arbitrary: fc.constantFrom('request lost' as const, 'answer lost' as const) },
);

const METHODS = ['A', 'B'] as const;
const EXISTING = ['nothing', 'ours', 'theirs'] as const;

let delivered: Readonly<Record<(typeof METHODS)[number], LocalFile>>;

beforeAll(async () => {
  delivered = { A: await localFile('<p>hello</p>'), B: await localFile(Buffer.alloc(1_048_577, 'large')) };
});

interface RunResult {
  readonly model: BranchModel;
  readonly file: LocalFile;
  readonly overwrite: boolean;
  readonly placement: Placement | null;
  readonly failure: unknown;
}

interface RunSetting {
  readonly method: (typeof METHODS)[number];
  readonly existing: (typeof EXISTING)[number];
  readonly overwrite: boolean;
  readonly events: readonly RequestEvents[];
}

/** Publishes through K1 against the model, from reading the path to the commit. */
async function run({ method, existing, overwrite, events }: RunSetting): Promise<RunResult> {
  const file = delivered[method];
  const model = new BranchModel({
    by: existing === 'ours' ? 'us' : 'others',
    message: existing === 'ours' ? ownMessage(BEFORE, PATH) : 'First',
    files: new Map([
      ['README.md', 'their-readme'],
      ...(existing === 'nothing' ? [] : [[PATH, existing === 'ours' ? BEFORE : 'their-page'] as const]),
    ]),
  });
  let nth = 0;
  const host = new FakeHttp((seen) => {
    // The page before is looked at, too.
    if (!seen.url.startsWith('https://api.github.com/')) return { status: 404 };
    nth += 1;
    const { before, during, line } = events[nth - 1] ?? { before: [], during: [], line: 'ok' };
    for (const change of before) model.change(change);
    const broken = new DeliveryError('CONNECTION', 'the exchange broke off', { retryable: true });
    if (line === 'request lost') return broken;
    const answer = model.answer(seen, during);
    return line === 'ok' ? answer : broken;
  });
  const ports = fakePorts(host.http);
  const options = {
    apiUrl: new URL('https://api.github.com'),
    token: 'ghs_token',
    repository: { owner: 'octo', repo: 'site' },
  };
  const channel = createPagesActions(
    {
      overwrite,
      essence: 'from run 7 of Deliver',
      marker: undefined,
      picture: false,
      timeout: 240_000,
      prune: true,
      keep: undefined,
      nojekyll: false,
      branch: undefined,
      siteWorkflow: undefined,
      path: PATH,
      pagesBase: undefined,
      rawBase: undefined,
      serverUrl: new URL('https://github.com'),
    },
    { github: createGitHubClient(options, ports), repository: repositoryContextWith() },
    ports,
  ).publish;
  const course = { model, file, overwrite, placement: null, failure: null };
  const [prepared] = await channel.prepare([{ site: siteOfFile(file), name: 'page.html' }]);
  if (prepared === undefined || hasFailed(prepared)) return { ...course, failure: prepared };
  const task = prepared as PreparedTask<PagesTask>;
  const placed = await resultOf(() => channel.perform([task]));
  const result = hasFailed(placed) ? placed : placed[0];
  return result === undefined || hasFailed(result)
    ? { ...course, failure: result }
    : { ...course, placement: result as Placement };
}

/** Commits of this delivery, the newest first. */
const listOwnCommits = (model: BranchModel): ModelCommit[] =>
  model.history.filter(({ by, parent }) => by === 'us' && parent !== null);

function expectNothingLost({ model, file, overwrite }: RunResult): void {
  const history = new Set(model.history);
  expect(model.others.filter((commit) => !history.has(commit))).toEqual([]);
  for (const { parent, files: after, message } of listOwnCommits(model)) {
    const before = parent?.files ?? new Map();
    const { [PATH]: existing, ...others } = Object.fromEntries(before);
    expect(Object.fromEntries(after)).toEqual({ ...others, [PATH]: file.blobSha });
    expect(message).toMatch(/^(ADD|UPDATE) page\.html: /);
    // An update may create the file again: the host ignores the sha of a file that does not exist.
    if (message.startsWith('ADD')) expect(existing).toBeUndefined();
    if (!overwrite) expect([undefined, BEFORE]).toContain(existing);
  }
}

/** Published in a commit with the file, or a failure with a reason; published again only after others removed it. */
function expectPublishedOrReported({ model, file, placement, failure }: RunResult): void {
  const ours = listOwnCommits(model);
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

const settings = METHODS.flatMap((method) =>
  EXISTING.flatMap((existing) => [false, true].map((overwrite) => ({ method, existing, overwrite }))),
);

describe.each(METHODS)('publishing with method %s among other writers', (method) => {
  const settings = fc.record({
    method: fc.constant(method),
    existing: fc.constantFrom(...EXISTING),
    overwrite: fc.boolean(),
  });

  test('loses no change of others, and publishes the file or reports a failure', async () => {
    const cases = fc.tuple(settings, listEvents(anywhere, mostlyOk));
    await fc.assert(
      fc.asyncProperty(cases, async ([setting, events]) => {
        const result = await run({ ...setting, events });
        expectNothingLost(result);
        expectPublishedOrReported(result);
      }),
      { numRuns: RUNS },
    );
  });

  test('publishes the file in one commit while others do not change its path', async () => {
    const cases = fc.tuple(settings, listEvents(elsewhere, fc.constant('ok')));
    await fc.assert(
      fc.asyncProperty(cases, async ([{ existing, overwrite }, events]) => {
        const mayWrite = existing !== 'theirs' || overwrite;
        const result = await run({ method, existing, overwrite, events });
        expectNothingLost(result);
        expect(listOwnCommits(result.model)).toHaveLength(mayWrite ? 1 : 0);
        expect(result.failure).toEqual(mayWrite ? null : expect.objectContaining({ code: 'NOT_OURS' }));
        expect(result.model.head.files.get(PATH)).toBe(mayWrite ? result.file.blobSha : 'their-page');
      }),
      { numRuns: RUNS },
    );
  });
});

test.each(settings)(
  'publishing with method $method over $existing without other writers, overwrite $overwrite',
  async (setting) => {
    const result = await run({ ...setting, events: [] });
    expectNothingLost(result);
    const mayWrite = setting.existing !== 'theirs' || setting.overwrite;
    expect(listOwnCommits(result.model)).toHaveLength(mayWrite ? 1 : 0);
  },
);
