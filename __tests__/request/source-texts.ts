import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from '@babel/parser';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** Every text of the sources with a space in it, with `X` for each value that is filled in. @param isLeftOut files */
export function listTexts(isLeftOut: (file: string) => boolean): readonly string[] {
  const files = globSync('**/*.ts', { cwd: SRC }).filter(
    (name) => !/\.d\.ts$/.test(name) && !isLeftOut(name),
  );
  const texts = files.flatMap((name) => {
    const texts: string[] = [];
    const visit = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return;
      const { type, value, quasis } = node as { type?: string; value?: string; quasis?: readonly unknown[] };
      if (type === 'StringLiteral' && value !== undefined) texts.push(value);
      if (type === 'TemplateLiteral' && quasis !== undefined) {
        texts.push(quasis.map((one) => (one as { value: { cooked: string } }).value.cooked).join('X'));
      }
      for (const inner of Object.values(node)) visit(inner);
    };
    visit(
      parse(readFileSync(join(SRC, name), 'utf8'), { sourceType: 'module', plugins: ['typescript'] }).program,
    );
    return texts;
  });
  return [...new Set(texts)].filter((text) => / /.test(text));
}
