import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isExternal } from '../../src/rules/page/addresses.ts';
import { resolveSpecifier } from '../../src/rules/page/import-map.ts';
import { searchText } from '../rules/page/search-page.ts';
import { inline, type TestFiles } from './inline-one.ts';

const FILES: TestFiles = {
  'a.js': 'import("./b.js"); import.meta',
  'b.js': 'import "./c.js"; import("c")',
  'c.js': 'import "./b.js"; export {} from "./d.css" with { type: "css" }',
  'd.css': '@import "e.css" print; a { b: url(a.png) }',
  'e.css': '@font-face { src: url("a.png#x") format("woff2"), url(a.svg) }',
  'a.png': 'PNG',
  'a.svg': '<svg/>',
};

/** Parts of pages, each of which needs files. */
const PARTS = [
  ...[
    '<script src=a.js>',
    '</script>',
    '<script type=module src="b.js">',
    '<script type=module>import "./b.js";',
    '<svg>',
  ],
  ...[
    '</svg>',
    '<script>import("./b.js")',
    '<style>@import "d.css";',
    '</style>',
    '<p style="a:url(a.png)">',
    '<template>',
  ],
  ...[
    '</template>',
    '<link rel=stylesheet href=d.css>',
    '<link rel="alternate stylesheet" href=d.css>',
    '<link rel=icon href=a.png>',
  ],
  ...[
    '<img src=a.png srcset="a.svg, a.png 2x">',
    '<svg/>',
    '<image href=a.png>',
    '<image xlink:href="a.png"/>',
    '<math>',
    '</math>',
  ],
  ...[
    '<script type=importmap>{"imports":{"c":"./c.js"}}',
    '<object data=a.svg>',
    '<script href=a.js />',
    '<title>',
    '</title>',
  ],
  ...[
    '<iframe srcdoc="<script src=a.js></script><style>@import \'d.css\'">',
    '</iframe>',
    '<!--',
    '-->',
    '<body background=a.png>',
  ],
  ...[
    '<link rel=preload href=a.png as=image>',
    '<script nomodule src=x.js>',
    '<noscript>',
    '</noscript>',
    '<select>',
    '<table>',
  ],
  ...[
    '<feImage href=a.png />',
    '<foreignObject>',
    '</foreignObject>',
    '<textarea>',
    '</textarea>',
    '\r\n',
    'é',
    '&amp;',
    '</body>',
  ],
];

test('In an inlined page, the search finds no address that a browser must fetch.', async () => {
  const page = fc.array(fc.constantFrom(...PARTS), { maxLength: 12 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(page, async (html) => {
      const made = await inline(html, FILES);
      const found: string[] = [];
      const { references, importMap } = await searchText(made);
      for (const { address, isSpecifier } of references) {
        const resolved = isSpecifier ? resolveSpecifier(address, importMap, 'https://a.example/') : address;
        if (resolved !== null && isExternal(resolved)) found.push(resolved);
      }
      expect({ html, found }).toEqual({ html, found: [] });
      // Nothing is left to do.
      expect(await inline(made, {})).toBe(made);
    }),
    { numRuns: 300 },
  );
});
