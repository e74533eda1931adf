import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';

/** Keeps 20 MB, and makes garbage that lives as long as a request. Prints the most bytes of new and old objects. */
const ALLOCATE = `
  const { keepYoungHeapSmall, keepOldHeapSmall } = await import(process.argv[1]);
  const { getHeapSpaceStatistics } = await import('node:v8');
  const sizeOf = (space) => getHeapSpaceStatistics().find(({ space_name }) => space_name === space).space_size;
  keepYoungHeapSmall();
  keepOldHeapSmall();
  const kept = Array.from({ length: 200_000 }, (_, nth) => ({ nth, text: 'x' + nth }));
  const passing = [];
  const most = { young: 0, old: 0 };
  for (let nth = 0; nth < 4_000_000; nth += 1) {
    passing[nth % 40_000] = { nth, text: 'x' + nth, list: [nth] };
    if (nth % 40_000 > 0) continue;
    most.young = Math.max(most.young, sizeOf('new_space'));
    most.old = Math.max(most.old, sizeOf('old_space'));
  }
  console.log(JSON.stringify({ most, kept: kept.length }));
`;

async function allocate(...options: readonly string[]) {
  const heap = new URL('../src/system.ts', import.meta.url).href;
  // One thread collects, so that the figures are the same however busy the machine is.
  const args = [
    ...options,
    '--single-threaded-gc',
    '--no-warnings',
    '--input-type=module',
    '-e',
    ALLOCATE,
    heap,
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as { most: { young: number; old: number } };
}

describe('the memory of V8', () => {
  test('does not grow where objects begin, so that the chunks of a body are collected soon', async () => {
    const { most } = await allocate();
    expect(most.young).toBeLessThan(67e6);
  });

  test('grows little beyond what is kept before the rest is collected', async () => {
    expect((await allocate('--max-semi-space-size=1')).most.old).toBeLessThan(190e6);
  });
});
