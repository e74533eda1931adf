import { describe, expect, test } from '@jest/globals';
import { isSpecifierAddress } from '../../../src/rules/page/addresses.ts';
import {
  FETCHING_CALLS,
  findScriptReferences,
  findSpeculationReferences,
} from '../../../src/rules/page/script-references.ts';
import { measureCpuTime } from '../cpu-time.ts';

/** The addresses in a module, without bare names. */
const addresses = (code: string): string[] =>
  findScriptReferences(code, true)
    .filter(({ address, isSpecifier }) => !isSpecifier || isSpecifierAddress(address))
    .map(({ address }) => address);

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

  test('returns the kind of the resource', () => {
    const code = 'import "./a.js"; new Worker("b.js"); fetch("https://c.example")';
    expect(findScriptReferences(code, true).map(({ kind }) => kind)).toEqual(['module', 'script', 'data']);
  });

  test('returns the offset of an address', () => {
    expect(findScriptReferences('a;\nimport("./b.js")', true)).toEqual([
      { offset: 10, address: './b.js', kind: 'module', grade: 'start', isSpecifier: true },
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

describe('findSpeculationReferences', () => {
  const found = (rules: unknown): string[] =>
    findSpeculationReferences(typeof rules === 'string' ? rules : JSON.stringify(rules)).map(
      ({ address }) => address,
    );

  test('finds the addresses in speculation rules, which are loaded later', () => {
    const rules = {
      prefetch: [{ urls: ['a.html', 'b.html'] }],
      prerender: [{ urls: ['c.html'] }, { where: {} }],
    };
    expect(found(rules)).toEqual(['a.html', 'b.html', 'c.html']);
    expect(findSpeculationReferences(JSON.stringify(rules)).map(({ grade }) => grade)).toEqual([
      'later',
      'later',
      'later',
    ]);
  });

  test.each([['broken {'], ['null'], ['[]'], ['"a.js"'], ['{ "prefetch": [1, { "urls": "a" }] }']])(
    'finds no list of addresses in %s',
    (json) => {
      expect(found(json).filter((address) => address.length > 1)).toEqual([]);
    },
  );
});

/** The grades of the addresses in a script. */
const grades = (code: string): string =>
  findScriptReferences(code, true)
    .map(({ grade }) => grade)
    .join(' ');

describe('the grade of an address in a script', () => {
  test.each([
    ['a static import', 'import "./a.js"'],
    ['an import at the top level', 'import("./a.js").then((a) => a.start())'],
    ['an import that is awaited', 'const { a } = await import("./a.js")'],
    ['an import after another statement', 'x(1); y = 2\nimport("./a.js")'],
    ['an import after a declaration', 'function f() { return 1 } import("./a.js")'],
    ['an import after a condition', 'if (a) { b() } import("./a.js")'],
    ['an import after a short condition', 'if (a) b()\nimport("./a.js")'],
    ['an import after an expression that may be skipped', 'a && b(), import("./a.js")'],
    ['an import in a list', 'Promise.all([a, import("./a.js")])'],
    ['an import in a block', '{ const a = { b: 1 }; import("./a.js") }'],
    ['a request', 'fetch("https://a.example")'],
    ['a worker', 'const w = new Worker("a.js")'],
    ['a source', 's.src = "https://a.example/a.js"; document.body.append(s)'],
    ['an import in a function that is called', '(function () { import("./a.js") })()'],
    ['an import in an arrow function that is called', '(() => { import("./a.js") })()'],
    ['an import in an asynchronous function that is called', '(async () => { await import("./a.js") })()'],
    ['an import after such a function', '(function () { x() })(); import("./a.js")'],
    ['an import in a function after a sign', '!function () { import("./a.js") }()'],
    ['an import in a function with parameters', ';(function (w, d) { import("./a.js") })(window, document)'],
    ['an import in a function after a word', 'void async function () { import("./a.js") }()'],
  ])('is start for %s', (_, code) => {
    expect(grades(code)).toBe('start');
  });

  test.each([
    ['an import in a function', 'function f() { import("./a.js") }'],
    ['an import in an arrow function', 'const f = () => import("./a.js")'],
    ['an import in a method', 'const o = { f() { import("./a.js") } }; class A { f() { import("./a.js") } }'],
    ['an import in a callback', 'a.on("b", function () { import("./a.js") })'],
    ['an import in an arrow function as a callback', 'a.on("b", () => { import("./a.js") })'],
    ['an import after a condition', 'if (a) import("./a.js")'],
    ['an import after a condition and a line break', 'if (a)\nimport("./a.js")'],
    ['an import in a condition', 'if (a) { import("./a.js") } else { import("./a.js") }'],
    ['an import in the other branch', 'if (a) b(); else import("./a.js")'],
    ['an import in a loop', 'for (const a of b) import("./a.js"); while (a) { import("./a.js") }'],
    ['an import that may fail', 'try { import("./a.js") } catch { import("./a.js") }'],
    ['an import after an operator', 'a && import("./a.js"); a || import("./a.js"); a ? import("./a.js") : b'],
    ['an import in a case', 'switch (a) { case 1: import("./a.js") }'],
    ['an import after a return', '(function () { if (a) return; import("./a.js") })()'],
    ['an import in a function that is passed on', '(function (f) { f() })(function () { import("./a.js") })'],
    ['an import in a module of a bundle', '!function (e) { e[0]() }([function () { import("./a.js") }])'],
    ['an import in a function after a callback', '(a => a)(b); const o = { f() { import("./a.js") } }'],
    ['a source in a function', 'function f() { s.src = "https://a.example/a.js" }'],
  ])('is later for %s', (_, code) => {
    expect(new Set(grades(code).split(' '))).toEqual(new Set(['later']));
  });

  test.each([
    ['a script that is no module', 'import a from "./a.js"; export * from "./b.js"', false],
    ['a name that is not the end of an import', 'const from = 1; x(from, "./a.js"); from\n"./a.js"', true],
  ])('is given to no import in %s', (_, code, isModule) => {
    expect(findScriptReferences(code, isModule)).toEqual([]);
  });

  test('does not hide the import of many names', () => {
    const names = Array.from({ length: 500 }, (_, at) => `a${at} as b${at}`).join(',');
    expect(addresses(`import{${names}}from"./a.js";`)).toEqual(['./a.js']);
  });
});

describe('an address of which only the beginning is known', () => {
  test.each([['import(`./a/${b}.js`)'], ['import("./a/" + b)'], ['new Worker("a-" + b)']])(
    'is marked in %s',
    (code) => {
      expect(findScriptReferences(code, true)).toMatchObject([{ isPartial: true }]);
    },
  );

  test('is not a whole one', () => {
    const [one, other] = findScriptReferences('import(`./a.js`); import("./b.js")', true);
    expect([one?.isPartial, other?.isPartial]).toEqual([undefined, undefined]);
  });
});
