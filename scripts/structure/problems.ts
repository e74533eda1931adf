import type { ParsedModule } from './parse-module.ts';

/** The layers, from top to bottom. A file imports only its own folder and the layers below. */
const LAYERS = [
  ['action', 'cli', 'mcp'],
  ['context.ts'],
  ['open-repository.ts'],
  ['create-channels.ts'],
  ['delivery'],
  ['request'],
  ['channels'],
  ['proof'],
  ['github', 'browser', 'convert'],
  ['http'],
  ['rules'],
  ['other files of src'],
  ['protocol'],
] as const;

/** The files at the root of `src` that are a layer of their own. */
const ROOT_LAYERS: readonly string[] = ['context.ts', 'open-repository.ts', 'create-channels.ts'];

/** Imports that the layers allow but that are wrong. */
const FORBIDDEN = [
  { from: 'channels/channel.ts', to: 'github', reason: 'is the generic interface' },
] as const;

/**
 * Finds import cycles, imports that don't point down, and exported names that two files use.
 *
 * @returns one line per problem, sorted; empty where the structure is right
 */
export function findProblems(modules: readonly ParsedModule[]): string[] {
  return [...findImportProblems(modules), ...findCycles(modules), ...findSharedNames(modules)].sort();
}

function findImportProblems(modules: readonly ParsedModule[]): string[] {
  return modules.flatMap(({ path, imports, computedImports }) => [
    ...(findLayer(path) === -1 ? [`${path}: the folder ${folderOf(path)} has no layer in LAYERS`] : []),
    ...computedImports.map((line) => `${path}:${line}: a computed import can't be checked`),
    // A declaration may name another bundle, which is not part of this one.
    ...(path.endsWith('.d.ts') ? [] : imports).flatMap((one) => {
      const problem = describeImport(path, one.path);
      return problem === null ? [] : `${path}:${one.line}: ${problem}`;
    }),
  ]);
}

/** The problem of an import, or `null`. */
function describeImport(from: string, to: string): string | null {
  const forbidden = FORBIDDEN.find((one) => one.from === from && one.to === folderOf(to));
  if (forbidden !== undefined) return `imports ${to}, but ${forbidden.reason}: nothing of ${forbidden.to}`;
  if (folderOf(from) === folderOf(to)) return null;
  const [upper, lower] = [findLayer(from), findLayer(to)];
  if (upper === -1 || lower === -1 || upper < lower) return null;
  const direction = upper === lower ? 'sideways' : 'upwards';
  return `imports ${to}, ${direction}: ${folderOf(from)} may not import ${folderOf(to)}`;
}

/** The folder right below `src`; for a file at the root of `src` its layer's name. */
function folderOf(path: string): string {
  const [first = '', ...rest] = path.split('/');
  return rest.length > 0 || ROOT_LAYERS.includes(first) ? first : 'other files of src';
}

const findLayer = (path: string): number =>
  LAYERS.findIndex((layer: readonly string[]) => layer.includes(folderOf(path)));

/** The shortest cycle through each file, unless an earlier line already names that file. */
function findCycles(modules: readonly ParsedModule[]): string[] {
  const imports = new Map(modules.map((one) => [one.path, one.imports.map(({ path }) => path).sort()]));
  const known = new Set<string>();
  return [...imports.keys()].sort().flatMap((path) => {
    if (known.has(path)) return [];
    const cycle = findShortestCycle(path, imports);
    for (const member of cycle) known.add(member);
    return cycle.length === 0 ? [] : `import cycle: ${cycle.join(' → ')} → ${path}`;
  });
}

/** From the file on, without its repetition at the end; empty without a cycle. */
function findShortestCycle(start: string, imports: ReadonlyMap<string, readonly string[]>): string[] {
  const seen = new Set<string>();
  const paths = [[start]];
  for (const path of paths) {
    for (const next of imports.get(path.at(-1) ?? '') ?? []) {
      if (next === start) return path;
      if (seen.has(next)) continue;
      seen.add(next);
      paths.push([...path, next]);
    }
  }
  return [];
}

/** Finds names that two files declare and export; a re-export does not count. */
function findSharedNames(modules: readonly ParsedModule[]): string[] {
  return [...groupByName(modules, ({ exported }) => exported)].flatMap(([name, paths]) =>
    paths.length < 2 ? [] : `exported name ${name} is used in ${paths.join(' and ')}`,
  );
}

type Declared = ParsedModule['declarations'][number];

/** The files that declare each name at their top level. */
export function groupByName(
  modules: readonly ParsedModule[],
  isWanted: (one: Declared) => boolean,
): Map<string, string[]> {
  const paths = new Map<string, string[]>();
  for (const { path, declarations } of modules) {
    const names = declarations.filter(isWanted).map(({ name }) => name);
    for (const name of new Set(names)) paths.set(name, [...(paths.get(name) ?? []), path]);
  }
  return paths;
}
