import { parse } from '@babel/parser';

/** A node of the syntax tree; its children are among its fields. */
export interface TypeNode {
  readonly type: string;
  readonly leadingComments?: readonly { readonly type: string; readonly value: string }[] | null;
  // biome-ignore lint/suspicious/noExplicitAny: the fields of a node depend on its type
  readonly [field: string]: any;
}

/** The top-level declarations of the sources, by name. Exported names are unique in `src`. */
export interface TypeDeclarations {
  /** Interfaces and type aliases, with their text. */
  readonly types: ReadonlyMap<string, { readonly node: TypeNode; readonly description: string }>;
  /** The values of constants. */
  readonly values: ReadonlyMap<string, TypeNode>;
}

/** Reads the exported types and constants of some TypeScript files. */
export function readDeclarations(sources: readonly string[]): TypeDeclarations {
  const types = new Map<string, { node: TypeNode; description: string }>();
  const values = new Map<string, TypeNode>();
  for (const source of sources) {
    const { program } = parse(source, { sourceType: 'module', plugins: ['typescript'] });
    for (const statement of program.body as unknown as readonly TypeNode[]) {
      if (statement.type !== 'ExportNamedDeclaration' || !statement.declaration) continue;
      const node = statement.declaration as TypeNode;
      if (node.type === 'TSInterfaceDeclaration' || node.type === 'TSTypeAliasDeclaration') {
        types.set(node.id.name, { node, description: describeNode(statement) });
      }
      if (node.type !== 'VariableDeclaration') continue;
      for (const { id, init } of node.declarations) values.set(id.name, withoutAssertion(init));
    }
  }
  return { types, values };
}

/** The text of the comment before a node, without its tags; empty if there is none. */
export function describeNode({ leadingComments }: TypeNode): string {
  const comment = leadingComments?.findLast(({ type, value }) => type === 'CommentBlock' && value[0] === '*');
  return (comment?.value ?? '')
    .replace(/^\s*\*+ ?/gm, '')
    .replace(/@\w.*$/s, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Whether a field is not in the JSON. */
export const isInternal = ({ leadingComments }: TypeNode): boolean =>
  leadingComments?.some(({ value }) => value.includes('@internal')) === true;

/** `x as const` and `x satisfies T` mean `x`. */
function withoutAssertion(node: TypeNode): TypeNode {
  const isAssertion = node?.type === 'TSAsExpression' || node?.type === 'TSSatisfiesExpression';
  return isAssertion ? withoutAssertion(node.expression) : node;
}
