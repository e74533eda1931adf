import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { findRepository } from '../../src/request/local-request.ts';
import { temporaryFolder } from '../support/files.ts';

const CONFIG =
  '[core]\n\trepositoryformatversion = 0\n[remote "origin"]\n\turl = https://github.com/octo/site\n';

/** A repository of git, as git itself makes it. */
async function makeGit(folder: string): Promise<void> {
  for (const name of ['objects', 'refs']) await mkdir(join(folder, '.git', name), { recursive: true });
  await writeFile(join(folder, '.git/HEAD'), 'ref: refs/heads/main\n');
  await writeFile(join(folder, '.git/config'), CONFIG);
}

test.each<[string, readonly string[], string, readonly (string | null)[]]>([
  ['no repository', [], '', []],
  ['git', ['.git'], 'octo/site', ['octo/site']],
  ['Mercurial', ['.hg'], '', [null]],
  ['Jujutsu', ['.jj'], '', [null]],
  ['Subversion', ['.svn'], '', [null]],
  ['Jujutsu together with git', ['.jj', '.git'], 'octo/site', ['octo/site']],
  ['Mercurial in a repository of git', ['.git', 'src/.hg'], '', [null]],
  ['git in a copy of Subversion', ['.svn', 'src/.git'], 'octo/site', ['octo/site']],
])('What files in %s come from', async (_, systems, repository, sources) => {
  const folder = await temporaryFolder();
  const inner = join(folder, 'src/out');
  await mkdir(inner, { recursive: true });
  for (const system of systems) {
    if (system.endsWith('.git')) await makeGit(join(folder, system, '..'));
    else await mkdir(join(folder, system));
  }

  await expect(findRepository({}, inner, ['a.html'], {})).resolves.toMatchObject({ repository, sources });
});
