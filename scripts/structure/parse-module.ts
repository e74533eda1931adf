import { parse } from '@babel/parser';

/** One import of another file of the tree. */
export interface ModuleImport {
  /** Path of the imported file within the tree, such as `http/client.ts`. */
  readonly path: string;
  readonly line: number;
}

/** One name that a file declares at its top level. */
export interface Declaration {
  readonly name: string;
  readonly kind: 'type' | 'value';
  readonly exported: boolean;
}

/** One function, method or callback. */
export interface FunctionSize {
  /** Its own name; for a callback, the name of the code around it. */
  readonly name: string;
  readonly line: number;
  readonly lines: number;
  readonly parameters: number;
}

/** A source file, as the checks need it. */
export interface ParsedModule {
  /** Path within the tree, with `/`. */
  readonly path: string;
  readonly imports: readonly ModuleImport[];
  /** Lines of dynamic imports whose path is computed, so that it can't be checked. */
  readonly computedImports: readonly number[];
  readonly declarations: readonly Declaration[];
  readonly functions: readonly FunctionSize[];
}

/** A node of the syntax tree; its children are among its fields. */
interface SyntaxNode {
  readonly type: string;
  readonly loc: { readonly start: { readonly line: number }; readonly end: { readonly line: number } };
  readonly [field: string]: unknown;
}

const TYPES = ['TSInterfaceDeclaration', 'TSTypeAliasDeclaration', 'ClassDeclaration', 'TSEnumDeclaration'];

/**
 * Reads the imports, declarations and functions of one TypeScript file.
 *
 * @param path path within the tree, with `/`
 * @throws {SyntaxError} where the file is not TypeScript
 */
export function parseModule(path: string, source: string): ParsedModule {
  const { program } = parse(source, {
    sourceType: 'module',
    sourceFilename: path,
    attachComment: false,
    allowUndeclaredExports: true,
    plugins: [['typescript', { dts: path.endsWith('.d.ts') }]],
  });
  const statements = program.body as unknown as readonly SyntaxNode[];
  const nodes = statements.flatMap((statement) => listNodes(statement, ''));
  const targets = nodes.flatMap(({ node }) => listImportTargets(node));
  return {
    path,
    imports: targets.flatMap(({ target, line }) =>
      target?.startsWith('.') ? { path: resolveImport(path, target), line } : [],
    ),
    computedImports: targets.flatMap(({ target, line }) => (target === undefined ? line : [])),
    declarations: listDeclarations(statements),
    functions: nodes.flatMap(({ node, name }) => measureFunction(node, name)),
  };
}

interface NamedNode {
  readonly node: SyntaxNode;
  readonly name: string;
}

/** The node and all nodes below it, each with the name of the nearest named node. */
function listNodes(node: SyntaxNode, outerName: string): NamedNode[] {
  const name = readName(node.id) ?? readName(node.key) ?? outerName;
  const children = Object.values(node).flat().filter(isNode);
  return [{ node, name }, ...children.flatMap((child) => listNodes(child, name))];
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && 'type' in value && 'loc' in value;

const readName = (value: unknown): string | undefined =>
  isNode(value) && typeof value.name === 'string' ? value.name : undefined;

const readText = (value: unknown): string | undefined =>
  isNode(value) && typeof value.value === 'string' ? value.value : undefined;

/** The path or package that a node imports; `undefined` if it is computed. */
function listImportTargets(node: SyntaxNode): { target: string | undefined; line: number }[] {
  const { line } = node.loc.start;
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
      return isNode(node.source) ? [{ target: readText(node.source), line }] : [];
    case 'CallExpression': // import('./x.ts')
      if (!isNode(node.callee) || node.callee.type !== 'Import') return [];
      return [{ target: readText(Array.isArray(node.arguments) ? node.arguments[0] : undefined), line }];
    case 'TSImportType': // import('./x.ts').X as a type
      return [{ target: readText(node.argument), line }];
    default:
      return [];
  }
}

/** `../http/client.ts`, imported by `github/api.ts`, is `http/client.ts`. */
function resolveImport(from: string, target: string): string {
  const base = new URL(from, 'file:///');
  return decodeURIComponent(new URL(target, base).pathname.slice(1));
}

/** The top-level names, without re-exports. */
function listDeclarations(statements: readonly SyntaxNode[]): Declaration[] {
  const aliases = new Map(statements.flatMap(listExportedLocals));
  return statements.flatMap((statement) => {
    const inner = isNode(statement.declaration) ? statement.declaration : statement;
    const kind = TYPES.includes(inner.type) ? 'type' : 'value';
    const isExport = statement.type === 'ExportNamedDeclaration';
    return listDeclaredNames(inner).map((name) => ({
      name: aliases.get(name) ?? name,
      kind,
      exported: isExport || aliases.has(name),
    }));
  });
}

/** The local names in `export { a, b as c }`, each with the name that others import. */
function listExportedLocals(statement: SyntaxNode): [local: string, exported: string][] {
  if (statement.type !== 'ExportNamedDeclaration' || isNode(statement.source)) return [];
  return [statement.specifiers].flat().flatMap((one) => {
    const local = isNode(one) ? readName(one.local) : undefined;
    const exported = isNode(one) ? readName(one.exported) : undefined;
    return local === undefined || exported === undefined ? [] : [[local, exported]];
  });
}

function listDeclaredNames(node: SyntaxNode): string[] {
  if (node.type === 'ImportDeclaration') return [];
  if (node.type !== 'VariableDeclaration') return [readName(node.id) ?? []].flat();
  return [node.declarations].flat().flatMap((one) => (isNode(one) ? listPatternNames(one.id) : []));
}

/** The names that `a`, `{ a, b: c }` or `[a, ...b]` declares. */
function listPatternNames(pattern: unknown): string[] {
  if (!isNode(pattern)) return [];
  const name = readName(pattern);
  if (name !== undefined) return [name];
  const parts = [pattern.properties, pattern.elements, pattern.argument, pattern.left].flat();
  return parts.flatMap((part) =>
    listPatternNames(isNode(part) && part.type === 'ObjectProperty' ? part.value : part),
  );
}

/** Empty for other nodes, and for functions without a body (an overload, a method of a type). */
function measureFunction(node: SyntaxNode, name: string): FunctionSize[] {
  if (!Array.isArray(node.params) || !isNode(node.body)) return [];
  const { start, end } = node.loc;
  const lines = end.line - start.line + 1;
  return [{ name, line: start.line, lines, parameters: node.params.length }];
}
