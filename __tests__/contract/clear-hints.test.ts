import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ACTION, say } from '../../src/words.ts';
import { DELIVERY_FILES, type DeliveryKind } from '../faults/delivery-kinds.ts';
import { FaultRunner } from '../faults/fault-runner.ts';
import { createResponse, createWorldHttp } from '../faults/recorded-http.ts';
import type { TestRepository } from '../world/repository.ts';
import { writeFiles } from '../world/runner.ts';
import { LOGINS } from '../world/tokens.ts';
import { type GitHubWorld, startWorld } from '../world/world.ts';

let world: GitHubWorld;

beforeAll(async () => {
  world = await startWorld();
  await writeFiles(world.folder, DELIVERY_FILES);
});
afterAll(() => world.stop());

interface Case extends Omit<DeliveryKind, 'name' | 'file'> {
  readonly story: string;
  readonly file?: string;
  /** What the token may do with contents. */
  readonly contents?: 'read';
  /** The host's answer to the upload. */
  readonly posting?: { readonly status: number; readonly body: string };
  readonly reason: RegExp;
  /** The setting, permission or YAML line to change. */
  readonly change: string;
  /** The next best channel. */
  readonly instead: string;
}

const CASES: readonly Case[] = [
  {
    story: 'Pages is switched off',
    inputs: { channel: 'K1' },
    repository: { pages: false },
    reason: /has no Pages site/,
    change: 'Settings → Pages (Deploy from a branch)',
    instead: 'K2 or K3',
  },
  {
    story: 'a workflow builds the site, and leaves the file out',
    inputs: { channel: 'K1' },
    repository: { pages: { buildType: 'workflow', builds: 'never' } },
    login: LOGINS.app,
    reason: /did not show the file within 240 s.*no deployment of our commit yet/,
    change: 'Settings → Pages → Source',
    instead: 'K2 or K3',
  },
  {
    story: "a workflow's deployment fails",
    inputs: { channel: 'K1' },
    repository: { pages: { buildType: 'workflow', builds: 'errored' } },
    login: LOGINS.app,
    reason: /build failed.*deployment of our commit: failure/,
    change: 'fix the workflow that builds the site',
    instead: 'K2 or K3',
  },
  {
    story: 'the build is stuck',
    inputs: { channel: 'K1' },
    repository: { pages: { builds: 'stuck', live: false } },
    reason: /did not show the file within 240 s.*build of our commit: building/,
    change: '"pages build and deployment"',
    instead: 'K2 or K3',
  },
  {
    story: 'the build fails',
    inputs: { channel: 'K1' },
    repository: { pages: { builds: 'errored' } },
    reason: /build failed.*build of our commit: errored/,
    change: 'commit an empty .nojekyll',
    instead: 'K2 or K3',
  },
  ...(
    [
      ['', 'page.html', 409],
      [', method B', 'large.bin', 422],
    ] as const
  ).map(([method, file, httpCode]) => ({
    story: `the branch is protected${method}`,
    file,
    inputs: { channel: 'K1' },
    before: async (repository: TestRepository) => repository.protect(true),
    reason: new RegExp(`HTTP ${httpCode}: Repository rule violations found`),
    change: 'may bypass the rule',
    instead: 'K2',
  })),
  {
    story: 'the repository is empty, K1',
    file: 'large.bin',
    inputs: { channel: 'K1' },
    repository: { empty: true },
    reason: /Git Repository is empty/,
    change: 'push a first one, such as a README',
    instead: 'K3',
  },
  {
    story: 'the repository is empty, K2',
    inputs: { channel: 'K2' },
    repository: { empty: true },
    reason: /Repository is empty/,
    change: 'push a first one, such as a README',
    instead: 'K3',
  },
  {
    story: 'the branch is missing',
    login: LOGINS.app,
    inputs: { channel: 'K1', branch: 'nowhere' },
    repository: { pages: { buildType: 'workflow' } },
    reason: /the branch nowhere of octo.* does not exist/,
    change: '`branch:`',
    instead: 'K2',
  },
  ...['K1', 'K2'].map((channel) => ({
    story: `the token is read-only, as in a pull request from a fork, ${channel}`,
    inputs: { channel },
    contents: 'read' as const,
    reason: /Resource not accessible by integration/,
    change: 'give the job `permissions: { contents: write }`',
    instead: 'K3',
  })),
  {
    story: 'the release is immutable',
    inputs: { channel: 'K2', tag: 'v1' },
    before: async (repository) => {
      repository.immutableReleases(true);
      repository.addEarlierAssets('v1', 1);
    },
    reason: /the release v1 is immutable/,
    change: '`tag:`',
    instead: 'K3',
  },
  {
    story: 'the bin is full',
    inputs: { channel: 'K3', token: '' },
    posting: { status: 507, body: 'Insufficient storage, please retry later' },
    reason: /Insufficient storage/,
    change: 'the host is full for now',
    instead: 'K1 or K2',
  },
];

test.each(CASES)('the report says what to change and names the next best channel: $story', async (one) => {
  const runner = new FaultRunner(world, ({ clock }) =>
    createWorldHttp(world, clock, ({ request }) => {
      if (one.posting === undefined || request.method !== 'POST') return undefined;
      const answer = { ...one.posting, headers: {}, body: Buffer.from(one.posting.body) };
      return async () => createResponse(answer);
    }),
  );
  const token = one.contents === undefined ? {} : { token: world.token({ contents: one.contents }) };
  const kind = {
    ...one,
    name: one.story,
    file: one.file ?? 'page.html',
    inputs: { ...one.inputs, ...token },
  };
  const { report } = await runner.run(kind);
  expect(report.ready).toBe(false);
  expect(report.notReady?.reason).toMatch(one.reason);
  expect(report.notReady?.hint).toContain(one.change);
  expect(report.notReady?.hint).toContain(say((w) => w.use(one.instead), ACTION));
  expect(report.lines.RESULT).toContain(one.change);
});
