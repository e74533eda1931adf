import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { RawInputs } from '../../src/request/inputs.ts';
import { findRepository } from '../../src/request/local-request.ts';
import { temporaryFolder } from '../support/files.ts';

type Remotes = Readonly<Record<string, string>>;

/** A repository of git, as git itself makes it. @param folder with the files of git in it */
async function makeGit(folder: string, remotes: Remotes, isBare = false): Promise<void> {
  const sections = Object.entries(remotes).map(([name, url]) => `[remote "${name}"]\n\turl = ${url}\n`);
  for (const name of ['objects', 'refs']) await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
  const core = `[core]\n\trepositoryformatversion = 0\n\tbare = ${isBare}\n`;
  await writeFile(join(folder, 'config'), core + sections.join(''));
}

const OURS = { origin: 'https://github.com/octo/site' };
const SECRET = 'git@github.com:octo/secret.git';

test.each<[string, readonly string[], string, readonly (string | null)[]]>([
  ['no repository', [], '', []],
  ['git', ['.git'], 'octo/site', ['octo/site']],
  ['Mercurial', ['.hg'], '', [null]],
  ['Jujutsu', ['.jj'], '', [null]],
  ['Subversion', ['.svn'], '', [null]],
  ['Jujutsu together with git', ['.jj', '.git'], 'octo/site', ['octo/site']],
  ['Mercurial in a repository of git', ['.git', 'src/.hg'], '', [null]],
  ['git in a copy of Subversion', ['.svn', 'src/.git'], 'octo/site', ['octo/site']],
])('The source repositories of files in %s', async (_, systems, repository, sources) => {
  const folder = await temporaryFolder();
  const inner = join(folder, 'src/out');
  await mkdir(inner, { recursive: true });
  for (const system of systems) {
    if (system.endsWith('.git')) await makeGit(join(folder, system), OURS);
    else await mkdir(join(folder, system));
  }
  await expect(findRepository({}, inner, ['a.html'], {})).resolves.toMatchObject({ repository, sources });
});

const INSTANCE = 'https://git.example.com';
const ELSEWHERE = { origin: 'git@git.example.com:octo/site.git' };

describe('the git remotes of the files', () => {
  const find = async (remotes: Remotes, given: Partial<RawInputs> = {}, env: Record<string, string> = {}) => {
    const folder = await temporaryFolder();
    await makeGit(join(folder, '.git'), remotes);
    return findRepository(given, folder, ['page.html'], env);
  };

  test.each([
    ['https://github.com/octo/site.git', 'octo/site'],
    ['https://github.com/octo/site/', 'octo/site'],
    ['https://x-access-token:secret@github.com/octo/site.git', 'octo/site'],
    ['git@github.com:octo/site.git', 'octo/site'],
    ['ssh://git@github.com/octo/site.git', 'octo/site'],
    ['ssh://git@github.com:22/octo/site', 'octo/site'],
    ['https://github.com/octo/octo.github.io.git', 'octo/octo.github.io'],
    // A guess would send the token and the file to a repository of the same name on github.com.
    ['https://gitlab.com/octo/site.git', null],
    ['git@codeberg.org:octo/site.git', null],
    ['/srv/git/site.git', null],
    ['../origin/site.git', null],
  ])('name with %s the repository %j', async (origin, name) => {
    await expect(find({ origin })).resolves.toMatchObject({ repository: name ?? '', sources: [name] });
  });

  test.each<[string, Remotes, Partial<RawInputs>, Record<string, string>, string, string]>([
    ['origin of several', { a: SECRET, ...OURS }, {}, {}, 'octo/site', 'from git remote origin'],
    ['the only one', { company: SECRET }, {}, {}, 'octo/secret', 'from git remote company'],
    ['none of several others', { a: SECRET, b: 'git@github.com:o/b.git' }, {}, {}, '', 'none called origin'],
    ['none', {}, {}, {}, '', 'no git remote'],
    ['what was asked for', OURS, { repository: 'octo/other' }, {}, 'octo/other', 'as given'],
    ['that of the runner', OURS, {}, { GITHUB_REPOSITORY: 'o/r' }, 'o/r', 'from GITHUB_REPOSITORY'],
    ['that of a flag’s instance', ELSEWHERE, { 'auth-url': INSTANCE }, {}, 'octo/site', 'origin'],
    ['that of the runner’s instance', ELSEWHERE, {}, { GITHUB_SERVER_URL: INSTANCE }, 'octo/site', 'origin'],
  ])('lead to %s', async (_, remotes, given, env, repository, said) => {
    const found = await find(remotes, given, env);
    expect(found).toMatchObject({ repository, detail: expect.stringContaining(said) });
    // The sources do not depend on the target repository.
    expect(found.sources).not.toEqual([]);
  });
});

describe('an unknown source', () => {
  const unknown = { sources: [null], detail: expect.stringMatching(/remotes can't be read: /) };

  test('is reported if git fails or is not installed', async () => {
    const folder = await temporaryFolder();
    await makeGit(join(folder, '.git'), OURS);
    await writeFile(join(folder, '.git/config'), '[core');
    await expect(findRepository({}, folder, [], process.env)).resolves.toMatchObject(unknown);
    await makeGit(join(folder, '.git'), OURS);
    await expect(findRepository({}, folder, [], { PATH: folder })).resolves.toMatchObject(unknown);
  });

  test('is reported if GIT_DIR names another repository', async () => {
    const env = { GIT_DIR: '/srv/git/secret.git' };
    await expect(findRepository({}, await temporaryFolder(), [], env)).resolves.toMatchObject(unknown);
  });
});

test('files may come from the repository of the runner, and from any around the files, their links or the caller', async () => {
  const [elsewhere, folder] = [await temporaryFolder(), await temporaryFolder()];
  const bare = await temporaryFolder();
  await makeGit(join(folder, '.git'), { origin: SECRET });
  await makeGit(bare, { origin: SECRET }, true);
  await writeFile(join(folder, 'page.html'), 'x');
  await symlink(join(folder, 'page.html'), join(elsewhere, 'link.html'));
  for (const [caller, file] of [
    [elsewhere, join(folder, 'page.html')],
    [elsewhere, 'link.html'],
    [folder, join(elsewhere, 'page.html')],
    [bare, 'page.html'],
  ] as const) {
    const { sources } = await findRepository({}, caller, [file], {});
    expect(sources).toEqual(['octo/secret']);
  }
  const ofRunner = { GITHUB_REPOSITORY: 'octo/secret' };
  const { sources } = await findRepository({}, elsewhere, ['page.html'], ofRunner);
  expect(sources).toEqual(['octo/secret']);
});
