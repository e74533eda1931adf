import { createHash } from 'node:crypto';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { runChild } from '../world/child.ts';
import { writeFiles } from '../world/runner.ts';
import { CLI, createPage, NODE, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();

interface Statement {
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
  readonly predicate: { readonly properties: readonly string[] };
}

/** The addresses of a receipt that do not answer what it says. */
async function listAltered({ subject }: Statement): Promise<readonly string[]> {
  const checked = subject.map(async ({ name, digest }) => {
    const bytes = await scenario.fetchPublic(name);
    return createHash('sha256').update(bytes).digest('hex') === digest.sha256 ? [] : [name];
  });
  return (await Promise.all(checked)).flat();
}

const SITE = { 'dist/index.html': createPage(), 'dist/app.js': 'first', 'dist/папка/a b.css': 'p {}' };
const readReceipt = async (path = ''): Promise<Statement> => JSON.parse(await readFile(path, 'utf8'));

describe('a receipt', () => {
  test('holds what every address answers, until somebody alters one', async () => {
    const repository = await scenario.repository();
    const inputs = { file: 'dist/', path: 'docs/' };
    const { outputs, token } = await scenario.deliver({ repository, files: SITE, inputs });
    const statement = await readReceipt(outputs.receipt);
    const { url } = repository.pages;
    expect(statement.subject.map(({ name }) => name).sort()).toEqual(
      ['docs/', `docs/${encodeURIComponent('папка')}/a%20b.css`, 'docs/app.js'].map((path) => url + path),
    );
    expect(statement.predicate.properties).toContain('SCREEN_DELIVERY_EVERY_FILE_IS_A_SUBJECT');
    expect(JSON.stringify(statement)).not.toContain(token);
    expect(await listAltered(statement)).toEqual([]);

    await repository.commit('docs/app.js', 'second');
    await repository.pages.whenBuilt();
    expect(await listAltered(statement)).toEqual([`${url}docs/app.js`]);
  });

  test('is not written where something is not ready, and the output is empty', async () => {
    const repository = await scenario.repository({ pages: false });
    const files = { 'page.html': createPage() };
    const { outputs } = await scenario.deliver({ repository, files, inputs: { channel: 'K1' } });
    expect([outputs.result, outputs.receipt]).toEqual(['not-ready', '']);
  });

  test('is written by the command line', async () => {
    const { world } = scenario;
    const { fullName } = await scenario.repository();
    const cwd = await mkdtemp(join(world.folder, 'shell-'));
    await writeFiles(cwd, SITE);
    const { exitCode } = await runChild(NODE, {
      args: [CLI, 'deliver', 'dist/index.html', '--receipt', 'receipt.json'],
      cwd,
      env: { ...world.env, HOME: cwd, GITHUB_TOKEN: world.token(), GITHUB_REPOSITORY: fullName },
    });
    expect(exitCode).toBe(0);
    expect(await listAltered(await readReceipt(join(cwd, 'receipt.json')))).toEqual([]);
  });
});
