import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { findGuards, putUnderControl } from './guards/find-guards.ts';

/** How many test files try a guard before it counts as unnoticed, and the time limit in milliseconds. */
const LIMITS = { tries: 8, time: 40 * 60_000 };

interface NumberedGuard {
  readonly place: string;
  readonly path: string;
  /** The test files that need it, the nearest and shortest first. */
  tests: string[];
}

interface TestFile {
  readonly name: string;
  readonly status: string;
  readonly startTime: number;
  readonly endTime: number;
}

/**
 * Removes each guard of a folder once, in a copy, and names those that no test notices: `npm run guards --
 * src/rules`. Each test file of a run removes another guard.
 */
function main([folder = 'src']: readonly string[]): void {
  const copy = mkdtempSync(join(tmpdir(), 'guards-'));
  try {
    const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n');
    for (const name of files) cpSync(name, join(copy, name));
    symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
    const guards = controlGuards(copy, folder);
    console.log(`${guards.length} guards in ${folder}`);
    if (guards.length === 0) return;
    const first = runTests(copy, {}, ['--findRelatedTests', ...new Set(guards.map(({ path }) => path))]);
    const failed = first.filter(({ status }) => status !== 'passed').map(({ name }) => relative(copy, name));
    if (failed.length > 0) console.log(`not counted, as they fail with all guards: ${failed.join(', ')}`);
    assignTests(guards, first, copy);
    const { missed, open } = removeInTurn(guards, copy);
    console.log(`${missed.length} of ${guards.length} are not noticed:`);
    for (const { place } of missed) console.log(`  ${place}`);
    for (const { place } of open) console.log(`  not tried by all tests: ${place}`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function controlGuards(copy: string, folder: string): NumberedGuard[] {
  const numbered: NumberedGuard[] = [];
  for (const path of globSync(`${folder}/**/*.ts`).filter((name) => !name.endsWith('.d.ts'))) {
    const source = readFileSync(path, 'utf8');
    const guards = findGuards(source);
    writeFileSync(join(copy, path), putUnderControl(source, guards, numbered.length));
    const lines = source.split('\n');
    for (const { line } of guards) {
      numbered.push({ place: `${path}:${line}  ${lines[line - 1]?.trim()}`, path, tests: [] });
    }
  }
  return numbered;
}

/** Runs test files, each without its given guard. */
function runTests(
  copy: string,
  removed: Readonly<Record<string, number>>,
  chosen: readonly string[],
): TestFile[] {
  const plan = join(copy, 'removed.json');
  const results = join(copy, 'results.json');
  writeFileSync(plan, JSON.stringify(removed));
  const jest =
    '--experimental-vm-modules --no-warnings node_modules/jest/bin/jest.js --ci --json --maxWorkers=2 --testTimeout=30000 --config=scripts/guards/jest.config.js';
  spawnSync(process.execPath, [...jest.split(' '), `--outputFile=${results}`, ...chosen], {
    cwd: copy,
    stdio: 'ignore',
    env: { ...process.env, GUARDS_REMOVED: plan, GUARDS_NEEDED: join(copy, 'needed.jsonl') },
  });
  return JSON.parse(readFileSync(results, 'utf8')).testResults;
}

/** Gives each guard the tests that need it: those that mirror its file first, then the shortest. */
function assignTests(guards: readonly NumberedGuard[], tests: readonly TestFile[], copy: string): void {
  const took = new Map(
    tests.filter(({ status }) => status === 'passed').map((one) => [one.name, one.endTime - one.startTime]),
  );
  for (const line of readFileSync(join(copy, 'needed.jsonl'), 'utf8').trim().split('\n')) {
    const { test, ids } = JSON.parse(line) as { test: string; ids: number[] };
    if (took.has(test)) for (const id of ids) guards[id]?.tests.push(test);
  }
  for (const guard of guards) {
    const folder = dirname(guard.path).slice('src'.length);
    const distance = (test: string) =>
      (test.includes(`__tests__${folder}/`) ? 0 : 1_000_000) + (took.get(test) ?? 0);
    guard.tests = guard.tests.sort((one, other) => distance(one) - distance(other)).slice(0, LIMITS.tries);
  }
}

function removeInTurn(guards: readonly NumberedGuard[], copy: string) {
  const missed: NumberedGuard[] = [];
  const end = Date.now() + LIMITS.time;
  let open = [...guards.entries()];
  while (open.length > 0 && Date.now() < end) {
    const removed: Record<string, number> = {};
    for (const [id, { tests }] of open) {
      const test = tests.find((one) => removed[one] === undefined);
      if (test !== undefined) removed[test] = id;
    }
    const names = Object.keys(removed);
    const results = names.length === 0 ? [] : runTests(copy, removed, ['--runTestsByPath', ...names]);
    const red = new Set(results.filter(({ status }) => status !== 'passed').map(({ name }) => removed[name]));
    for (const [id, guard] of open) guard.tests = guard.tests.filter((one) => removed[one] !== id);
    open = open.filter(([id, guard]) => {
      if (red.has(id)) return false;
      if (guard.tests.length === 0) missed.push(guard);
      return guard.tests.length > 0;
    });
    console.log(`${open.length} left, ${missed.length} not noticed so far`);
  }
  return { missed, open: open.map(([, guard]) => guard) };
}

if (process.argv[1] === import.meta.filename) main(process.argv.slice(2));
