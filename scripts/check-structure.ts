import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { formatCounts, type SourceFile } from './structure/counts.ts';
import { parseModule } from './structure/parse-module.ts';
import { findProblems } from './structure/problems.ts';

/**
 * Reads all TypeScript files below a folder.
 *
 * @throws {SyntaxError} where one of them is not TypeScript
 */
export function readTree(folder: string): SourceFile[] {
  return globSync('**/*.ts', { cwd: folder }).map((name) => {
    const source = readFileSync(join(folder, name), 'utf8');
    return { ...parseModule(name.replaceAll(sep, '/'), source), source };
  });
}

/** Fails on import cycles, upward imports and exported names with two meanings; `--counts` prints figures too. */
function main(args: readonly string[]): void {
  const files = readTree('src');
  const problems = findProblems(files);
  for (const problem of problems) console.error(problem);
  if (args.includes('--counts')) console.log(formatCounts(files));
  if (problems.length > 0) process.exitCode = 1;
}

if (process.argv[1] === import.meta.filename) main(process.argv.slice(2));
