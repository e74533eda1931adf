import type { FunctionSize, ParsedModule } from './parse-module.ts';
import { groupByName } from './problems.ts';

/** Larger values are listed. */
const LIMITS = { lines: 40, parameters: 4 } as const;

/** One source file and its text. */
export interface SourceFile extends ParsedModule {
  readonly source: string;
}

/** The figures for the code's readability, one line each, with lists. */
export function formatCounts(files: readonly SourceFile[]): string {
  const types = files.flatMap(({ path, declarations }) =>
    declarations
      .filter(({ exported, kind }) => exported && kind === 'type')
      .map(({ name }) => ({ name, text: `${name} (${path})` })),
  );
  const single = types.filter(({ name }) => /^[A-Z][a-z0-9]*$/.test(name));
  const stands = files.flatMap(({ source }) => source.match(/\bstand(s|ing)?\b/gi) ?? []);
  return [
    `lines of src: ${files.reduce((sum, { source }) => sum + source.split('\n').length - 1, 0)}`,
    `exported types: ${types.length}`,
    formatList(
      'single-word exported types',
      single.map(({ text }) => text),
    ),
    formatList(
      `functions over ${LIMITS.lines} lines`,
      listFunctions(files, ({ lines }) => lines > LIMITS.lines),
    ),
    formatList(
      `functions with more than ${LIMITS.parameters} positional parameters`,
      listFunctions(files, ({ parameters }) => parameters > LIMITS.parameters),
    ),
    formatList('exported names that another file declares for itself', listPrivateCopies(files)),
    `occurrences of stand, stands, standing: ${stands.length}`,
  ].join('\n');
}

const formatList = (title: string, items: readonly string[]): string =>
  [`${title}: ${items.length}`, ...[...items].sort().map((item) => `  ${item}`)].join('\n');

function listFunctions(files: readonly SourceFile[], isWanted: (one: FunctionSize) => boolean): string[] {
  return files.flatMap(({ path, functions }) =>
    functions
      .filter(isWanted)
      .map(
        ({ name, line, lines, parameters }) =>
          `${path}:${line} ${name}: ${lines} lines, ${parameters} parameters`,
      ),
  );
}

/** Not a problem for the compiler, but a reader meets one name with two meanings. */
function listPrivateCopies(files: readonly SourceFile[]): string[] {
  const exported = groupByName(files, (one) => one.exported);
  return [...groupByName(files, (one) => !one.exported)].flatMap(([name, paths]) =>
    exported.has(name) ? `${name}: ${[...(exported.get(name) ?? []), ...paths].join(', ')}` : [],
  );
}
