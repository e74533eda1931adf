import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');
const manifest = JSON.parse(read('package.json'));

const DOCUMENTS = globSync('{README,CONTRIBUTING,SECURITY,CHANGELOG,docs/*}.md', { cwd: ROOT }).map((path) =>
  path.replaceAll('\\', '/'),
);
const FOLDERS = 'src|__tests__|bench|scripts|examples|dist|\\.github';

/** The first group of each match of a pattern, without duplicates. */
function findAll(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, found = '']) => found))];
}

/** The anchors that GitHub gives to a document's headings. */
function anchorsOf(text: string): string[] {
  const headings = findAll(text, /^#+ (.+)$/gm);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe.each(DOCUMENTS)('%s', (document) => {
  const text = read(document);

  test('names only files and folders that exist', () => {
    const named = findAll(text, new RegExp(`\`((?:${FOLDERS})/[\\w./-]*)\``, 'g'));
    expect(named.filter((path) => !existsSync(`${ROOT}${path}`))).toEqual([]);
    const linked = findAll(text, /\]\(([\w.-][\w./-]*)(?:#[^)]*)?\)/g);
    expect(linked.filter((path) => !existsSync(join(ROOT, dirname(document), path)))).toEqual([]);
  });

  test('names only scripts that package.json has', () => {
    const named = findAll(text, /\bnpm run ([\w:-]+)/g);
    expect(named.filter((name) => !Object.hasOwn(manifest.scripts, name))).toEqual([]);
  });

  test('links only to existing headings', () => {
    const links = [...text.matchAll(/\]\(([\w./-]*\.md|)#([^)]+)\)/g)];
    const isMissing = ([, path = '', anchor = '']: RegExpExecArray): boolean =>
      !anchorsOf(path === '' ? text : read(join(dirname(document), path))).includes(anchor);
    expect(links.filter(isMissing).map(([link]) => link)).toEqual([]);
  });
});

test('the CI workflow names only tests that exist', () => {
  const tests = globSync('__tests__/**/*.test.ts', { cwd: ROOT }).map((path) => path.replaceAll('\\', '/'));
  const named = findAll(read('.github/workflows/ci.yml'), /(__tests__\/\S+)/g).filter(
    (path) => !path.includes('.html'),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((start) => !tests.some((path) => path.startsWith(start)))).toEqual([]);
});

test('.node-version is the Node that the project installs', () => {
  const [major] = manifest.devDependencies.node.split('.');
  expect(read('.node-version').trim()).toBe(major);
  expect(read('action.yml')).toContain(`using: node${major}`);
});

test('package.json and CODEOWNERS name the same owner', () => {
  const [, owner] = /github\.com\/([^/]+)\/screen-delivery\.git$/.exec(manifest.repository.url) ?? [];
  expect(manifest.bugs).toBe(`https://github.com/${owner}/screen-delivery/issues`);
  expect(read('.github/CODEOWNERS')).toMatch(new RegExp(`^\\* @${owner}$`, 'm'));
});
