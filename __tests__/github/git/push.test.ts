import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { FileChange } from '../../../src/github/api/git-data.ts';
import { gitError } from '../../../src/github/git/failures.ts';
import { type PushOptions, pushChanges } from '../../../src/github/git/push.ts';
import { localFile, temporaryFolder } from '../../support/files.ts';
import { type FakePorts, fakePorts } from '../../support/ports.ts';
import type { TestRepository } from '../../world/repository.ts';
import { type GitHubWorld, startWorld } from '../../world/world.ts';
import { changeWith } from '../changes.ts';

const MESSAGE = 'ADD page.html: a page\n\nDelivered-by: a test';
const ADVERT = { method: 'GET', url: /service=git-receive-pack/ };
const SENDING = { method: 'POST', url: /git-receive-pack$/ };
const { env: original } = process;

let world: GitHubWorld;
let repository: TestRepository;
/** Where temporary folders are made. */
let temporary: string;
let ports: FakePorts;
let made = 0;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.stop());

beforeEach(async () => {
  temporary = await temporaryFolder();
  process.env = { ...original, ...world.env, RUNNER_TEMP: temporary };
  ports = fakePorts();
  const files = { 'README.md': '# site\n', 'docs/old.html': 'old', 'docs/beside.html': 'beside' };
  made += 1;
  repository = await world.repository({ owner: 'octo', name: `site-${made}`, files });
  world.traffic.clear();
});

afterEach(async () => {
  process.env = original;
  expect(await readdir(temporary)).toEqual([]);
  expect(processesWithin(temporary)).toEqual([]);
});

const directory = (): string => join(world.folder, `octo--${repository.name}.git`);

async function pushAll(
  changes: readonly FileChange[],
  overrides: Partial<PushOptions> = {},
): Promise<string[]> {
  const remote = new URL(`https://github.com/${repository.fullName}.git`);
  return pushChanges({ remote, token: world.token(), branch: 'main', changes, ...overrides }, ports);
}

/** Pushes one change. */
async function push({
  path,
  replaces,
  file,
  ...overrides
}: Partial<PushOptions & FileChange> = {}): Promise<string | undefined> {
  const change = {
    path: path ?? 'docs/page.html',
    message: MESSAGE,
    replaces: replaces ?? null,
    file: file === undefined ? await localFile('<p>a page</p>') : file,
  };
  const commits = await pushAll([change], overrides);
  expect(commits).toHaveLength(1);
  return commits[0];
}

const blobAt = (path: string): string => asked('rev-parse', `main:${path}`);

const asked = (...args: string[]): string =>
  execFileSync('git', ['-C', directory(), ...args], { encoding: 'utf8' }).trim();

/** The running processes whose working folder lies in this one; none where there is no /proc. */
function processesWithin(folder: string): { args: string; peak: number }[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || !readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)) return [];
      const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const [, peak = 0] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
      return args === '' ? [] : [{ args, peak: Number(peak) * 1024 }];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}

/** A `git` of the test's own, first on the PATH. */
async function gitScript(text: string): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'git'), `#!/bin/sh\n${text}\n`);
  await chmod(join(folder, 'git'), 0o755);
  process.env.PATH = `${folder}:${original.PATH}`;
  return folder;
}

describe('the commit', () => {
  test('adds the one file on top of the branch, and leaves everything else as it was', async () => {
    const before = await repository.head();
    const sha = await push();
    expect(await repository.head()).toBe(sha);
    expect(asked('log', '-1', '--format=%P %an <%ae> %cn <%ce>')).toBe(
      `${before} ${'screen-delivery <screen-delivery@users.noreply.github.com> '.repeat(2).trim()}`,
    );
    expect((await repository.log())[0]).toEqual({ sha, message: MESSAGE, files: ['docs/page.html'] });
    expect(asked('ls-tree', '-r', 'main')).toContain('100644 blob');
    expect(String(await repository.read('docs/page.html'))).toBe('<p>a page</p>');
    expect(String(await repository.read('docs/beside.html'))).toBe('beside');
  });

  test('replaces the file that was seen', async () => {
    const sha = await push({ path: 'docs/old.html', replaces: blobAt('docs/old.html') });
    expect((await repository.log())[0]).toMatchObject({ sha, files: ['docs/old.html'] });
    expect(String(await repository.read('docs/old.html'))).toBe('<p>a page</p>');
    // The replaced blob is not fetched for git to compare with.
    expect(world.traffic.exchanges(/^POST .*git-upload-pack/)).toHaveLength(2);
  });

  test('is made in the name that was asked for', async () => {
    await push({ author: { name: 'A name', email: 'a@example.com' } });
    expect(asked('log', '-1', '--format=%an <%ae> %cn <%ce>')).toBe(
      'A name <a@example.com> A name <a@example.com>',
    );
  });

  test.each(['страница с пробелом.html', ':(top)odd*[1]?.html', '-q'])(
    'takes the path %j literally',
    async (path) => {
      await repository.commit(path, 'old');
      await push({ path, replaces: (await localFile('old')).blobSha });
      expect(asked('ls-tree', '-r', '-z', '--name-only', 'main').split('\0')).toContain(path);
      expect(asked('cat-file', 'blob', `main:${path}`)).toBe('<p>a page</p>');
    },
  );

  test('goes to a branch other than the default one', async () => {
    await repository.commit('x.txt', 'x', 'x', 'docs/next');
    const sha = await push({ branch: 'docs/next' });
    expect(await repository.head('docs/next')).toBe(sha);
    expect(await repository.read('docs/page.html')).toBeNull();
  });

  test('fetches no history, and not one blob, not even later', async () => {
    await push();
    const fetches = world.traffic.exchanges(/^POST .*git-upload-pack/);
    // What refs there are, and the branch: anything more would be a blob fetched after all.
    expect(fetches).toHaveLength(2);
    expect(fetches[1]?.body.head).toMatch(/deepen 1\s*0014filter blob:none/);
  });
});

describe('several changes', () => {
  const page = async (path: string, bytes: string): Promise<FileChange> =>
    changeWith({ path, message: `ADD ${path}: a page`, file: await localFile(bytes) });

  test('are a commit each, one on the other, in one push', async () => {
    const before = await repository.head();
    const changes = [
      await page('a.html', 'one'),
      changeWith({
        path: 'docs/old.html',
        message: 'REMOVE old.html: a page',
        replaces: blobAt('docs/old.html'),
        file: null,
      }),
      await page('docs/"b\\.html', 'two'),
    ];
    const commits = await pushAll(changes);
    const log = (await repository.log()).slice(0, 3);
    expect(log.map(({ sha }) => sha)).toEqual(commits.toReversed());
    expect(log.map(({ message }) => message)).toEqual(changes.map(({ message }) => message).toReversed());
    expect(asked('log', '--format=%P', '-3').split('\n').at(-1)).toBe(before);
    // Each commit touches its own path alone.
    for (const [at, sha] of commits.entries()) {
      const [path] = asked('show', '-z', '--format=', '--name-only', sha).split('\0');
      expect(path).toBe(changes[at]?.path);
    }
    expect(String(await repository.read('a.html'))).toBe('one');
    expect(await repository.read('docs/old.html')).toBeNull();
    expect(world.traffic.exchanges(/^POST .*git-receive-pack/)).toHaveLength(1);
  });

  test('more than one command looks at are all looked at', async () => {
    const changes = await Promise.all(Array.from({ length: 45 }, (_, n) => page(`many/${n}.html`, `${n}`)));
    await expect(pushAll(changes)).resolves.toHaveLength(45);
    expect(String(await repository.read('many/44.html'))).toBe('44');
    await expect(pushAll(changes.toReversed())).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test('are none of them made where somebody has changed one of the paths', async () => {
    const before = await repository.head();
    const changes = [await page('a.html', 'one'), await page('docs/old.html', 'two')];
    await expect(pushAll(changes)).rejects.toMatchObject({
      code: 'CONFLICT',
      retryable: true,
      message: expect.stringContaining('docs/old.html'),
    });
    expect(await repository.head()).toBe(before);
    expect(world.traffic.lines(/receive-pack/)).toEqual([]);
  });

  test('advance one meter by what all of them hold', async () => {
    const files = [randomBytes(300_000), randomBytes(200_000)].map((bytes) => localFile(bytes));
    const [one, two] = await Promise.all(files);
    await pushAll([
      changeWith({ path: 'a.bin', file: one ?? null }),
      changeWith({ path: 'b.bin', file: two ?? null }),
    ]);
    expect(ports.logger.meters).toMatchObject([{ total: 500_000, ended: true }]);
  });
});

describe('a large file', () => {
  test('of 60 MB arrives whole, in flat memory, with progress shown', async () => {
    const bytes = randomBytes(60 * 1024 ** 2);
    const file = await localFile(bytes, 'large.bin');
    let peak = 0;
    const sampling = setInterval(() => {
      for (const one of processesWithin(temporary)) peak = Math.max(peak, one.peak);
    }, 10);
    try {
      await push({ file });
    } finally {
      clearInterval(sampling);
    }
    expect(blobAt('docs/page.html')).toBe(file.blobSha);
    // A git that held the file in memory would take more than the file's size.
    expect(peak).toBeLessThan(40 * 1024 ** 2);
    expect(ports.logger.meters).toEqual([
      { title: 'uploaded', total: file.size, unit: 'bytes', done: expect.any(Number), ended: true },
    ]);
    expect(ports.logger.meters[0]?.done).toBeGreaterThan(file.size * 0.9);
    expect(ports.logger.meters[0]?.done).toBeLessThanOrEqual(file.size);
  });
});

describe('somebody else', () => {
  test.each([
    ['a new file', 'docs/old.html', null],
    ['a file of other bytes', 'docs/old.html', 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'],
    ['a file that is gone', 'docs/page.html', 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'],
    ['a file where a folder is now', 'docs', null],
  ])('has changed the path since it was seen: %s', async (_, path, replaces) => {
    const before = await repository.head();
    await expect(push({ path, replaces })).rejects.toMatchObject({ code: 'CONFLICT', retryable: true });
    expect(await repository.head()).toBe(before);
    expect(world.traffic.lines(/receive-pack/)).toEqual([]);
  });

  test.each([
    ['after the branch was fetched', { method: 'POST', url: /git-upload-pack$/, skip: 1 }],
    ['while the commit was on its way', ADVERT],
  ])('commits %s: a passing conflict, their file stays, and a second call lands', async (_, match) => {
    world.intercept(match, {
      alter: async (real) => {
        await repository.commit('theirs.html', 'theirs');
        return real;
      },
    });
    await expect(push()).rejects.toMatchObject({ code: 'CONFLICT', retryable: true });
    expect(await repository.read('docs/page.html')).toBeNull();
    expect(String(await repository.read('theirs.html'))).toBe('theirs');
    const sha = await push();
    expect(await repository.head()).toBe(sha);
    expect(String(await repository.read('theirs.html'))).toBe('theirs');
    expect(String(await repository.read('docs/page.html'))).toBe('<p>a page</p>');
  });

  test('has a file where the path needs a folder: it stays', async () => {
    await expect(push({ path: 'README.md/page.html' })).rejects.toMatchObject({ code: 'NOT_OURS' });
    expect(String(await repository.read('README.md'))).toBe('# site\n');
  });
});

describe('a refusal', () => {
  const refusals: [string, () => Partial<PushOptions>, object][] = [
    ['an unknown token', () => ({ token: 'ghs_unknown' }), { code: 'BAD_TOKEN', httpCode: 401 }],
    [
      'a token that may only read',
      () => ({ token: world.token({ contents: 'read' }) }),
      { code: 'NO_PERMISSION', httpCode: 403, hint: expect.stringContaining('contents: write') },
    ],
    ['a missing branch', () => ({ branch: 'nowhere' }), { code: 'NOT_FOUND' }],
    [
      'a missing repository',
      () => ({ remote: new URL('https://github.com/octo/none.git') }),
      { code: 'NOT_FOUND' },
    ],
  ];
  test.each(refusals)('of %s is final, and nothing is written', async (_, overrides, failure) => {
    const before = await repository.head();
    await expect(push(overrides())).rejects.toMatchObject({ retryable: false, ...failure });
    expect(await repository.head()).toBe(before);
  });

  test("by a rule of the repository is final, in the host's words", async () => {
    repository.protect(true);
    await expect(push()).rejects.toMatchObject({
      code: 'FORBIDDEN_BY_RULE',
      retryable: false,
      message: expect.stringContaining('Changes must be made through a pull request'),
      hint: expect.stringContaining('K2'),
    });
    expect(await repository.read('docs/page.html')).toBeNull();
  });

  test.each([
    ['HTTP 503', { status: 503 }, { code: 'HOST_ERROR', retryable: true, httpCode: 503 }],
    ['HTTP 429', { status: 429 }, { code: 'RATE_LIMITED', retryable: true, httpCode: 429 }],
    ['a cut connection', { fault: 'reset-before' } as const, { code: 'CONNECTION', retryable: true }],
  ])('by %s may pass', async (_, answer, failure) => {
    world.intercept({ method: 'GET', url: /service=git-upload-pack/ }, answer);
    await expect(push()).rejects.toMatchObject(failure);
  });

  test('that hides a push which has landed may pass: who looks again, sees it there', async () => {
    world.intercept(SENDING, { fault: 'reset-after' });
    // A broken connection, or, where git's own second attempt met the first one's commit, a conflict.
    await expect(push()).rejects.toMatchObject({ retryable: true });
    expect(String(await repository.read('docs/page.html'))).toBe('<p>a page</p>');
  });

  test('is what a redirect to another host amounts to: it is not followed', async () => {
    let asked = 0;
    world.host('elsewhere.example', () => {
      asked += 1;
      return { status: 404 };
    });
    const location = 'https://elsewhere.example/octo/site.git/info/refs?service=git-upload-pack';
    world.intercept({ url: /service=git-upload-pack/ }, { status: 301, headers: { location } });
    await expect(push()).rejects.toMatchObject({ code: 'NOT_FOUND', retryable: false });
    expect(asked).toBe(0);
  });
});

describe('the machine', () => {
  test('without git is told so, with K2 as the way out', async () => {
    process.env.PATH = await temporaryFolder();
    await expect(push()).rejects.toMatchObject({
      code: 'BAD_INPUT',
      message: expect.stringContaining('no git'),
      hint: expect.stringContaining('K2'),
    });
  });

  test('with a git that would not take its settings from the environment is told the same', async () => {
    await gitScript('echo git version 2.30.9');
    await expect(push()).rejects.toMatchObject({ code: 'BAD_INPUT', hint: expect.stringContaining('K2') });
    expect(world.traffic.lines()).toEqual([]);
  });

  test.each(['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'GIT_SSL_CAINFO'])(
    'needs to name its authorities in %s alone',
    async (name) => {
      for (const key of ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'GIT_SSL_CAINFO']) {
        if (key !== name) delete process.env[key];
      }
      await push();
    },
  );

  test('that does not trust the proxy sends nothing, and is told what to set', async () => {
    for (const key of ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'GIT_SSL_CAINFO']) delete process.env[key];
    await expect(push()).rejects.toMatchObject({
      code: 'CONNECTION',
      retryable: false,
      hint: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    });
    expect(world.traffic.lines()).toEqual([]);
  });

  test("keeps its own and its user's git settings out of it", async () => {
    const home = await temporaryFolder();
    await writeFile(join(home, '.gitconfig'), '[url "https://elsewhere.example/"]\ninsteadOf = https://\n');
    const settings = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'user.name', GIT_CONFIG_VALUE_0: 'x' };
    Object.assign(process.env, { HOME: home, GIT_DIR: '/nowhere', GIT_TRACE: join(home, 'trace') }, settings);
    await push();
    expect(await readdir(home)).toEqual(['.gitconfig']);
  });
});

describe('the file', () => {
  test('that changes while it is read is not committed', async () => {
    const file = await localFile('one');
    const failure = new Error('the file changed');
    const read = (): ReturnType<typeof file.read> => file.read().map(() => Promise.reject(failure));
    await expect(push({ file: { ...file, read } })).rejects.toBe(failure);
    expect(world.traffic.lines(/receive-pack/)).toEqual([]);
  });

  test('whose bytes are not those that were checked is not committed', async () => {
    const [file, other] = [await localFile('one'), await localFile('two')];
    await expect(push({ file: { ...file, read: other.read } })).rejects.toMatchObject({ code: 'INTERNAL' });
    expect(world.traffic.lines(/receive-pack/)).toEqual([]);
  });
});

describe('an abort', () => {
  test('ends everything at once, with its own reason', async () => {
    const reason = new Error('enough');
    world.intercept(SENDING, { fault: 'hang' });
    const pushing = push();
    const isSending = () => world.traffic.exchanges(/POST .*receive-pack/).length > 0;
    while (!isSending()) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(process.platform !== 'linux' || processesWithin(temporary).length > 0).toBe(true);
    ports.stop.abort(reason);
    // That nothing is left, in the folder or of the processes, is looked at after each test.
    await expect(pushing).rejects.toBe(reason);
    expect(await repository.read('docs/page.html')).toBeNull();
  });

  test('before the beginning lets nothing begin', async () => {
    ports.stop.abort(new Error('enough'));
    await expect(push()).rejects.toThrow('enough');
    expect(world.traffic.lines()).toEqual([]);
  });
});

test('a git that says nothing more is ended, and may be tried again', async () => {
  const alarms: AbortController[] = [];
  ports.clock.timeout = () => {
    const alarm = new AbortController();
    alarms.push(alarm);
    return alarm.signal;
  };
  world.intercept(SENDING, { fault: 'hang' });
  const pushing = push();
  const isSending = () => world.traffic.exchanges(/POST .*receive-pack/).length > 0;
  while (!isSending()) await new Promise((resolve) => setTimeout(resolve, 5));
  // One for the fetch, one for the push, and a new one whenever that said something.
  expect(alarms.length).toBeGreaterThan(2);
  for (const alarm of alarms) alarm.abort();
  await expect(pushing).rejects.toMatchObject({
    code: 'CONNECTION',
    message: 'pushing to the branch main broke off: git said nothing for 300 s',
    retryable: true,
  });
});

describe('the token', () => {
  test('stands on no command line, in no address, in no file, and in no line of the log', async () => {
    const token = world.token();
    const credentials = Buffer.from(`x-access-token:${token}`).toString('base64');
    const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    const log = join(await temporaryFolder(), 'log');
    const needles = join(await temporaryFolder(), 'needles');
    await writeFile(needles, `${token}\n${credentials}\n`);
    // The world's own git goes through this script too, and passes by.
    await gitScript(`
case "$HOME" in *screen-delivery-git-*) ;; *) exec ${git} "$@" ;; esac
echo "argv $*" >> ${log}
env | cut -d= -f1 | sed 's/^/env /' >> ${log}
${git} "$@"
code=$?
grep -rqF -f ${needles} "$HOME" && echo "found in a file" >> ${log}
exit $code`);
    Object.assign(process.env, { INPUT_TOKEN: token, GITHUB_TOKEN: token, GIT_CURL_VERBOSE: '1' });
    world.traffic.watchFor(token);
    const args = new Set<string>();
    const sampling = setInterval(() => {
      for (const one of processesWithin(temporary)) args.add(one.args);
    }, 2);
    await push({ token }).finally(() => clearInterval(sampling));
    const said = await readFile(log, 'utf8');
    expect(said).toMatch(/argv fetch .*argv push /s);
    expect(said).toContain('env GIT_CONFIG_VALUE_0');
    for (const secret of [token, credentials]) {
      expect(said).not.toContain(secret);
      expect([...args].join('\n')).not.toContain(secret);
      expect(ports.logger.lines.join('\n')).not.toContain(secret);
    }
    expect(said).not.toContain('found in a file');
    expect(said).not.toMatch(/env (INPUT_TOKEN|GITHUB_TOKEN|GIT_CURL_VERBOSE)/);
    // It goes out in the one header, encoded as Basic asks for, so never as it is.
    expect(world.traffic.found(token)).toEqual([]);
    const headers = world.traffic.exchanges(/receive-pack/).map(({ headers }) => headers.authorization);
    expect(new Set(headers)).toEqual(new Set([`Basic ${credentials}`]));
  });

  test('is blotted out of what git says, which is bounded', () => {
    const secrets = ['ghs_secret', Buffer.from('x-access-token:ghs_secret').toString('base64')];
    const err = `fatal: ${secrets.join(' and ')} ${'long '.repeat(1000)}`;
    const failure = gitError('pushing', { exitCode: 1, out: '', err }, { online: true, secrets });
    for (const secret of secrets) expect(failure.message).not.toContain(secret);
    expect(failure.message.length).toBeLessThan(400);
  });
});

/** What only the real host says, or only in weather that can't be made here. */
describe("git's words", () => {
  test.each([
    ["fatal: Authentication failed for 'https://github.com/o/r.git/'", 'BAD_TOKEN', false],
    ['error: RPC failed; HTTP 403 curl 22 The requested URL returned error: 403', 'NO_PERMISSION', false],
    ['remote: Permission to o/r.git denied to someone.', 'NO_PERMISSION', false],
    ['remote: Write access to repository not granted.', 'NO_PERMISSION', false],
    [
      '! [remote rejected] main -> main (refusing to allow a GitHub App to create or update workflow `.github/workflows/a.yml` without `workflows` permission)',
      'NO_PERMISSION',
      false,
    ],
    ["remote: error: GH001: Large files detected.; exceeds GitHub's file size limit", 'TOO_LARGE', false],
    ['error: RPC failed; HTTP 413 curl 22', 'TOO_LARGE', false],
    ['remote: error: GH006: Protected branch update failed for refs/heads/main.', 'FORBIDDEN_BY_RULE', false],
    ['remote: - Push cannot contain secrets; GH013: Repository rule', 'FORBIDDEN_BY_RULE', false],
    ['!\trefs/heads/main\t[rejected] (non-fast-forward)', 'CONFLICT', true],
    ["! [remote rejected] main (cannot lock ref 'refs/heads/main')", 'CONFLICT', true],
    ['! [remote rejected] main (incorrect old value provided)', 'CONFLICT', true],
    ["fatal: unable to access 'x': server certificate verification failed", 'CONNECTION', false],
    ["fatal: unable to access 'x': Could not resolve host: github.com", 'NO_NETWORK', true],
    ["fatal: unable to access 'x': Failed to connect to github.com port 443", 'NO_NETWORK', true],
    ['fatal: CONNECT tunnel failed, response 407', 'NO_NETWORK', true],
    ['! [remote rejected] main (Internal Server Error)', 'HOST_ERROR', true],
    ['error: RPC failed; curl 56 GnuTLS recv error', 'CONNECTION', true],
    ['send-pack: unexpected disconnect while reading sideband packet', 'CONNECTION', true],
    ['error: Cannot access URL https://github.com/o/r.git/, return code 22', 'CONNECTION', true],
    ['fatal: Could not read from remote repository.', 'CONNECTION', true],
    ['fatal: something unheard of', 'HOST_ERROR', false],
    ['', 'HOST_ERROR', false],
  ])('%j mean %s', (err, code, passing) => {
    const failure = gitError('pushing', { exitCode: 128, out: '', err }, { online: true, secrets: [] });
    expect(failure).toMatchObject({ code, retryable: passing });
    expect(failure.hint).toBeTruthy();
  });

  test('about this machine alone are our own failure, whatever they sound like', () => {
    const err = 'fatal: No space left on device; HTTP 403';
    const failure = gitError('writing', { exitCode: 128, out: '', err }, { online: false, secrets: [] });
    expect(failure).toMatchObject({ code: 'INTERNAL', retryable: false });
  });
});
