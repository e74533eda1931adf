import { describe, expect, test } from '@jest/globals';
import { AssetUpload } from '../../../src/channels/release/asset-upload.ts';
import { type DeliveryError, stoppedError } from '../../../src/errors.ts';
import { type Asset, formatLabel } from '../../../src/github/api/releases.ts';
import { failure } from '../../github/fake-github.ts';
import { localFile } from '../../support/files.ts';
import { fakePorts, type Scripted } from '../../support/ports.ts';
import {
  assetWith,
  BYTES,
  FakeRelease,
  type Intercept,
  OWN_DIGEST,
  QUIET,
  RELEASE,
  starterAsset,
} from '../fake-assets.ts';

const LABEL = 'a.zip (screen-delivery)';

const old = assetWith({ id: 4, digest: 'sha256:0ld' });
/** Of another delivery, which replaces the old asset, or was killed long ago. */
const interim = { id: 10, name: 'incoming-0123456789ab-a.zip', label: LABEL, digest: 'sha256:the1r' };
const quiet = assetWith({ ...interim, updated_at: QUIET });
const REPLACE = ['upload incoming-a.zip', 'rename a.zip outgoing-a.zip', 'rename incoming-a.zip a.zip'];
const OWN = [['a.zip', OWN_DIGEST]];
const connectionLost = failure('CONNECTION', undefined, { retryable: true });
const denied = failure('NO_PERMISSION', 403);

/** Runs an upload on a release with these assets. */
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

describe('AssetUpload', () => {
  test.each<[string, readonly Asset[], readonly string[], boolean]>([
    ['nothing exists', [], ['upload a.zip'], true],
    ['the same file exists', [assetWith({ digest: OWN_DIGEST })], [], false],
    ['another file exists', [old], [...REPLACE, 'delete outgoing-a.zip'], true],
    ['a killed delivery has left its own', [quiet], ['upload a.zip', 'delete incoming-a.zip'], true],
    ['both are there', [assetWith({ digest: OWN_DIGEST }), quiet], ['delete incoming-a.zip'], false],
  ])('makes only the necessary changes where %s', async (_, assets, changes, written) => {
    const { release, work } = await startUpload(assets);
    await expect(work).resolves.toMatchObject({ asset: { name: 'a.zip', digest: OWN_DIGEST }, written });
    expect(release.changes).toEqual(changes);
    expect(release.contents).toEqual(OWN);
  });

  test('waits for the upload of another job under the name, and never deletes it', async () => {
    const { release, ports, work } = await startUpload([starterAsset('a.zip', 6)]);
    await expect(work).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'an upload of a.zip to the release files-20260102 has not ended',
      hint: expect.stringMatching(/delete this unfinished asset.*`path:`/),
      leftBehind: [],
    });
    expect(release.changes).toEqual([]);
    expect(release.contents).toEqual([['a.zip', 'starter']]);
    expect(ports.clock.slept.reduce((sum, ms) => sum + ms)).toBeGreaterThan(240_000);
  });

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
    await expect(work).rejects.toMatchObject({
      code: 'NOT_OURS',
      hint: expect.stringContaining('overwrite'),
    });
    expect(release.contents).toEqual([['a.zip', null]]);
    ({ release, work } = await startUpload(release.assets, { intercept: lose }));
    await expect(work).resolves.toMatchObject({ asset: { name: 'a.zip', digest: null }, written: true });
    expect(release.contents).toEqual([['a.zip', null]]);
  });

  test('changes no asset of another name, whether complete or half-uploaded', async () => {
    const others = [
      assetWith({ id: 7, name: 'b.zip' }),
      starterAsset('c.zip', 8),
      { ...quiet, id: 11, name: 'incoming-0123456789ab-b.zip' },
      { ...quiet, label: 'theirs' },
      // It was delivered under this name.
      { ...quiet, id: 14, label: formatLabel(quiet.name) },
      assetWith({ ...interim, id: 12 }),
      assetWith({ ...interim, id: 13, name: 'outgoing-0123456789ab-a.zip' }),
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
    await expect(work).rejects.toMatchObject({
      code: 'NOT_OURS',
      message: `release files-20260102 already has an asset a.zip ${words}`,
      hint: expect.stringMatching(/`overwrite: true`.*`path:`/),
    });
    expect([release.changes, release.host.seen]).toEqual([[], []]);
  });
});

describe('a final failure of an upload', () => {
  const REFUSED = { status: 403, body: { message: 'no' } };
  const fails =
    (change: Parameters<Intercept>[0], ...nths: number[]): Intercept =>
    (made, nth) =>
      made !== change || (nths.length > 0 && !nths.includes(nth))
        ? undefined
        : change === 'upload'
          ? REFUSED
          : denied;
  const LEFT =
    /^perhaps a\.zip, incoming-[0-9a-f]{12}-a\.zip or outgoing-[0-9a-f]{12}-a\.zip in the release /;

  test.each<[string, Intercept, string, boolean]>([
    ['the upload is refused', fails('upload'), 'a.zip 0ld', true],
    ['the old one keeps its name', fails('rename_asset'), 'a.zip 0ld', true],
    ['the new one cannot get the name', fails('rename_asset', 2), 'a.zip 0ld', true],
    [
      'nothing can be renamed any more',
      fails('rename_asset', 2, 3),
      'outgoing-a.zip 0ld, incoming-a.zip',
      false,
    ],
    ['the old one is deleted late', fails('delete_asset', 1), 'a.zip', true],
    ['nothing can be deleted', fails('delete_asset'), 'outgoing-a.zip 0ld, a.zip', false],
  ])('says what it leaves where %s', async (_, intercept, contents, isCleaned) => {
    const { ports, release, work } = await startUpload([old], { intercept });
    if (contents === 'a.zip') await expect(work).resolves.toMatchObject({ asset: { name: 'a.zip' } });
    else {
      const failed = (await work.catch((thrown: unknown) => thrown)) as DeliveryError;
      expect(failed.code).toBe('NO_PERMISSION');
      expect(failed.leftBehind ?? []).toEqual(isCleaned ? [] : [expect.stringMatching(LEFT)]);
    }
    expect(ports.logger.lines.some((line) => line.includes('could not clean up'))).toBe(!isCleaned);
    const shown = release.contents.map(([name, digest]) => (digest === OWN_DIGEST ? name : `${name} 0ld`));
    expect(shown.join(', ')).toBe(contents);
  });

  test('gives the old asset its label back', async () => {
    const theirs = { ...old, label: 'Version 1' };
    const { release, work } = await startUpload([theirs], { intercept: fails('rename_asset', 2) });
    await expect(work).rejects.toMatchObject({ code: 'NO_PERMISSION' });
    const [moved, , restored] = release.github.sent('rename_asset');
    expect([moved, restored]).toMatchObject([{ label: LABEL }, { name: 'a.zip', label: 'Version 1' }]);
  });

  test('is none where another job takes the name during the replacement, or deletes the old asset', async () => {
    const taken = failure('CONFLICT', 422, { retryable: true });
    const theirs = assetWith({ id: 6, digest: 'sha256:the1r' });
    for (const [nth, answer, assets] of [
      [2, taken, [theirs]],
      [1, failure('NOT_FOUND', 404), []],
    ] as const) {
      const { release, work } = await startUpload([old], {
        intercept(change, count) {
          if (change !== 'rename_asset' || count !== nth) return undefined;
          release.assets = [...release.assets.filter(({ name }) => name !== 'a.zip'), ...assets];
          return answer;
        },
      });
      await expect(work).resolves.toMatchObject({ asset: { name: 'a.zip' }, written: true });
      expect(release.contents).toEqual(OWN);
    }
  });

  test.each([{ digest: 'sha256:wr0ng' }, { size: 1 }])(
    'deletes the new asset where the host stored other bytes, and the old one stays: %j',
    async (stored) => {
      const wrong = { status: 201, body: assetWith({ id: 5, name: 'incoming-a.zip', ...stored }) };
      const { release, work } = await startUpload([old, assetWith({ id: 5, name: 'b.zip' })], {
        intercept: (change) => (change === 'upload' ? wrong : undefined),
      });
      await expect(work).rejects.toMatchObject({ code: 'HOST_ERROR', hint: 'try again' });
      expect(release.github.sent('delete_asset')).toEqual([{ asset_id: 5 }]);
      expect(release.contents).toContainEqual(['a.zip', 'sha256:0ld']);
    },
  );
});

const OLD = [['a.zip', 'sha256:0ld']];
test.each<[string, readonly Asset[], Parameters<Intercept>[0], boolean, unknown[][], boolean]>([
  ['the file was uploaded: it is there', [], 'upload', true, OWN, true],
  ['the file was not uploaded', [], 'upload', false, [], false],
  ['the new asset was uploaded: it is deleted', [old], 'upload', true, OLD, false],
  ['the new asset was not uploaded', [old], 'upload', false, OLD, false],
  ['the old asset was not renamed', [old], 'rename_asset', false, OLD, false],
  ['the old asset was renamed: it gets its name back', [old], 'rename_asset', true, OLD, false],
  ['the old asset was not deleted: the new one has its name', [old], 'delete_asset', false, OWN, true],
  ['the old asset was deleted', [old], 'delete_asset', true, OWN, true],
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
