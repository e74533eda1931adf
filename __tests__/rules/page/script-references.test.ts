import { describe, expect, test } from '@jest/globals';
import {
  FETCHING_CALLS,
  findJsonReferences,
  findScriptReferences,
} from '../../../src/rules/page/script-references.ts';
import { measureCpuTime } from '../cpu-time.ts';

const addresses = (code: string): string[] => findScriptReferences(code, true).map(({ address }) => address);

describe('findScriptReferences', () => {
  test.each([
    ['an import', 'import a from "./a.js"', ['./a.js']],
    ['an import of names', "import { a as b, c } from './a.js';", ['./a.js']],
    ['an import for its effects', 'import"./a.js"', ['./a.js']],
    ['an import with attributes', 'import a from "./a.json" with { type: "json" }', ['./a.json']],
    ['an import from a host', 'import a from "https://a.example/a.js"', ['https://a.example/a.js']],
    ['an export', 'export * from "/a.js"; export { b } from "../b.js"', ['/a.js', '../b.js']],
    ['a dynamic import', 'const a = await import("./a.js")', ['./a.js']],
    ['a dynamic import of a template', 'import(`./a.js`)', ['./a.js']],
    ['the beginning of an address', 'import(`./pages/${name}.js`)', ['./pages/']],
    ['all addresses of importScripts', 'importScripts("a.js", b, "c.js")', ['a.js', 'c.js']],
    ['a worker', 'new Worker("a.js", { type: "module" })', ['a.js']],
    ['a shared worker', 'new SharedWorker("a.js")', ['a.js']],
    ['a worker in the folder of the module', 'new Worker(new URL("./a.js", import.meta.url))', ['./a.js']],
    ['a service worker', 'navigator.serviceWorker.register("sw.js")', ['sw.js']],
    ['a service worker with optional chaining', 'navigator.serviceWorker?.register("/sw.js")', ['/sw.js']],
    ['a worklet', 'audio.audioWorklet.addModule("a.js")', ['a.js']],
    ['fetch', 'fetch("https://a.example/a.json").then(b)', ['https://a.example/a.json']],
    ['fetch of a window', 'window.fetch("//a.example/a")', ['//a.example/a']],
    ['a request', 'new Request("https://a.example")', ['https://a.example']],
    ['XHR', 'xhr.open("GET", "http://a.example/a")', ['http://a.example/a']],
    ['server-sent events', 'new EventSource("https://a.example")', ['https://a.example']],
    ['a web socket', 'new WebSocket("wss://a.example")', ['wss://a.example']],
    ['a beacon', 'navigator.sendBeacon("https://a.example", b)', ['https://a.example']],
    [
      'a source that is set',
      'const s = document.createElement("script"); s.src = "//a.example/a.js"',
      ['//a.example/a.js'],
    ],
    ['escapes', 'f\\u0065tch("\\x68ttps:\\/\\/a.\\u{65}xample")', ['https://a.example']],
    ['a string over two lines', 'import("./a\\\n.js")', ['./a.js']],
    ['an import between comments', 'import /* a */ ( // b\n "./a.js" /* c */ )', ['./a.js']],
    ['a space that is not a blank', 'import\u00a0"./a.js"', ['./a.js']],
  ])('finds %s', (_, code, found) => {
    expect(addresses(code)).toEqual(found);
  });

  test.each([
    ['a comment', '// import("./a.js")\n/* import "./a.js" */ <!-- import("./a.js")'],
    ['a string', `const help = "import a from './a.js'; fetch('https://a.example')"`],
    ['a template', 'const help = `import("./a.js") \\` ${"x"} fetch("https://a.example")`'],
    ['a regular expression', 'a = /import("./+"a.js")/.test(b)'],
    ['a bare name, which only an import map resolves', 'import react from "react"; import("lodash/fp")'],
    ["Node's own modules by their bare name", 'if (isNode) await import("fs")'],
    ['a method named import', 'loader.import("./a.js")'],
    ['a method named from', 'Array.from("./a.js"); Buffer.from("https://a.example")'],
    ['a property', 'const a = { import: "./a.js", from: "./b.js", fetch: "https://a.example" }'],
    ['a relative fetch, which its script may catch', 'fetch("data.json"); xhr.open("GET", "/data.json")'],
    ['a window to open', 'window.open("https://a.example", "_blank")'],
    ['a link to set', 'a.href = "https://a.example"; const src = "https://a.example"'],
    ['another register', 'registry.register("a.js"); customElements.register("b.js")'],
    ['a name that objects inherit', 'constructor("https://a.example"); toString("https://a.example")'],
    ['a call without literals', 'fetch(address); import(name); new Worker(url)'],
    ['a string in an inner call', 'fetch(base("https://a.example"))'],
  ])('finds no address in %s', (_, code) => {
    expect(addresses(code)).toEqual([]);
  });

  // If the slash is misread, the quotes are paired wrongly and the import becomes part of a string.
  test.each([
    ['a division', 'x = a / b; y = "/"; import("./a.js"); z = c / d'],
    ['a division after a call', 'x = f(a) / 2 + g("/"); import("./a.js")'],
    ['a division after an element', 'x = a[0] / 2 + g("/"); import("./a.js")'],
    ['a division after counting', 'x = a++ / 2 + g("/"); import("./a.js")'],
    ['a division after a point', 'x = 1./2 + g("/"); import("./a.js")'],
    ['a division after a keyword as a property', 'x = a.return / 2 + g("/"); import("./a.js")'],
    ['a quote in an expression', `x = /["']/.test(a); import("./a.js")`],
    ['a slash in a class', `x = /[/"]/.test(a); import("./a.js")`],
    ['an escaped slash', `x = /\\/"/.test(a); import("./a.js")`],
    ['an expression after a condition', `if (a) /"/.test(b); import("./a.js")`],
    ['an expression after return', `function f() { return /"/ } import("./a.js")`],
    ['an expression after a block', `{ } /"/.test(b); import("./a.js")`],
    ['a template within a template', 'x = `a ${b ? `"${c}` : {}} "`; import("./a.js")'],
    ['a division after a template', 'x = `a${1}` / 2 + g("/"); import("./a.js")'],
    ['an address in a substitution', 'x = `"${import("./a.js")}"`'],
    ['a string that its line ends', `x = 'a\nimport("./a.js")`],
    ['a slash without an end', 'x = (/ 2\nimport("./a.js")'],
    ['a comment without an end', 'import("./a.js"); /* import("./b.js")'],
    ['a template without an end', 'import("./a.js"); x = `import("./b.js")'],
    ['a string without an end', 'import("./a.js"); x = "import(\'./b.js\')'],
  ])('finds the import in a script with %s', (_, code) => {
    expect(addresses(code)).toEqual(['./a.js']);
  });

  test.each(Object.entries(FETCHING_CALLS))(
    'finds an address with a host in %s',
    (name, { owner = 'self', stringsBefore = 0 }) => {
      const call = name === 'import' ? name : `${owner}.${name}`;
      const code = `new ${call}(${'"GET", '.repeat(stringsBefore)}"https://a.example/a.js")`;
      expect(addresses(code)).toEqual(['https://a.example/a.js']);
    },
  );

  test('returns the kind script for a module or worker, and data for a request', () => {
    const code = 'import "./a.js"; new Worker("b.js"); fetch("https://c.example")';
    expect(findScriptReferences(code, true).map(({ kind }) => kind)).toEqual(['script', 'script', 'data']);
  });

  test('returns the offset of an address', () => {
    expect(findScriptReferences('a;\nimport("./b.js")')).toEqual([
      { offset: 10, address: './b.js', kind: 'script' },
    ]);
  });

  test('finds a call at the end of a long script', () => {
    expect(addresses(`${'a + '.repeat(1_000)}b; navigator.serviceWorker.register("sw.js")`)).toEqual([
      'sw.js',
    ]);
  });

  test('takes linear time for many marks without an end', () => {
    const time = measureCpuTime(() => {
      for (const piece of ['(/[', '`${', "'", '/*', '\\u{', '(', '<!--']) {
        findScriptReferences(piece.repeat(300_000), true);
      }
    });
    // With quadratic time, a single case would take minutes.
    expect(time).toBeLessThan(20_000);
  });
});

describe('findJsonReferences', () => {
  const found = (json: unknown): string[] =>
    findJsonReferences(typeof json === 'string' ? json : JSON.stringify(json)).map(({ address }) => address);

  test('finds the addresses of modules in an import map', () => {
    const map = {
      imports: { a: './a.js', b: 'data:text/javascript,' },
      scopes: { '/x/': { c: 'https://c.example/c.js' } },
    };
    expect(found(map)).toEqual(['./a.js', 'data:text/javascript,', 'https://c.example/c.js']);
  });

  test('finds the addresses in speculation rules', () => {
    const rules = {
      prefetch: [{ urls: ['a.html', 'b.html'] }],
      prerender: [{ urls: ['c.html'] }, { where: {} }],
    };
    expect(found(rules)).toEqual(['a.html', 'b.html', 'c.html']);
  });

  test.each([
    ['broken {'],
    ['null'],
    ['[]'],
    ['"a.js"'],
    ['{ "imports": "./a.js", "scopes": [1] }'],
    ['{ "imports": { "a": "bare", "b": 1 } }'],
  ])('finds nothing in %s', (json) => {
    expect(found(json)).toEqual([]);
  });

  test('returns the addresses in the order of the text', () => {
    expect(found('{"scopes":{"x":{"a":"./a.js"}},"imports":{"b":"./b.js"}}')).toEqual(['./a.js', './b.js']);
  });
});
