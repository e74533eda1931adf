import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { stoppedError } from '../../../src/errors.ts';
import { formatLabel } from '../../../src/github/api/releases.ts';
import { type Played, refused, setUpPlay, writesOf } from '../../scenarios/play.ts';
import type { StoredAsset } from '../../world/release-store.ts';
import type { RequestMatch } from '../../world/server/interceptions.ts';
import { type HeldAsset, hold, QUIET } from './held-assets.ts';

const play = setUpPlay();
const NEW = 'bytes of the file';
const DIGEST = `sha256:${createHash('sha256').update(NEW).digest('hex')}`;
const LABEL = formatLabel('a.zip');
const OLD: HeldAsset = { name: 'a.zip', digest: 'old', label: 'Version 1' };
const SAME: HeldAsset = { name: 'a.zip', digest: DIGEST };
const STARTER: HeldAsset = { name: 'a.zip', state: 'starter', size: 0 };
/** Another delivery's interim asset, still in use or left by a killed run. */
const INTERIM: HeldAsset = { name: 'incoming-0123456789ab-a.zip', label: LABEL, digest: 'theirs' };
const LEFT: HeldAsset = { ...INTERIM, updatedAt: QUIET };

/** The steps of a replacement, as requests. */
const UPLOAD: RequestMatch = { method: 'POST', url: /uploads\.github\.com/ };
const RENAME: RequestMatch = { method: 'PATCH', url: /releases\/assets\// };
const DELETE: RequestMatch = { method: 'DELETE', url: /releases\/assets\// };

/** A replacement's names without their random digits. */
const shortName = (name: string | null): string => `${name}`.replace(/^incoming-[0-9a-f]{12}/, 'incoming');

/** The requested changes: `+name` is an upload. */
const changesOf = (played: Played): string =>
  writesOf(played)
    .map((one) => {
      const [method, url = ''] = one.split(' ');
      return method === 'POST'
        ? `+${shortName(new URL(url).searchParams.get('name'))}`
        : method?.toLowerCase();
    })
    .join(' ');

/** A release with these assets, and the delivery of `a.zip` to it. */
async function openRelease(...held: readonly HeldAsset[]) {
  const repository = await play.repository({ pages: false });
  const about = { target: 'main', name: 'v1', body: null, draft: false, prerelease: false };
  const release = repository.releaseStore.add({ tag: 'v1', ...about });
  repository.git.updateRef('refs/tags/v1', (await repository.head()) ?? '', null);
  hold(repository, release, ...held);
  play.intercept({ url: /releases\/download\//, times: 99 }, { status: 200, body: NEW });
  const deliver = (inputs: object = { overwrite: 'true' }, signal?: AbortSignal): Promise<Played> =>
    play.deliver({
      ...{ repository, files: { 'a.zip': NEW }, inputs: { channel: 'K2', tag: 'v1', ...inputs } },
      ...(signal && { signal }),
    });
  const shown = ({ name, digest, state }: StoredAsset): string =>
    `${shortName(name)} ${state === 'starter' ? state : digest === DIGEST ? 'new' : digest}`;
  return {
    repository,
    release,
    deliver,
    contents: () => release.assets.map(shown).join(', '),
    /** Other people's changes to the release. */
    change: (...left: readonly HeldAsset[]) => {
      release.assets = [];
      hold(repository, release, ...left);
    },
  };
}

describe('an upload to a release', () => {
  test.each<[string, readonly HeldAsset[], string]>([
    ['nothing exists', [], '+a.zip'],
    ['the same file exists', [SAME], ''],
    ['another file exists', [OLD], '+incoming-a.zip delete patch'],
    ['a killed delivery has left its own', [LEFT], '+a.zip delete'],
    ['both are there', [SAME, LEFT], 'delete'],
  ])('makes only the necessary changes if %s', async (_, held, changes) => {
    const { contents, deliver } = await openRelease(...held);
    const played = await deliver();
    expect([played.report.ready, changesOf(played), contents()]).toEqual([true, changes, 'a.zip new']);
  });

  test.each([7, 900])(
    'waits for the upload of another job for `timeout: %s`, and never deletes it',
    async (timeout) => {
      const { contents, deliver } = await openRelease(STARTER);
      const played = await refused(
        deliver({ timeout: String(timeout) }),
        /^place: an upload of a\.zip to the release v1 has not finished → .*delete the unfinished asset/,
      );
      expect([played.report.lines.UNKNOWN, writesOf(played)]).toEqual(['nothing was published', []]);
      expect(contents()).toBe('a.zip starter');
      expect(played.took).toBe(timeout * 1_000);
    },
  );

  test.each<[string, readonly HeldAsset[], string]>([
    ['has the same bytes in the end', [SAME], ''],
    ['disappears', [], '+a.zip'],
  ])('goes on if the upload of another job %s', async (_, left, changes) => {
    const { change, deliver } = await openRelease(STARTER);
    play.meanwhile({ url: /releases\/\d+\/assets/ }, () => change(...left));
    const played = await deliver({});
    expect([played.report.ready, changesOf(played)]).toEqual([true, changes]);
  });

  test.each<[string, number, HeldAsset, RegExp]>([
    ['of an upload that has not ended', 422, STARTER, /has not finished/],
    ['of one without a label, after a lost answer', 502, STARTER, /has not finished/],
    [
      'of one with another label, after a lost answer',
      502,
      { ...STARTER, label: 'theirs' },
      /has not finished/,
    ],
    [
      'without a digest, after a lost answer',
      502,
      { ...OLD, digest: null, size: NEW.length },
      /without a digest/,
    ],
    ['of another size, after a lost answer', 502, { ...OLD, digest: null, label: LABEL }, /without a digest/],
    ['with other bytes', 422, OLD, /already has an asset a\.zip with other bytes/],
  ])('keeps the asset of a faster job %s', async (_, status, theirs, says) => {
    const { change, deliver, contents } = await openRelease();
    const body = JSON.stringify({ message: 'Validation Failed', errors: [{ code: 'already_exists' }] });
    const alter = (): { status: number; body: string } => {
      change(theirs);
      return { status, body };
    };
    play.intercept({ ...UPLOAD, times: 9 }, { alter });
    expect(changesOf(await refused(deliver({}), says))).not.toContain('delete');
    expect(contents()).toBe(`a.zip ${theirs.state ?? theirs.digest}`);
  });

  const HALF = { state: 'starter', size: 0, digest: null } as const;
  test.each<[string, readonly HeldAsset[], Partial<StoredAsset>, string]>([
    ['half of the file', [], HALF, '+a.zip delete +a.zip'],
    ['the whole file, on a host without digests', [], { digest: null }, '+a.zip'],
    [
      'half of it under a name of its own',
      [OLD],
      { ...HALF, label: null },
      '+incoming-a.zip delete +incoming-a.zip delete patch',
    ],
  ])('goes on if its answer was lost and it left %s', async (_, held, left, changes) => {
    const { deliver, release } = await openRelease(...held);
    const alter = (): { status: number } => {
      Object.assign(release.assets.at(-1) ?? {}, left);
      return { status: 502 };
    };
    play.intercept(UPLOAD, { alter });
    const played = await deliver();
    expect([played.report.ready, changesOf(played)]).toEqual([true, changes]);
  });

  test('changes no asset of another name, whether complete or half-uploaded', async () => {
    const others: HeldAsset[] = [
      { name: 'b.zip' },
      { ...STARTER, name: 'c.zip' },
      { ...LEFT, name: 'incoming-0123456789ab-b.zip' },
      { ...LEFT, label: 'theirs' },
      // The label has the delivered name.
      { ...LEFT, label: formatLabel(LEFT.name) },
      INTERIM,
    ];
    const { deliver, release } = await openRelease(...others, OLD);
    const before = release.assets.slice(0, -1);
    await deliver();
    expect(release.assets.slice(0, -1)).toEqual(before);
  });

  test.each([
    [null, 'without a digest'],
    ['old', 'with other bytes'],
  ])('replaces no existing asset without overwrite: digest %s', async (digest, words) => {
    const { deliver } = await openRelease({ ...OLD, digest });
    const says = `release v1 already has an asset a.zip ${words} → .*\`path:\`.*\`overwrite: true\``;
    expect(writesOf(await refused(deliver({}), new RegExp(says)))).toEqual([]);
  });
});

describe('a final failure of an upload', () => {
  const PARTS = /^left behind: perhaps a\.zip or incoming-[0-9a-f]{12}-a\.zip in the release v1$/;
  const LOST =
    /^left behind: perhaps a\.zip or incoming-\S+ in the release v1, and no longer the earlier a\.zip$/;

  test.each<[string, RequestMatch, string, RegExp | null, number?]>([
    ['the upload is refused', UPLOAD, 'a.zip old', null],
    ['the old one is not deleted', DELETE, 'a.zip old', null],
    ['the host does not find the old one once', DELETE, 'a.zip new', null, 404],
    ['nothing can be deleted', { ...DELETE, times: 9 }, 'a.zip old, incoming-a.zip new', PARTS],
    ['the new one does not get the name at once', RENAME, 'a.zip new', null],
    ['the host does not find the new one for a while', { ...RENAME, times: 9 }, 'a.zip new', null, 404],
    ['the host renames nothing', { ...RENAME, times: 99 }, 'incoming-a.zip new', LOST, 500],
    ['nothing may be renamed', { ...RENAME, times: 99 }, 'incoming-a.zip new', LOST],
  ])('reports what it leaves if %s', async (_, match, left, told, status = 403) => {
    const { contents, deliver, release } = await openRelease(OLD);
    play.intercept(match, { status, body: '{"message":"no"}' });
    const { log, report } = await deliver();
    const cleaned = left === 'a.zip new' ? /^$/ : /^nothing was published$/;
    expect(report.lines.UNKNOWN).toMatch(told ?? cleaned);
    expect(log.includes('could not clean up')).toBe(told !== null);
    expect(contents()).toBe(left);
    if (/ old/.test(left)) expect(release.assets[0]?.label).toBe('Version 1');
  });

  test.each<[string, RequestMatch, readonly HeldAsset[]]>([
    ['takes the name during the replacement', DELETE, [{ name: 'a.zip', digest: 'theirs' }]],
    ['deletes the old asset', UPLOAD, []],
  ])('does not happen if another job %s', async (_, match, theirs) => {
    const { contents, deliver, release, repository } = await openRelease(OLD);
    play.meanwhile(match, () => {
      release.assets = release.assets.filter(({ name }) => name !== 'a.zip');
      hold(repository, release, ...theirs);
    });
    expect((await deliver()).report.ready).toBe(true);
    expect(contents()).toBe('a.zip new');
  });

  test.each([{ digest: 'wrong' }, { digest: null, size: 1 }])(
    'deletes the new asset if GitHub stored other bytes, and keeps the old asset: %j',
    async (stored) => {
      const { contents, deliver, release } = await openRelease(OLD);
      const alter = (real: { body: Buffer }): { status: number; body: string } => {
        Object.assign(release.assets.at(-1) ?? {}, stored);
        return { status: 201, body: JSON.stringify({ ...JSON.parse(String(real.body)), ...stored }) };
      };
      play.intercept(UPLOAD, { alter });
      await refused(deliver(), /^place: GitHub stored other bytes.* → try again$/);
      expect(contents()).toBe('a.zip old');
    },
  );
});

test.each<[string, readonly HeldAsset[], RequestMatch, boolean, string]>([
  ['the file was uploaded: it is there', [], UPLOAD, true, 'a.zip new'],
  ['the file was not uploaded', [], UPLOAD, false, ''],
  ['the new asset was uploaded: it is deleted', [OLD], UPLOAD, true, 'a.zip old'],
  ['the new asset was not uploaded', [OLD], UPLOAD, false, 'a.zip old'],
  ['the old asset may be deleted: the new one gets the name', [OLD], DELETE, false, 'a.zip new'],
  ['the old asset was deleted: the new one gets the name', [OLD], DELETE, true, 'a.zip new'],
  ['the new asset may have the name: it gets it', [OLD], RENAME, false, 'a.zip new'],
  ['the new asset has the name', [OLD], RENAME, true, 'a.zip new'],
])('a stop during an upload leaves one asset with its name if %s', async (_, held, during, arrives, left) => {
  const { contents, deliver } = await openRelease(...held);
  const stop = new AbortController();
  const end = (): void => stop.abort(stoppedError());
  if (arrives) play.meanwhile(during, end);
  else {
    const hanging = play.intercept(during, { fault: 'hang' });
    void (async () => {
      while (hanging.hits === 0) await new Promise(setImmediate);
      end();
    })();
  }
  expect((await deliver(undefined, stop.signal)).report.notReady?.code).toBe('ABORTED');
  expect(contents()).toBe(left);
});
