import { appendFileSync, readFileSync } from 'node:fs';
import { afterAll, beforeEach, expect } from '@jest/globals';

/** Runs in each test file of `npm run guards`: removes its guard, and records the guards that it needs. */
const { GUARDS_REMOVED = '', GUARDS_NEEDED = '' } = process.env;
const { testPath = '' } = expect.getState();
const removed: number | undefined = JSON.parse(readFileSync(GUARDS_REMOVED, 'utf8'))[testPath];
const needed = new Set<number>();
/** Without its guard a loop may have no end. */
const MAX_CALLS = 100_000;
let calls = 0;

Object.assign(globalThis, {
  keepGuard(id: number): boolean {
    needed.add(id);
    if (id !== removed) return true;
    calls += 1;
    if (calls > MAX_CALLS) throw new Error('the loop has no end without its guard');
    return false;
  },
});

/** Without its guard, a test may wait forever. */
const end = Date.now() + 60_000;
beforeEach(() => {
  if (removed !== undefined && Date.now() > end) throw new Error('the tests take too long without the guard');
});

afterAll(() => {
  if (removed === undefined) {
    appendFileSync(GUARDS_NEEDED, `${JSON.stringify({ test: testPath, ids: [...needed] })}\n`);
  }
});
