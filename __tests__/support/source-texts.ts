import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from '@babel/parser';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** A text of the sources, or a call of the words of an interface. */
export interface SourceText {
  /** File and line. */
  readonly place: string;
  /** With `X` for each value that is filled in. */
  readonly text: string;
}

interface SyntaxNode {
  readonly type?: string;
  readonly value?: string;
  readonly quasis?: readonly { readonly value: { readonly cooked: string } }[];
  readonly callee?: {
    readonly object?: { readonly name?: string };
    readonly property?: { readonly name?: string };
  };
  readonly arguments?: readonly SyntaxNode[];
  readonly loc?: { readonly start: { readonly line: number } };
}

/** Every text with a space in it. @param isLeftOut files, by their path within `src` */
export const listTexts = (isLeftOut: (file: string) => boolean): readonly SourceText[] =>
  collect(isLeftOut, ({ type, value, quasis }) => {
    if (type === 'StringLiteral') return value;
    return type === 'TemplateLiteral' ? quasis?.map((one) => one.value.cooked).join('X') : undefined;
  }).filter(({ text }) => / /.test(text));

/** The inputs that texts name by `w.input('name')`. */
export const listNamedInputs = (): readonly SourceText[] =>
  collect(
    () => false,
    ({ type, callee, arguments: given }) => {
      const isInput = callee?.object?.name === 'w' && callee.property?.name === 'input';
      return type === 'CallExpression' && isInput ? given?.[0]?.value : undefined;
    },
  );

function collect(
  isLeftOut: (file: string) => boolean,
  read: (node: SyntaxNode) => string | undefined,
): readonly SourceText[] {
  const files = globSync('**/*.ts', { cwd: SRC }).map((name) => name.replaceAll(sep, '/'));
  return files
    .filter((file) => !file.endsWith('.d.ts') && !isLeftOut(file))
    .flatMap((file) => {
      const found: SourceText[] = [];
      const visit = (node: unknown): void => {
        if (typeof node !== 'object' || node === null) return;
        const text = read(node);
        const { loc } = node as SyntaxNode;
        if (text !== undefined) found.push({ place: `${file}:${loc?.start.line}`, text });
        for (const inner of Object.values(node)) visit(inner);
      };
      const source = readFileSync(join(SRC, file), 'utf8');
      visit(parse(source, { sourceType: 'module', plugins: ['typescript'] }).program);
      return found;
    });
}
