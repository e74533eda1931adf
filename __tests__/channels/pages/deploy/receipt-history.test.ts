import { describe, expect, test } from '@jest/globals';
import {
  type DeliveryMessage,
  describeDelivered,
  formatCommitMessage,
} from '../../../../src/channels/pages/commit-message.ts';
import { ReceiptHistory } from '../../../../src/channels/pages/deploy/receipt-history.ts';
import { RECEIPT } from '../../../../src/protocol/limits.ts';
import { FakeClock } from '../../../support/ports.ts';
import { memoryFile } from '../site/memory-files.ts';

const PORTS = { clock: new FakeClock(), random: () => 0.5 };
const NOTHING = { id: 'none', before: [], deliveries: [] };

const begin = (live = NOTHING): ReceiptHistory => {
  const receipt = new ReceiptHistory('octo.github.io', null);
  receipt.build(live, PORTS);
  return receipt;
};

/** Delivers files to a place, which has only them afterwards. */
async function put(
  receipt: ReceiptHistory,
  place: string,
  contents: Record<string, string>,
  removals: string[] = [],
) {
  const writes = Object.entries(contents).map(([path, text]) => ({ path, file: memoryFile(text) }));
  const files = writes.map(({ path, file }) => ({ path, sha: file.blobSha }));
  const delivered = describeDelivered(place, files);
  const message: DeliveryMessage = { verb: 'UPDATE', essence: 'test', delivered };
  await receipt.write([{ message: formatCommitMessage(place, message), writes, removals, replaces: null }]);
}
async function remove(receipt: ReceiptHistory, place: string, removals: string[]) {
  const message = formatCommitMessage(place, { verb: 'REMOVE', essence: 'test', removed: [place] });
  await receipt.write([{ message, writes: [], removals, replaces: null }]);
}

const pathsOf = (receipt: ReceiptHistory): readonly string[] => [...receipt.files.keys()].sort();
const owners = (receipt: ReceiptHistory) =>
  receipt.describe('').deliveries.map(({ files }) => [...files.keys()].join());
const lastOf = async (receipt: ReceiptHistory, path: string) => {
  const head = await receipt.readHead();
  return (await receipt.readLastCommits(head, [path])).get(path)?.message.split('\n')[0];
};

describe('the history in a receipt', () => {
  test('is the union of all deliveries, and each path belongs to the newest that wrote it', async () => {
    const receipt = begin();
    await put(receipt, 'a/', { 'a/1': 'one', 'a/2': 'two' });
    await put(receipt, 'b.html', { 'b.html': 'b' });
    await put(receipt, 'a/', { 'a/1': 'one' }, ['a/2']);
    expect(pathsOf(receipt)).toEqual(['a/1', 'b.html']);
    expect(owners(receipt)).toEqual(['a/1', 'b.html', '']);
    expect(await lastOf(receipt, 'a')).toBe('UPDATE a: test');
    expect(await lastOf(receipt, 'b.html')).toBe('UPDATE b.html: test');
    expect(await lastOf(receipt, 'c')).toBeUndefined();
  });

  test('has folders with the ids that git gives them, and finds blobs as on a branch', async () => {
    const receipt = begin();
    await put(receipt, 'a/b/', { 'a/b/c': 'c' });
    const head = await receipt.readHead();
    const { object } = describeDelivered('a/b/', [{ path: 'a/b/c', sha: memoryFile('c').blobSha }]);
    expect((await receipt.readEntries(head)).get('a/b')).toMatchObject({ type: 'tree', sha: object });
    expect(await receipt.readEntry('a/b/c')).toMatchObject({ type: 'blob', size: 1 });
    const blobs = await receipt.readBlobs(head, ['a/b/c', 'a/b', 'a/b/c/d', 'x']);
    expect([...blobs.values()]).toMatchObject([
      memoryFile('c').blobSha,
      { code: 'NOT_OURS' },
      { code: 'NOT_OURS' },
      null,
    ]);
  });

  test('has the older states, without what newer deliveries took', async () => {
    const receipt = begin();
    await put(receipt, 'a', { a: '1' });
    const first = await receipt.readHead();
    await put(receipt, 'b', { b: '1' });
    expect([...(await receipt.readEntries(first)).keys()]).toEqual(['a']);
    const { commits, isLast } = await receipt.listCommits(await receipt.readHead(), '');
    expect([commits.map(({ sha, parent }) => [sha, parent]), isLast]).toEqual([
      [
        [await receipt.readHead(), first],
        [first, undefined],
      ],
      true,
    ]);
    expect((await receipt.readEntries('unknown')).size).toBe(0);
  });

  test('keeps a removal, its first paths, and the newest deliveries without a file', async () => {
    const receipt = begin();
    const many = Object.fromEntries(
      Array.from({ length: RECEIPT.removed + 9 }, (_, nth) => [`x/${nth}`, `${nth}`]),
    );
    await put(receipt, 'x/', many);
    await remove(receipt, 'x/', Object.keys(many));
    const { commits } = await receipt.listCommits(await receipt.readHead(), 'x');
    expect(commits[0]?.removedPaths).toHaveLength(RECEIPT.removed);
    for (let nth = 0; nth < RECEIPT.ended; nth += 1) {
      await put(receipt, 'y', { y: `${nth}` });
      await remove(receipt, 'y', ['y']);
    }
    expect(receipt.describe('').deliveries).toHaveLength(RECEIPT.ended);
    expect(pathsOf(receipt)).toEqual([]);
  });

  test('has an id of its own for each attempt, and names what it replaces', async () => {
    const receipt = begin();
    const { own } = receipt;
    await put(receipt, 'a', { a: '1' });
    const { id, before, deliveries } = receipt.describe('c0');
    expect([id, before]).toEqual([own, ['none']]);
    const next = begin({ id, before: [...before], deliveries } as unknown as typeof NOTHING);
    expect([next.replaceable, next.before]).toEqual([[own], [own, 'none']]);
    const lost = next.own;
    next.build({ id: 'other', before: [own], deliveries: [] }, { ...PORTS, random: () => 0.7 });
    expect(next.before).toEqual(['other', lost, own]);
    expect(pathsOf(next)).toEqual([]);
    expect(new Set([own, lost, next.own]).size).toBe(3);
  });
});
