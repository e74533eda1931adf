import { describe, expect, test } from '@jest/globals';
import type { Placement } from '../../../src/channels/channel.ts';
import { watchBuild } from '../../../src/channels/pages/build.ts';
import { absent, FakeGitHub, failure } from '../../github/fake-github.ts';
import { fakePorts } from '../../support/ports.ts';

const COMMIT = 'c0ffee';
const PLACEMENT = { commitSha: COMMIT } as Placement;
const SECONDS = 1_000;

function watching(
  answers: ConstructorParameters<typeof FakeGitHub>[0],
  builtBy: 'branch' | 'workflow' = 'branch',
) {
  const github = new FakeGitHub(answers);
  const ports = fakePorts();
  const watch = watchBuild(github, builtBy, 240 * SECONDS, ports);
  /** Looks, and lets so much time pass. */
  const look = async (after: number, placement = PLACEMENT) => {
    const state = await watch(placement);
    await ports.clock.sleep(after);
    return state;
  };
  return { github, look };
}

describe('watching a build', () => {
  test('is finished when the build of our commit is built, and asks no more', async () => {
    const { github, look } = watching({
      pages_latest: (_: unknown, nth: number) => ({
        status: nth === 1 ? 'building' : 'built',
        commit: COMMIT,
      }),
    });
    const states = [await look(5 * SECONDS), await look(5 * SECONDS), await look(5 * SECONDS)];
    expect(states.map(({ finished }) => finished)).toEqual([false, true, true]);
    expect(github.calls).toHaveLength(2);
  });

  test('asks at most 48 times, and at most every 5 s, however often it is called', async () => {
    const { github, look } = watching({ pages_latest: { status: 'building', commit: COMMIT } });
    for (let s = 0; s < 400; s += 1) await look(SECONDS);
    expect(github.sent('pages_latest')).toHaveLength(48);
  });

  test('keeps the last answer between two polls', async () => {
    const { github, look } = watching({ pages_latest: { status: 'building', commit: COMMIT } });
    const [first, second] = [await look(SECONDS), await look(SECONDS)];
    expect(second).toBe(first);
    expect(github.calls).toHaveLength(1);
  });

  test('fails with the build’s own error field', async () => {
    const { look } = watching({
      pages_latest: { status: 'errored', commit: COMMIT, error: { message: 'page.html: bad front matter' } },
    });
    await expect(look(0)).rejects.toMatchObject({
      code: 'BUILD_ERRORED',
      message: "the site's build failed: page.html: bad front matter (build of our commit: errored)",
      hint: expect.stringContaining('.nojekyll'),
    });
  });

  test('is not frightened by an older commit’s error', async () => {
    const { look } = watching({ pages_latest: { status: 'errored', commit: 'older' }, compare: absent });
    await expect(look(0)).resolves.toMatchObject({ finished: false });
  });

  test('requests a build once, when none has started after six polls', async () => {
    const { github, look } = watching({ pages_latest: absent, request_build: { status: 'queued' } });
    for (let n = 1; n <= 5; n += 1) await look(5 * SECONDS);
    expect(github.sent('request_build')).toHaveLength(0);
    expect((await look(5 * SECONDS)).detail).toBe('no build yet; a build was requested');
    for (let n = 1; n <= 20; n += 1) await look(5 * SECONDS);
    expect(github.sent('request_build')).toHaveLength(1);
  });

  test('keeps saying which permission a request lacks', async () => {
    const { github, look } = watching({ pages_latest: absent, request_build: failure('NO_PERMISSION', 403) });
    for (let n = 1; n <= 10; n += 1) await look(5 * SECONDS);
    expect((await look(0)).detail).toContain('`permissions: { pages: write }`');
    expect(github.sent('request_build')).toHaveLength(1);
  });

  test('requests one again where the host may not have heard of it, until it has', async () => {
    const { github, look } = watching({
      pages_latest: absent,
      request_build: (_: unknown, nth: number) =>
        nth < 3 ? failure('HOST_ERROR', 502, { retryable: true }) : { status: 'queued' },
    });
    for (let n = 1; n <= 12; n += 1) await look(5 * SECONDS);
    expect(github.sent('request_build')).toHaveLength(3);
    expect((await look(0)).detail).toBe('no build yet; a build was requested');
  });

  test('requests none while ours is building', async () => {
    const { github, look } = watching({ pages_latest: { status: 'queued', commit: COMMIT } });
    for (let n = 1; n <= 10; n += 1) await look(5 * SECONDS);
    expect(github.sent('request_build')).toEqual([]);
  });

  test('asks for deployments where a workflow builds the site, and never for a build', async () => {
    const { github, look } = watching({ deployments: [] }, 'workflow');
    for (let n = 1; n <= 10; n += 1) await look(5 * SECONDS);
    expect(new Set(github.names)).toEqual(new Set(['deployments']));
  });

  test('asks nothing without a commit', async () => {
    const { github, look } = watching({});
    await expect(look(0, {} as Placement)).resolves.toMatchObject({
      finished: false,
      detail: 'not asked yet',
    });
    expect(github.calls).toEqual([]);
  });
});
