import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { createPage, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();

interface Statement {
  readonly subject: readonly { readonly name: string; readonly digest: { readonly sha256: string } }[];
  readonly predicate: { readonly properties: readonly string[] };
}

/** The URLs whose answers differ from the receipt. */
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
  test('matches what every URL answers, until somebody alters a page', async () => {
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
});
