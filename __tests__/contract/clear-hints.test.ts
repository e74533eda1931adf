import { expect, test } from '@jest/globals';
import type { ChannelKey } from '../../src/protocol/words.ts';
import { ACTION, say } from '../../src/words.ts';
import { LARGE_CONTENT } from '../faults/delivery-kinds.ts';
import { type PlayedDelivery, setUpPlay } from '../scenarios/play.ts';
import { createPage } from '../scenarios/scenario.ts';
import type { RepositoryOptions, TestRepository } from '../world/repository.ts';
import { LOGINS, type TokenPermissions } from '../world/tokens.ts';

const play = setUpPlay();
const K1 = { channel: 'K1' };
const PAGE = { 'page.html': createPage() };
const LARGE = { 'large.bin': LARGE_CONTENT };
const WORKFLOW = { buildType: 'workflow' } as const;

interface Case extends Pick<PlayedDelivery, 'files' | 'inputs'> {
  readonly spec?: Partial<RepositoryOptions>;
  readonly permissions?: Partial<TokenPermissions>;
  readonly login?: string;
  readonly before?: (repository: TestRepository) => void;
}

/** What fails; its reason, and the setting, permission or line of YAML to change; and the next best channel. */
const CASES: readonly (readonly [string, Case, said: RegExp, instead: readonly ChannelKey[]])[] = [
  [
    'Pages is switched off',
    { inputs: K1, spec: { pages: false } },
    /has no Pages site.*`setup: true` and `branch: gh-pages`/,
    ['K2', 'K3'],
  ],
  [
    'a workflow builds the site, and leaves the file out',
    { inputs: K1, spec: { pages: { ...WORKFLOW, builds: 'never' } }, login: LOGINS.app },
    /did not show the file within 240 s.*no deployment of our commit yet.*`site-workflow:`/,
    ['K2', 'K3'],
  ],
  [
    "a workflow's deployment fails",
    { inputs: K1, spec: { pages: { ...WORKFLOW, builds: 'errored' } }, login: LOGINS.app },
    /build failed.*deployment of our commit: failure.*fix the workflow that builds the site/,
    ['K2', 'K3'],
  ],
  [
    'the branch is protected',
    { inputs: K1, before: (repository) => repository.protect(true) },
    /HTTP 409: Repository rule violations found.*a branch without this rule/,
    ['K2'],
  ],
  ...[{ files: LARGE, inputs: K1 }, { inputs: { channel: 'K2' } }].map(
    (delivery) =>
      [
        'the repository is empty',
        { ...delivery, spec: { empty: true } },
        /Repository is empty.*push a first commit, such as a README/,
        ['K3'],
      ] as const,
  ),
  [
    'the branch is missing',
    { inputs: { ...K1, branch: 'nowhere' }, spec: { pages: WORKFLOW }, login: LOGINS.app },
    /the branch nowhere of octo.* doesn.t exist.*`branch:`/,
    ['K2'],
  ],
  ...['K1', 'K2'].map(
    (channel) =>
      [
        `the token is read-only, as in a pull request from a fork, ${channel}`,
        { inputs: { channel }, permissions: { contents: 'read' } },
        /Resource not accessible by integration.*give the job `permissions: \{ contents: write \}`/,
        ['K3'],
      ] as const,
  ),
  [
    'the token of a person may only read',
    { inputs: K1, permissions: { contents: 'read' }, login: LOGINS.human },
    /accessible by personal access token.*give the token Contents: Read and write for this repository/,
    ['K3'],
  ],
  [
    'the release is immutable',
    {
      inputs: { channel: 'K2', tag: 'v1' },
      before(repository) {
        repository.immutableReleases(true);
        repository.addEarlierAssets('v1', 1);
      },
    },
    /the release v1 is immutable.*`tag:`/,
    ['K3'],
  ],
  [
    'the bin is full',
    {
      inputs: { channel: 'K3', token: '' },
      before: () =>
        play.intercept(
          { method: 'POST', url: /filebin/, times: 9 },
          { status: 507, body: 'Insufficient storage, please retry later' },
        ),
    },
    /Insufficient storage.*the host is full for now/,
    ['K1', 'K2'],
  ],
];

test.each(CASES)('the report says what to change, and names the next best channel: %s', async (...row) => {
  const [, { spec = {}, permissions = {}, login, before, ...delivery }, said, instead] = row;
  const repository = await play.repository(spec);
  before?.(repository);
  const token = play.world.token(permissions, login);
  const { report } = await play.deliver({ repository, files: PAGE, token, ...delivery });
  expect(report.ready).toBe(false);
  expect(report.lines.RESULT).toMatch(said);
  expect(report.notReady?.hint).toContain(say((w) => w.use(instead), ACTION));
});
