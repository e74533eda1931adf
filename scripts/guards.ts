import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { findGuards, putUnderControl } from './guards/find-guards.ts';

/** How many test files try one guard before it counts as not noticed. */
const TRIES = 8;

interface NumberedGuard {
  readonly place: string;
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
 * Takes the guards of `src` out, each once, and names those that no test notices: `npm run guards -- src/rules`. One run
 * of the tests takes out another guard in each test file; the work is done on a copy.
 */
function main([folder = 'src']: readonly string[]): void {
  const copy = mkdtempSync(join(tmpdir(), 'guards-'));
  try {
    const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n');
    for (const name of files) cpSync(name, join(copy, name));
    symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
    const guards = controlGuards(copy, folder);
    console.log(`${guards.length} guards in ${folder}`);
    const first = runTests(copy, {}, []);
    const failed = first.filter(({ status }) => status !== 'passed').map(({ name }) => relative(copy, name));
    if (failed.length > 0) console.log(`not counted, as they fail with all guards: ${failed.join(', ')}`);
    assignTests(guards, first, copy);
    const missed = removeInTurn(guards, copy);
    console.log(`${missed.length} of ${guards.length} are not noticed:`);
    for (const { place } of missed) console.log(`  ${place}`);
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
      numbered.push({ place: `${path}:${line}  ${lines[line - 1]?.trim()}`, tests: [] });
    }
  }
  return numbered;
}

/** Runs the test files, all of them where none is named, each without the guard that it is given. */
function runTests(
  copy: string,
  removed: Readonly<Record<string, number>>,
  names: readonly string[],
): TestFile[] {
  const plan = join(copy, 'removed.json');
  const results = join(copy, 'results.json');
  writeFileSync(plan, JSON.stringify(removed));
  const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js', '--ci'];
  const options = ['--config=scripts/guards/jest.config.js', '--json', `--outputFile=${results}`];
  const limits = ['--maxWorkers=2', '--testTimeout=30000'];
  const chosen = names.length === 0 ? [] : ['--runTestsByPath', ...names];
  spawnSync(process.execPath, [...jest, ...options, ...limits, ...chosen], {
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
    const folder = guard.place.slice('src'.length, guard.place.lastIndexOf('/'));
    const distance = (test: string) =>
      (test.includes(`__tests__${folder}/`) ? 0 : 1_000_000) + (took.get(test) ?? 0);
    guard.tests = guard.tests.sort((one, other) => distance(one) - distance(other)).slice(0, TRIES);
  }
}

function removeInTurn(guards: readonly NumberedGuard[], copy: string): readonly NumberedGuard[] {
  const missed: NumberedGuard[] = [];
  let open = [...guards.entries()];
  while (open.length > 0) {
    const removed: Record<string, number> = {};
    for (const [id, { tests }] of open) {
      const test = tests.find((one) => removed[one] === undefined);
      if (test !== undefined) removed[test] = id;
    }
    const results = Object.keys(removed).length === 0 ? [] : runTests(copy, removed, Object.keys(removed));
    const red = new Set(results.filter(({ status }) => status !== 'passed').map(({ name }) => removed[name]));
    for (const [test, id] of Object.entries(removed)) {
      const guard = guards[id];
      if (guard !== undefined) guard.tests = guard.tests.filter((one) => one !== test);
    }
    open = open.filter(([id, guard]) => {
      if (red.has(id)) return false;
      if (guard.tests.length === 0) missed.push(guard);
      return guard.tests.length > 0;
    });
    console.log(`${open.length} left, ${missed.length} not noticed so far`);
  }
  return missed;
}

if (process.argv[1] === import.meta.filename) main(process.argv.slice(2));
