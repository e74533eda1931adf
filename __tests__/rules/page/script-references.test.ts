import { describe, expect, test } from '@jest/globals';
import type { FoundAddress } from '../../../src/rules/page/addresses.ts';
import { findScriptReferences } from '../../../src/rules/page/script-references.ts';
import { finish } from '../../support/finish.ts';

function find(code: string, isModule: boolean): readonly FoundAddress[] {
  const found: FoundAddress[] = [];
  findScriptReferences(code, isModule, (one) => void found.push(one));
  return found;
}

/** The addresses in a module with their grades. */
const found = (code: string, isModule = true): string[] =>
  find(code, isModule).map(({ grade, address }) => `${grade} ${address}`);

describe('findScriptReferences', () => {
  test.each([
    ['an import', 'import a from "./a.js"', ['code ./a.js']],
    ['an import of names', "import { a as b, c } from './a.js';", ['code ./a.js']],
    ['an import for its effects', 'import"./a.js"', ['code ./a.js']],
    ['an import with attributes', 'import a from "./a.json" with { type: "json" }', ['code ./a.json']],
    ['an import from a host', 'import a from "https://a.example/a.js"', ['code https://a.example/a.js']],
    ['an import of a bare name', 'import a from "react"', ['code react']],
    ['an import with escapes', 'import "\\u0068ttps://a.example"', ['code https://a.example']],
    ['an export', 'export * from "/a.js"; export { b } from "../b.js"', ['code /a.js', 'code ../b.js']],
    ['an import after an expression', 'x = /["/]/ / 2; import "./a.js"', ['code ./a.js']],
    ['a dynamic import', 'const a = await import("./a.js")', ['later ./a.js']],
    ['a dynamic import in a function', 'function f() { import("./a.js") }', ['later ./a.js']],
    ['a dynamic import of a template', 'import(`./a.js`)', ['later ./a.js']],
  ])('finds %s', (_, code, references) => {
    expect(found(code)).toEqual(references);
  });

  test.each([
    ['an import in a comment', '// import("./a.js")\n/* import "./a.js" */'],
    ['an import in a string', 'const help = `import a from "./a.js"`'],
    ['a method named import', 'loader.import("./a.js")'],
    ['a method named from', 'Array.from("./a.js"); Buffer.from("https://a.example")'],
    ['an address that is completed', 'import("./a/" + b); import(`./${a}.js`)'],
    ['a call without literals', 'fetch("https://a.example"); import(name)'],
    ['what no browser can run', 'import "./a.js"; }'],
  ])('finds no address in %s', (_, code) => {
    expect(found(code)).toEqual([]);
  });

  test('finds no static import in a classic script', () => {
    expect(found('import a from "./a.js"; import("./b.js")', false)).toEqual(['later ./b.js']);
  });

  test('returns the offset of an address', () => {
    expect(find('a;\nimport("./b.js")', true)).toEqual([
      { offset: 10, end: 18, address: './b.js', kind: 'module', grade: 'later', isSpecifier: true },
    ]);
  });

  test.each([
    ['lines', 'a();\n'],
    ['a comment', '/* `it is\n', '\n*/'],
    ['a function', '(function () {\n', '\n})()'],
    ['a template', '`\n', '\n`'],
  ])('finds every import of a long script of %s', (_, start, end = '') => {
    const line = '  await 1;\n';
    const gap = start + line.repeat(400_000) + end;
    const code = `import "./a.js";\n${gap}\nimport {\nb,\n} from "./b.js";${gap}\nimport "./c.js"`;
    expect(found(code)).toEqual(['code ./a.js', 'code ./b.js', 'code ./c.js']);
    const [first, second] = find(code, true);
    expect(code.slice(first?.offset, second?.offset)).toMatch(/^\.\/a\.js";\n.*\} from "$/s);
  });

  test.each(['(/[', '`${', "'", '/*', '\\u{', '(', '<!--', 'import('])(
    'takes linear time for many %s without an end',
    (piece) => void finish(() => found(`import "./a.js";${piece.repeat(300_000)}`)),
  );
});
