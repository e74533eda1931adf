import { describe, expect, test } from '@jest/globals';
import { assetExistsError, ensureAsset, hasSameContent } from '../../../src/channels/release/asset.ts';
import type { Asset } from '../../../src/github/api/releases.ts';
import { fileWith } from '../../delivery/builders.ts';
import { failure } from '../../github/fake-github.ts';
import { localFile } from '../../support/files.ts';
import { fakePorts } from '../../support/ports.ts';
import {
  asset,
  BYTES,
  INCOMING,
  KeptRelease,
  type Meddle,
  OUTGOING,
  OWN_DIGEST,
  RELEASE,
} from '../assets.ts';

const old = asset({ id: 4, digest: 'sha256:0ld' });
const incoming = asset({ id: 5, name: INCOMING, digest: OWN_DIGEST });
const starter = (name: string, id: number): Asset => asset({ id, name, state: 'starter', size: 0 });
const OWN = [['a.zip', OWN_DIGEST]];
const lost = failure('CONNECTION', undefined, { retryable: true });
const denied = failure('NO_PERMISSION', 403);

/** Brings the file to a release that holds these assets. */
async function bringing(
  assets: readonly Asset[],
  { meddle, overwrite = true }: { meddle?: Meddle; overwrite?: boolean } = {},
) {
  const file = await localFile(BYTES, 'a.zip');
  const release = new KeptRelease(assets, meddle);
  const ports = fakePorts(release.host.http);
  // As the client does it: once the delivery is stopped, only what is asked for under another signal is answered.
  const github = release.github.withSignal(ports.signal);
  const task = { github, tag: 'files-20260102', overwrite, file, name: 'a.zip', label: 'a.zip' };
  const work = ensureAsset(task, { release: RELEASE, assets }, ports);
  // Its failure is looked at when all is over.
  work.catch(() => undefined);
  return { release, ports, work };
}

describe('whether an asset is the file', () => {
  const file = fileWith({ sha256: 'f00d', size: 12 });
  test.each<[string, Partial<Asset>, boolean, boolean]>([
    ['its digest', { digest: 'sha256:f00d', size: 12 }, false, true],
    ['its digest, whatever the size', { digest: 'sha256:f00d', size: 1 }, false, true],
    ['another digest of the same size', { digest: 'sha256:0ther', size: 12 }, true, false],
    ['the same size without a digest, sent by this run', { digest: null, size: 12 }, true, true],
    ['the same size without a digest, found there', { digest: null, size: 12 }, false, false],
    ['another size without a digest', { digest: null, size: 11 }, true, false],
  ])('is told by %s', (_, more, sent, same) => {
    expect(hasSameContent(asset(more), file, sent)).toBe(same);
  });

  test.each([
    [null, 'whose bytes the host does not name'],
    ['sha256:0ther', 'with other bytes'],
  ])('is said in the refusal, with what may be done (digest %s)', (digest, words) => {
    expect(assetExistsError('a.zip', 't', asset({ digest }))).toMatchObject({
      code: 'NOT_OURS',
      message: `release t already has an asset a.zip ${words}`,
      hint: expect.stringMatching(/`overwrite: true`.*`path:`/),
    });
  });
});

describe('bringing a file', () => {
  test.each<[string, readonly Asset[], readonly string[], boolean, boolean]>([
    ['nothing stands: one upload', [], ['upload a.zip'], true, true],
    ['it stands already: nothing', [asset({ digest: OWN_DIGEST })], [], false, false],
    [
      'another stands: the upload first, the swap after',
      [old],
      [`upload ${INCOMING}`, 'rename a.zip', `rename ${INCOMING}`, `delete ${OUTGOING}`],
      true,
      true,
    ],
    [
      'another stands, and an earlier run has sent ours: only the swap',
      [old, incoming],
      ['rename a.zip', `rename ${INCOMING}`, `delete ${OUTGOING}`],
      true,
      false,
    ],
    [
      'an earlier run got no further than half of the swap: the rest of it',
      [incoming, asset({ id: 12, name: OUTGOING, digest: 'sha256:0ld' })],
      [`rename ${INCOMING}`, `delete ${OUTGOING}`],
      true,
      false,
    ],
    [
      'it stands, and so does what an earlier run had sent: that goes',
      [asset({ digest: OWN_DIGEST }), incoming],
      [`delete ${INCOMING}`],
      false,
      false,
    ],
    ['half of it stands: cleared first', [starter('a.zip', 6)], ['delete a.zip', 'upload a.zip'], true, true],
    [
      'another stands, and half a replacement: cleared first',
      [old, starter(INCOMING, 6)],
      [
        `delete ${INCOMING}`,
        `upload ${INCOMING}`,
        'rename a.zip',
        `rename ${INCOMING}`,
        `delete ${OUTGOING}`,
      ],
      true,
      true,
    ],
  ])('where %s', async (_, assets, changes, written, confirmed) => {
    const { release, work } = await bringing(assets);
    await expect(work).resolves.toMatchObject({
      asset: { name: 'a.zip', digest: OWN_DIGEST },
      written,
      confirmed,
    });
    expect(release.changes).toEqual(changes);
    expect(release.held).toEqual(OWN);
  });

  test('touches nobody else’s asset, half of it or whole', async () => {
    const others = [
      asset({ id: 7, name: 'b.zip' }),
      starter('c.zip', 8),
      asset({ id: 10, name: 'incoming-0-a.zip' }),
    ];
    const { release, work } = await bringing([...others, old]);
    await work;
    expect(release.assets.filter(({ id }) => others.some((other) => other.id === id))).toEqual(others);
  });

  test('replaces nothing unasked', async () => {
    const { release, work } = await bringing([old], { overwrite: false });
    await expect(work).rejects.toMatchObject({ code: 'NOT_OURS' });
    expect([release.changes, release.host.seen]).toEqual([[], []]);
  });

  test.each<[string, Meddle, number]>([
    ['an upload', (change, nth) => (change === 'upload' && nth === 1 ? () => lost : undefined), 1],
    ['an upload that never came', (change, nth) => (change === 'upload' && nth === 1 ? lost : undefined), 2],
    ['the new name', (change, nth) => (change === 'rename_asset' && nth === 1 ? () => lost : undefined), 1],
    [
      'the new name that was not given',
      (change, nth) => (change === 'rename_asset' && nth === 1 ? lost : undefined),
      1,
    ],
    ['the deletion', (change, nth) => (change === 'delete_asset' && nth === 1 ? () => lost : undefined), 1],
  ])('ends well although the answer to %s is lost', async (_, meddle, uploads) => {
    const { release, work } = await bringing([old], { meddle });
    await expect(work).resolves.toMatchObject({
      asset: { name: 'a.zip', digest: OWN_DIGEST },
      written: true,
    });
    expect(release.held).toEqual(OWN);
    expect(release.host.seen).toHaveLength(uploads);
  });
});

describe('what is half done when it fails for good', () => {
  const wrong = { status: 201, body: asset({ id: 5, name: INCOMING, digest: 'sha256:wr0ng' }) };

  test.each<[string, Meddle, readonly Asset[]]>([
    [
      'the upload is refused',
      (change) => (change === 'upload' ? { status: 403, body: { message: 'no' } } : undefined),
      [old],
    ],
    [
      'the old one can’t give way: the new one goes again',
      (change) => (change === 'rename_asset' ? denied : undefined),
      [old],
    ],
    [
      'the new one can’t be named: the old one gets its name back',
      // The first name is that under which the old one waits.
      (change, nth) => (change === 'rename_asset' && nth === 2 ? denied : undefined),
      [old],
    ],
    [
      'nothing can be named any more: neither is lost',
      (change, nth) => (change === 'rename_asset' && nth > 1 ? denied : undefined),
      [{ ...old, name: OUTGOING }, incoming],
    ],
  ])('is cleared away where %s', async (_, meddle, left) => {
    const { release, work } = await bringing([old], { meddle });
    await expect(work).rejects.toMatchObject({ code: 'NO_PERMISSION' });
    expect(release.held).toEqual(left.map(({ name, digest }) => [name, digest]));
  });

  test('is removed where the host stored other bytes, and the old one stays', async () => {
    const { release, work } = await bringing([old, asset({ id: 5, name: 'b.zip' })], {
      meddle: (change) => (change === 'upload' ? wrong : undefined),
    });
    await expect(work).rejects.toMatchObject({ code: 'HOST_ERROR', hint: 'run the step again' });
    expect(release.github.sent('delete_asset')).toEqual([{ asset_id: 5 }]);
    expect(release.held).toContainEqual(['a.zip', 'sha256:0ld']);
  });

  test('is cleared away where each attempt leaves half of it', async () => {
    const { release, work } = await bringing([old], {
      meddle(change, nth) {
        if (change !== 'upload') return undefined;
        release.assets.push(starter(INCOMING, 200 + nth));
        return { status: 502, body: '<html>' };
      },
    });
    await expect(work).rejects.toMatchObject({ code: 'HOST_ERROR', httpCode: 502 });
    expect(release.host.seen).toHaveLength(5);
    expect(release.held).toEqual([['a.zip', 'sha256:0ld']]);
  });

  test('of the old one is no failure where all else is done, and is told in the log', async () => {
    const { ports, work } = await bringing([old], {
      meddle: (change) => (change === 'delete_asset' ? denied : undefined),
    });
    await expect(work).resolves.toMatchObject({ asset: { name: 'a.zip', digest: OWN_DIGEST } });
    expect(ports.logger.lines).toContain(
      `warning: the replaced asset stays as ${OUTGOING}: ${denied.message}`,
    );
  });

  test('that can’t be cleared away is told in the log, and the failure stays the first one', async () => {
    const { ports, work } = await bringing([old], {
      meddle: (change) => (change === 'delete_asset' || change === 'rename_asset' ? denied : undefined),
    });
    await expect(work).rejects.toBe(denied);
    expect(ports.logger.lines).toContain(
      `warning: what was half done could not be cleared away: ${denied.message}`,
    );
  });
});

describe('a stop', () => {
  const reason = Object.assign(new Error('stopped'), { name: 'AbortError' });
  const stopped = failure('ABORTED');
  /** The stop comes while the n-th change of that kind is on its way; its answer is heard by nobody. */
  const stopping = async (assets: readonly Asset[], at: Parameters<Meddle>[0], arrives: boolean, nth = 1) => {
    const staged = await bringing(assets, {
      meddle(change, count) {
        if (change !== at || count !== nth) return undefined;
        staged.ports.stop.abort(reason);
        return arrives ? () => stopped : stopped;
      },
    });
    return staged;
  };

  test('while the file was sent says so where it has arrived whole', async () => {
    const { release, work } = await stopping([], 'upload', true);
    await expect(work).resolves.toMatchObject({ asset: { name: 'a.zip' }, written: true, confirmed: false });
    expect(release.held).toEqual(OWN);
  });

  test('while the file was sent is the failure where nothing has arrived', async () => {
    const { release, work } = await stopping([], 'upload', false);
    await expect(work).rejects.toMatchObject({ code: 'ABORTED' });
    expect(release.held).toEqual([]);
  });

  test.each<[string, Parameters<Meddle>[0], boolean, [string, string | null | undefined][]]>([
    ['has arrived: it goes, the old one stays', 'upload', true, [['a.zip', 'sha256:0ld']]],
    ['has not arrived: the old one stays', 'upload', false, [['a.zip', 'sha256:0ld']]],
    ['could not take the old one’s place', 'rename_asset', false, [['a.zip', 'sha256:0ld']]],
    ['had the old one give way: that gets its name back', 'rename_asset', true, [['a.zip', 'sha256:0ld']]],
  ])('while a replacement was brought that %s', async (_, at, arrives, held) => {
    const { release, work } = await stopping([old], at, arrives);
    await expect(work).rejects.toMatchObject({ code: 'ABORTED' });
    expect(release.held).toEqual(held);
  });

  test('while a replacement was to get its name has the old one come back', async () => {
    const { release, work } = await stopping([old], 'rename_asset', false, 2);
    await expect(work).rejects.toMatchObject({ code: 'ABORTED' });
    expect(release.held).toEqual([['a.zip', 'sha256:0ld']]);
  });

  test.each<[string, Parameters<Meddle>[0], boolean, number]>([
    ['when a replacement got its name', 'rename_asset', true, 2],
    ['when the old one was to go', 'delete_asset', false, 1],
    ['when all is done', 'delete_asset', true, 1],
  ])('%s says so', async (_, at, arrives, nth) => {
    const { release, work } = await stopping([old], at, arrives, nth);
    await expect(work).resolves.toMatchObject({ asset: { name: 'a.zip' }, written: true });
    expect(release.held).toEqual(OWN);
  });
});
