import { describe, expect, test } from '@jest/globals';
import type { FoundAddress } from '../../../src/rules/page/addresses.ts';
import { findCssReferences } from '../../../src/rules/page/script-references.ts';

function find(css: string): readonly FoundAddress[] {
  const found: FoundAddress[] = [];
  findCssReferences(css, (one) => void found.push(one));
  return found;
}

const addresses = (css: string): string[] => find(css).map(({ address }) => address);

describe('findCssReferences', () => {
  test.each([
    ['a quoted url', 'a { background: url("a.png") }', ['a.png']],
    ['an unquoted url', 'a { background: url(a.png) }', ['a.png']],
    ['space and line breaks in a url', 'a { background: url(\n\t a.png \n) }', ['a.png']],
    ['a font', '@font-face { src: local("Arial"), url(a.woff2) format("woff2") }', ['a.woff2']],
    ['src()', '@font-face { src: src("a.woff2") }', ['a.woff2']],
    ['image()', 'a { background: image("a.png") }', ['a.png']],
    ['image-set()', 'a { background: image-set("a.png" 1x, url(b.png) 2x) }', ['a.png', 'b.png']],
    ['cross-fade()', 'a { background: cross-fade(url(a.png), url(b.png)) }', ['a.png', 'b.png']],
    ['an import', '@import "a.css";', ['a.css']],
    ['an import with a quoted url', '@import url("a.css") layer(x) supports(a: "b");', ['a.css']],
    ['an import that comes too late', 'a { } @import "a.css";', ['a.css']],
    ['a custom property', ':root { --a: url(a.png) }', ['a.png']],
    ['a sheet that ends in the middle', 'a { background: url(a.png', ['a.png']],
    ['a url after broken rules', 'a { b: ) ] } ; } c { d: url(a.png) }', ['a.png']],
  ])('finds %s', (_, css, found) => {
    expect(addresses(css)).toEqual(found);
  });

  test.each([
    ['b { c: \\75rl("a.png") }', 'a.png'],
    ['b { c: url(\\61.png) }', 'a.png'],
    ['b { c: url("\\61\n.png") }', 'a.png'],
    ['@\\69mport "\\61.css"', 'a.css'],
  ])('reads the escapes of %j', (css, address) => {
    expect(addresses(css)).toEqual([address]);
  });

  test.each([
    ['a namespace', '@namespace svg url(http://www.w3.org/2000/svg); @namespace "http://b.example";'],
    ['a comment', '/* url(a.png) @import "a.css" */'],
    ['a string', 'a::after { content: "url(a.png)" }'],
    ['quotes elsewhere', 'a { font-family: "a.png" } a[href="b.css"] { quotes: "c" "d" }'],
    ['the character set', '@charset "utf-8";'],
    ['a longer name', 'a { b: my-url(a.png); c: curl("a.png") }'],
    ['a url broken by a quote', 'a { b: url(a"b.png) }'],
    ['a string broken by its line', '@import "a\n.css";'],
  ])('finds no address in %s', (_, css) => {
    expect(addresses(css)).toEqual([]);
  });

  test.each(['@namespace "n"; b: url(a.png)', '@namespace { b: url(a.png) }'])(
    'finds a url after the end of a namespace rule: %s',
    (css) => {
      expect(addresses(css)).toEqual(['a.png']);
    },
  );

  test('returns the kind and the offset of an address', () => {
    const css = '@import "a.css";\nb { c: url(d.png) }';
    const lineOf = (offset: number): number => css.slice(0, offset).split('\n').length;
    expect(find(css).map(({ kind, offset }) => `${kind} ${lineOf(offset)}`)).toEqual(['style 1', 'data 2']);
  });
});
