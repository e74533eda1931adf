import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Placement } from '../../src/channels/channel.ts';
import { createPagesActions } from '../../src/channels/pages/publish.ts';
import { DeliveryError, hasFailed, resultOf } from '../../src/errors.ts';
import { createGitHubClient } from '../../src/github/api/client.ts';
import type { LocalFile } from '../../src/rules/inspect.ts';
import { siteOfFile } from '../../src/rules/local-site.ts';
import { ownMessage } from '../channels/fake-branch.ts';
import { runOne } from '../channels/pages/site/site-runs.ts';
import { pagesOptionsWith } from '../channels/pages-options.ts';
import { accessWith } from '../channels/repository-context.ts';
import { createResponse, createWorldHttp } from '../faults/recorded-http.ts';
import { SimulatedClock } from '../faults/simulated-clock.ts';
import { localFile } from '../support/files.ts';
import { fakePorts } from '../support/ports.ts';
import type { TestRepository } from '../world/repository.ts';
import { type GitHubWorld, startWorld } from '../world/world.ts';

const PATH = 'docs/page.html';
const BEFORE = 'ours before';
/** Methods A and B differ by the size of the file. */
const TEXTS = { A: '<p>hello</p>', B: 'large'.repeat(220_000) } as const;
const RUNS = 250;

/** A change of others on the branch; `null` deletes the file. */
interface OtherChange {
  readonly path: string;
  readonly bytes: string | null;
}

/** What happens around one request. */
interface RequestEvents {
  /** Changes of others before it arrives. */
  readonly before: readonly OtherChange[];
  /** Whether the request is lost, or only its answer. */
  readonly line: 'ok' | 'request lost' | 'answer lost';
}

const theirs = fc.oneof(
  fc.integer().map((nth) => `their ${nth}`),
  fc.constant(null),
);
const elsewhere = fc.record({ path: fc.constantFrom('README.md', 'docs/other.html'), bytes: theirs });
/** Changes at our path too; also our own bytes again. */
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

let world: GitHubWorld;
let files: Readonly<Record<keyof typeof TEXTS, LocalFile>>;
let runs = 0;

beforeAll(async () => {
  world = await startWorld();
  files = { A: await localFile(TEXTS.A), B: await localFile(TEXTS.B) };
});
afterAll(() => world.stop());

interface Setting {
  readonly method: keyof typeof TEXTS;
  readonly existing: 'nothing' | 'ours' | 'theirs';
  readonly overwrite: boolean;
}

/** Publishes through K1, from reading the path to the commit, and watches the branch. */
async function run({ method, existing, overwrite }: Setting, events: readonly RequestEvents[]) {
  runs += 1;
  const repository = await world.repository({ owner: 'octo', name: `run-${runs}`, pages: {} });
  if (existing === 'theirs') await repository.commit(PATH, 'theirs');
  if (existing === 'ours') {
    const { blobSha } = await localFile(BEFORE);
    await repository.commit(PATH, BEFORE, ownMessage(blobSha, PATH));
  }
  const commits: string[] = [];
  const change = async ({ path, bytes }: OtherChange): Promise<void> => {
    const now = await repository.read(path);
    if ((now === null ? null : String(now)) !== bytes) commits.push(await repository.commit(path, bytes));
  };
  /** What was at the path before each of our commits. */
  const replaced: (string | null)[] = [];
  let nth = 0;
  const { http } = createWorldHttp(world, new SimulatedClock(), ({ request }) => async ({ callHost }) => {
    // The page before is looked at, too.
    if (request.url.host !== 'api.github.com') return createResponse(await callHost());
    const { before, line } = events[nth] ?? { before: [], line: 'ok' };
    nth += 1;
    for (const one of before) await change(one);
    const broken = new DeliveryError('CONNECTION', 'the exchange broke off', { retryable: true });
    if (line === 'request lost') throw broken;
    const [head, page] = [await repository.head(), await repository.read(PATH)];
    const answer = await callHost();
    const isWrite = ['PUT', 'PATCH'].includes(request.method);
    if (isWrite && (await repository.head()) !== head) replaced.push(page && String(page));
    if (line === 'ok') return createResponse(answer);
    throw broken;
  });
  const file = files[method];
  const { placement, failure } = await publish(repository, file, overwrite, http);
  const log = await repository.log();
  const ours = log.filter(({ message }) => /^(ADD|UPDATE) page\.html: .*run 7/.test(message));
  const page = await repository.read(PATH);
  world.forget(repository);
  const text: string = TEXTS[method];
  return { log, ours, commits, replaced, text, overwrite, placement, failure, page: page && String(page) };
}

async function publish(
  { fullName }: TestRepository,
  file: LocalFile,
  overwrite: boolean,
  http: ReturnType<typeof createWorldHttp>['http'],
): Promise<{ readonly placement?: Placement; readonly failure?: DeliveryError | undefined }> {
  const ports = fakePorts(http);
  const [owner = '', repo = ''] = fullName.split('/');
  const apiUrl = new URL('https://api.github.com');
  const access = { apiUrl, token: world.token(), repository: { owner, repo } };
  const options = pagesOptionsWith({ overwrite, path: PATH });
  const actions = createPagesActions(options, accessWith(createGitHubClient(access, ports)), ports).publish;
  const placed = await resultOf(async () => runOne(actions, { site: siteOfFile(file), name: 'page.html' }));
  return hasFailed(placed) ? { failure: placed } : { placement: placed };
}

type Run = Awaited<ReturnType<typeof run>>;

function expectNothingLost({ log, ours, commits, replaced, overwrite }: Run): void {
  expect(log.map(({ sha }) => sha)).toEqual(expect.arrayContaining(commits));
  for (const { files: changed } of ours) expect(changed).toEqual([PATH]);
  expect(replaced).toHaveLength(ours.length);
  if (!overwrite) for (const before of replaced) expect([null, BEFORE]).toContain(before);
}

/** Published in a commit with the file, or a failure with a reason; what is there is not published again. */
function expectPublishedOrReported({ log, ours, placement, failure, replaced, text }: Run): void {
  expect(replaced.includes(text)).toBe(false);
  if (placement === undefined) {
    expect(failure).toMatchObject({ message: expect.stringMatching(/\w/), retryable: false });
    expect(failure?.code).not.toBe('INTERNAL');
    return;
  }
  const commit = log.find(({ sha }) => sha === placement.commitSha);
  expect(commit).toBeDefined();
  if (placement.evidence === `commit ${placement.commitSha}`) expect(ours).toContainEqual(commit);
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
        expect(result.failure?.code).toBe(mayWrite ? undefined : 'NOT_OURS');
        expect(result.page === (mayWrite ? result.text : 'theirs')).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });
});
