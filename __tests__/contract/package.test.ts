import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '../support/files.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** An empty folder into which the package was installed, without any network. */
let folder: string;
let files: readonly { readonly path: string; readonly size: number }[];
const env = { ...process.env, PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}` };

beforeAll(async () => {
  folder = await temporaryFolder();
  const packed = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: ROOT, env });
  const [{ filename, files: listed }] = JSON.parse(packed.stdout);
  files = listed;
  await writeFile(join(folder, 'package.json'), '{ "private": true }');
  const install = ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', `./${filename}`];
  await run('npm', install, { cwd: folder, env });
});

const installed = (path: string): string => join(folder, 'node_modules/screen-delivery', path);

describe('the npm package', () => {
  test('contains only the bundles, their licenses, the contract and the documents', () => {
    const expected =
      /^(README\.md|LICENSE|package\.json|contract\.json|report\.schema\.json|dist\/([\w-]+\.js|[\w-]*licenses\.txt|package\.json))$/;
    expect(files.map(({ path }) => path).filter((path) => !expected.test(path))).toEqual([]);
    expect(files.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        'dist/cli.js',
        'dist/cli-licenses.txt',
        'dist/mcp.js',
        'dist/mcp-licenses.txt',
      ]),
    );
    // The action is not run from npm.
    expect(files.map(({ path }) => path)).not.toContain('dist/index.js');
  });

  test('has no dependencies, and names the oldest Node that it runs on', async () => {
    expect(manifest.dependencies).toBeUndefined();
    // `prepare` runs in a checkout alone.
    expect(
      Object.keys(manifest.scripts).filter((name) => /^(pre|post)?(install|pack|publish)/.test(name)),
    ).toEqual([]);
    const { stdout } = await run('npm', ['ls', '--all', '--parseable'], { cwd: folder, env });
    expect(stdout.trim().split('\n')).toHaveLength(2);
    const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(manifest.engines.node) ?? [];
    expect(readFileSync(join(ROOT, 'src/cli/index.ts'), 'utf8')).toContain(`MIN_NODE = [${major}, ${minor}]`);
    const undici = JSON.parse(readFileSync(join(ROOT, 'node_modules/undici/package.json'), 'utf8'));
    expect(undici.engines.node).toBe(`${manifest.engines.node}.0`);
  });

  test('has no source map and no path of a machine', async () => {
    for (const { path } of files) {
      const text = await readFile(installed(path), 'utf8');
      const found =
        text.match(/^\/\/[#@] sourceMappingURL=.*|(?:file:\/\/)?\/(?:[\w.-]+\/)+node_modules\/.{0,40}/gm) ??
        [];
      expect({ path, found }).toEqual({ path, found: [] });
      for (const place of [ROOT, homedir(), dirname(folder)].filter((one) => one.length > 5)) {
        expect(`${path} ${text.includes(place)}`).toBe(`${path} false`);
      }
    }
  });
});

describe('installed into an empty folder', () => {
  const screenDelivery = (...args: readonly string[]) =>
    run(join(folder, 'node_modules/.bin/screen-delivery'), args, { cwd: join(folder, 'pages'), env });

  beforeAll(async () => {
    await mkdir(join(folder, 'pages'));
    await writeFile(join(folder, 'pages/page.html'), '<!doctype html><p>It works</p>\n');
  });

  test('npx runs it, and it checks a file and prints the contract', async () => {
    const npx = await run('npx', ['--offline', 'screen-delivery', '--version'], { cwd: folder, env });
    expect(npx.stdout.trim()).toBe(manifest.version);
    await expect(screenDelivery('check', 'page.html')).resolves.toMatchObject({
      stdout: expect.stringMatching(/^page\.html: can be delivered/),
    });
    const { stdout } = await screenDelivery('contract');
    expect(stdout).toBe(readFileSync(installed('contract.json'), 'utf8'));
  });

  test('it serves MCP from a separate bundle', async () => {
    const serving = screenDelivery('mcp', '--root', '.', '--client-id', 'Iv1.0123456789abcdef');
    serving.child.stdin?.end('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}\n');
    const { stdout } = await serving;
    const [{ result }] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(result.tools).toHaveLength(5);
    // An agent reads all of it before its first call.
    expect(Buffer.byteLength(stdout)).toBeLessThan(10_000);
  });
});
