import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Where the lock file installs each package: one path per copy. */
function listCopies(name: string): string[] {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, unknown> };
  return Object.keys(packages).filter((path) => path.endsWith(`node_modules/${name}`));
}

const countIn = (text: string, part: string): number => text.split(part).length - 1;

/** Each million bytes cost about 30 ms at the start, even if their code never runs. */
const LARGEST_BUNDLE = 1_600_000;

describe('bundles', () => {
  test.each([
    ['the parsers of pages', 'page-rules', ['unexpected-question-mark-instead-of-tag-name']],
    ['the code that drives a browser', 'browser', ['Target.setAutoAttach', 'puppeteer', 'pixelmatch']],
    ['the converters of files', 'convert', ['markdown-body', 'hljs-']],
    ['the MCP server', 'mcp', ['io.modelcontextprotocol/']],
  ])('load %s only when needed, from a separate file', (_, name, [marker = '', ...more]) => {
    expect(countIn(read(`dist/${name}.js`), marker)).toBeGreaterThan(0);
    for (const bundle of ['index', 'cli', 'mcp'].filter((one) => one !== name)) {
      const text = read(`dist/${bundle}.js`);
      for (const part of [marker, ...more]) expect(countIn(text, part)).toBe(0);
      if (name !== 'mcp') expect(text).toContain(`import("./${name}.js")`);
    }
  });

  test("the browser's bundle does not contain the code for network connections", () => {
    expect(read('dist/browser.js').length).toBeLessThan(600_000);
    const named = read('dist/browser-licenses.txt').split('\n');
    for (const name of ['debug', 'pixelmatch', 'puppeteer-core']) expect(named).toContain(name);
  });

  test("the action's bundle is small enough to start at once", () => {
    expect(read('dist/index.js').length).toBeLessThan(LARGEST_BUNDLE);
  });

  test.each(['undici', '@actions/http-client', '@octokit/core', '@octokit/request'])(
    'the lock file installs one copy of %s',
    (name) => {
      expect(listCopies(name)).toEqual([`node_modules/${name}`]);
    },
  );

  /** For each package, a text that its code contains once and that survives minification. */
  const MARKERS = {
    undici: ["'undici.error.UND_ERR_PRX_TLS'", 'undici/lib/core/errors.js'],
    '@octokit/core': ['`octokit-core.js/', '@octokit/core/dist-src/index.js'],
    '@actions/http-client': ["'actions/http-client'", '@actions/http-client/lib/index.js'],
  } as const;

  test.each([
    ...['index', 'cli', 'mcp'].flatMap((bundle) => [
      [bundle, 'undici'] as const,
      [bundle, '@octokit/core'] as const,
    ]),
    ['index', '@actions/http-client'] as const,
  ])('dist/%s.js contains one copy of %s', (bundle, name) => {
    const [marker, source] = MARKERS[name];
    expect(countIn(read(`node_modules/${source}`), marker)).toBe(1);
    expect(countIn(read(`dist/${bundle}.js`), marker.replace(/['`]/g, ''))).toBe(1);
  });

  test('the command line loads the MCP server on request', () => {
    expect(read('dist/cli.js')).toContain('"./mcp.js"');
  });
});
