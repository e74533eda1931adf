import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../support/files.ts';

const FILES = 1_000;

/** Inspects the files of a folder, and prints how many bytes of the heap each of them has. */
const INSPECT = `
  const [module, folder, count] = process.argv.slice(1);
  const { inspectFile } = await import(module);
  const kept = [];
  const inspect = async (nth) => {
    const name = 'file-' + nth + '.html';
    const path = folder + '/' + name;
    const options = { name, path, given: path, marker: undefined, secrets: [{ name: 'A', value: 'a secret' }] };
    const file = await inspectFile({ ...options, within: folder });
    kept.push(file);
  };
  const measure = () => {
    gc();
    return process.memoryUsage().heapUsed;
  };
  for (let nth = 0; nth < 50; nth += 1) await inspect(nth);
  const before = measure();
  for (let nth = 50; nth < count; nth += 1) await inspect(nth);
  console.log((measure() - before) / (count - 50), kept.length);
`;

test('a file of a folder costs little memory until it is delivered', async () => {
  const folder = await temporaryFolder();
  const files = Array.from({ length: FILES }, (_, nth) => join(folder, `file-${nth}.html`));
  await Promise.all(files.map((path) => writeFile(path, `<title>${path}</title>`)));
  const module = new URL('../../src/rules/inspect.ts', import.meta.url).href;
  const options = ['--no-warnings', '--expose-gc', '--input-type=module', '-e', INSPECT];
  const { stdout } = await promisify(execFile)(process.execPath, [...options, module, folder, String(FILES)]);
  const [bytes, count] = stdout.split(' ').map(Number);
  expect(count).toBe(FILES);
  expect(bytes).toBeLessThan(1_200);
});
