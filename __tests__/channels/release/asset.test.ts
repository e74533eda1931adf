import { describe, expect, test } from '@jest/globals';
import { AssetUpload, hasDigestOf, isStored } from '../../../src/channels/release/asset.ts';
import { stoppedError } from '../../../src/errors.ts';
import type { Asset } from '../../../src/github/api/releases.ts';
import { fileWith } from '../../delivery/builders.ts';
import { failure } from '../../github/fake-github.ts';
import { localFile } from '../../support/files.ts';
import { fakePorts, type Scripted } from '../../support/ports.ts';
import {
  assetWith,
  BYTES,
  FakeRelease,
  INCOMING,
  type Intercept,
  OWN_DIGEST,
  RELEASE,
  starterAsset,
} from '../fake-assets.ts';

const LABEL = 'a.zip (screen-delivery)';

const old = assetWith({ id: 4, digest: 'sha256:0ld' });
const incoming = assetWith({ id: 5, name: INCOMING, label: LABEL, digest: OWN_DIGEST });
/** Of another delivery, which has deleted the old asset or is about to. */
const interim = { id: 10, name: 'incoming-0123456789ab-a.zip', label: LABEL, digest: 'sha256:the1r' };
const OWN = [['a.zip', OWN_DIGEST]];
const connectionLost = failure('CONNECTION', undefined, { retryable: true });
const denied = failure('NO_PERMISSION', 403);
/** Refuses a change: the first one, or all. */
const deny =
  (refused: string, times = 9): Intercept =>
  (change, nth) =>
    change === refused && nth <= times ? denied : undefined;

async function startUpload(
  assets: readonly Asset[],
  { intercept, overwrite = true }: { intercept?: Intercept; overwrite?: boolean } = {},
) {
  const file = await localFile(BYTES, 'a.zip');
  const release = new FakeRelease(assets, intercept);
  const ports = fakePorts(release.host.http);
  // After a stop, the client only answers calls that are made with another signal.
  const github = release.github.withSignal(ports.signal);
  const task = { file, name: 'a.zip', originalName: 'a.zip' };
  const work = new AssetUpload(task, { github, release: RELEASE, assets, overwrite }, ports).run();
  // The test reads its error later.
  work.catch(() => undefined);
  return { release, ports, work };
}

describe('an asset and its file', () => {
  const file = fileWith({ sha256: 'f00d', size: 12 });
  test.each<[string, string | null, number, boolean, boolean]>([
    ['the digest is that of the file, whatever the size', 'sha256:f00d', 1, true, true],
    ['the digest is another one and the size is the same', 'sha256:0ther', 12, false, false],
    ['there is no digest and the size is the same', null, 12, false, true],
    ['there is no digest and the size is another one', null, 11, false, false],
  ])('are compared where %s: a found one, and one that was just sent', (_, digest, size, found, sent) => {
    const asset = assetWith({ digest, size });
    expect([hasDigestOf(asset, file), isStored(asset, file)]).toEqual([found, sent]);
  });
});

describe('AssetUpload', () => {
  test.each<[string, readonly Asset[], readonly string[], boolean]>([
    ['nothing exists', [], ['upload a.zip'], true],
    ['the same file exists', [assetWith({ digest: OWN_DIGEST })], [], false],
    ['another file exists', [old], [`upload ${INCOMING}`, 'delete a.zip', `rename ${INCOMING}`], true],
    ['an earlier upload exists too', [old, incoming], ['delete a.zip', `rename ${INCOMING}`], true],
    [
      'a killed delivery left its own',
      [assetWith(interim)],
      ['upload a.zip', `delete ${interim.name}`],
      true,
    ],
    ['both are there', [assetWith({ digest: OWN_DIGEST }), incoming], [`delete ${INCOMING}`], false],
  ])('makes only the necessary changes where %s', async (_, assets, changes, written) => {
    const { release, work } = await startUpload(assets);
    await expect(work).resolves.toMatchObject({ asset: { name: 'a.zip', digest: OWN_DIGEST }, written });
    expect(release.changes).toEqual(changes);
    expect(release.contents).toEqual(OWN);
  });

  test.each(['a.zip', INCOMING])(
    'waits for the upload of another job under %s, and never deletes it',
    async (name) => {
      const { release, ports, work } = await startUpload([starterAsset(name, 6)]);
      const message = `an upload of ${name} to the release files-20260102 has not ended`;
      const hint = expect.stringMatching(/delete this unfinished asset.*`path:`/);
      await expect(work).rejects.toMatchObject({ code: 'CONFLICT', message, hint, leftBehind: [] });
      expect(release.changes).toEqual([]);
      expect(release.contents).toEqual([[name, 'starter']]);
      expect(ports.clock.slept.reduce((sum, ms) => sum + ms)).toBeGreaterThan(240_000);
    },
  );

  test.each<[string, readonly Asset[], readonly string[]]>([
    ['has the same bytes in the end', [assetWith({ id: 6, digest: OWN_DIGEST })], []],
    ['disappears', [], ['upload a.zip']],
  ])('goes on where the upload of another job %s', async (_, then, changes) => {
    const { release, work } = await startUpload([starterAsset('a.zip', 6)], { overwrite: false });
    setImmediate(() => {
      release.assets = [...then];
    });
    await expect(work).resolves.toMatchObject({ written: changes.length > 0 });
    expect(release.changes).toEqual(changes);
  });

  const TAKEN = { status: 422, body: { message: 'Validation Failed', errors: [{ code: 'already_exists' }] } };
  const LOST_ANSWER = { status: 502, body: '<html>' };
  const UNFINISHED = starterAsset('a.zip', 6);
  test.each<[string, Scripted, Asset, object]>([
    ['of an upload that has not ended', TAKEN, UNFINISHED, { code: 'CONFLICT' }],
    ['after a lost answer', LOST_ANSWER, { ...UNFINISHED, label: 'theirs' }, { code: 'CONFLICT' }],
    ['with other bytes', TAKEN, old, { code: 'NOT_OURS' }],
  ])('keeps the asset of a faster job %s', async (_, answer, theirs, refusal) => {
    const { release, work } = await startUpload([], {
      overwrite: false,
      intercept(change) {
        if (change !== 'upload') return undefined;
        release.assets = [theirs];
        return answer;
      },
    });
    await expect(work).rejects.toMatchObject(refusal);
    expect([release.changes, release.assets]).toEqual([[], [theirs]]);
  });

  test('is refused where an answer without a digest is lost, and overwrite leads out', async () => {
    const lose: Intercept = (change) => {
      if (change !== 'upload') return undefined;
      return () => {
        release.assets = release.assets.map((one) => ({ ...one, digest: null }));
        return connectionLost;
      };
    };
    let { release, work } = await startUpload([], { intercept: lose, overwrite: false });
    await expect(work).rejects.toMatchObject({ code: 'NOT_OURS' });
    expect(release.contents).toEqual([['a.zip', null]]);
    ({ release, work } = await startUpload(release.assets, { intercept: lose }));
    await expect(work).resolves.toMatchObject({ asset: { name: 'a.zip', digest: null }, written: true });
    expect(release.contents).toEqual([['a.zip', null]]);
  });

  test('changes no asset of another name, whether complete or half-uploaded', async () => {
    const others = [
      assetWith({ id: 7, name: 'b.zip' }),
      starterAsset('c.zip', 8),
      assetWith({ id: 11, name: 'incoming-0123456789ab-b.zip', label: LABEL }),
      assetWith({ ...interim, label: 'theirs' }),
    ];
    const { release, work } = await startUpload([...others, old]);
    await work;
    expect(release.assets.filter(({ id }) => others.some((other) => other.id === id))).toEqual(others);
  });

  test.each([
    [null, 'for which the host gives no digest'],
    ['sha256:0ld', 'with other bytes'],
  ])('replaces no existing asset without overwrite: digest %s', async (digest, words) => {
    const { release, work } = await startUpload([assetWith({ digest })], { overwrite: false });
    const message = `release files-20260102 already has an asset a.zip ${words}`;
    const hint = expect.stringMatching(/`overwrite: true`.*`path:`/);
    await expect(work).rejects.toMatchObject({ code: 'NOT_OURS', message, hint });
    expect([release.changes, release.host.seen]).toEqual([[], []]);
  });
});

const REFUSED = { status: 403, body: { message: 'no' } };
const wrong = { status: 201, body: assetWith({ id: 5, name: INCOMING, digest: 'sha256:wr0ng' }) };

test.each<[string, Intercept, readonly Asset[]]>([
  ['the upload is refused', (change) => (change === 'upload' ? REFUSED : undefined), [old]],
  ['the old one stays', deny('delete_asset', 1), [old]],
  ['nothing can be deleted', deny('delete_asset'), [old, incoming]],
  ['the new one cannot be renamed', deny('rename_asset'), [incoming]],
])('a final failure of an upload is cleaned up where %s', async (_, intercept, left) => {
  const { ports, release, work } = await startUpload([old], { intercept });
  await expect(work).rejects.toMatchObject({ code: 'NO_PERMISSION' });
  const warning = `warning: could not clean up a half-done upload: ${denied.message}`;
  expect(ports.logger.lines.includes(warning)).toBe(left.includes(incoming));
  expect(release.contents).toEqual(left.map(({ name, digest }) => [name, digest]));
});

test('a final failure of an upload is none where the new asset gets its name in the end', async () => {
  const { release, work } = await startUpload([old], { intercept: deny('rename_asset', 1) });
  await expect(work).resolves.toMatchObject({ asset: { name: 'a.zip' }, written: true });
  expect(release.contents).toEqual(OWN);
});

test('a final failure of an upload deletes the new asset where the host stored other bytes, and the old one stays', async () => {
  const { release, work } = await startUpload([old, assetWith({ id: 5, name: 'b.zip' })], {
    intercept: (change) => (change === 'upload' ? wrong : undefined),
  });
  await expect(work).rejects.toMatchObject({ code: 'HOST_ERROR', hint: 'try again' });
  expect(release.github.sent('delete_asset')).toEqual([{ asset_id: 5 }]);
  expect(release.contents).toContainEqual(['a.zip', 'sha256:0ld']);
});

const OLD = [['a.zip', 'sha256:0ld']];
test.each<[string, readonly Asset[], Parameters<Intercept>[0], boolean, unknown[][], boolean]>([
  ['the file was uploaded: it is there', [], 'upload', true, OWN, true],
  ['the file was not uploaded', [], 'upload', false, [], false],
  ['the new asset was uploaded: it is deleted', [old], 'upload', true, OLD, false],
  ['the new asset was not uploaded', [old], 'upload', false, OLD, false],
  ['the old asset was not deleted', [old], 'delete_asset', false, OLD, false],
  ['the old asset was deleted: the new one gets its name', [old], 'delete_asset', true, OWN, true],
  ['the new asset was not renamed yet', [old], 'rename_asset', false, OWN, true],
  ['the new asset got its name', [old], 'rename_asset', true, OWN, true],
])(
  'a stop of the delivery during an upload leaves one asset under its name where %s',
  async (_, assets, during, arrives, contents, isPlaced) => {
    const stopped = failure('ABORTED');
    const started = await startUpload(assets, {
      intercept(change, count) {
        if (change !== during || count !== 1) return undefined;
        started.ports.stop.abort(stoppedError());
        return arrives ? () => stopped : stopped;
      },
    });
    const { release, work } = started;
    if (isPlaced) await expect(work).resolves.toMatchObject({ asset: { name: 'a.zip' }, written: true });
    else await expect(work).rejects.toMatchObject({ code: 'ABORTED' });
    expect(release.contents).toEqual(contents);
  },
);
