import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { toDeliveryError } from '../../../src/errors.ts';
import type { Change, FileWrite } from '../../../src/github/change.ts';
import { type PushOptions, pushChanges } from '../../../src/github/git/push.ts';
import { localFile, temporaryFolder, withRead } from '../../support/files.ts';
import { type FakePorts, fakePorts } from '../../support/ports.ts';
import type { TestRepository } from '../../world/repository.ts';
import { type GitHubWorld, startWorld } from '../../world/world.ts';
import { writeGitScript } from './git-script.ts';

const MESSAGE = 'ADD page.html: a page\n\nDelivered-by: a test';
const AUTHOR = { name: 'octo', email: '583231+octo@users.noreply.github.com' };
const ADVERT = { method: 'GET', url: /service=git-receive-pack/ };
const SENDING = { method: 'POST', url: /git-receive-pack$/ };

let world: GitHubWorld;
let repository: TestRepository;
let temporary: string;
let ports: FakePorts;
let repositories = 0;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.stop());

beforeEach(async () => {
  temporary = await temporaryFolder();
  ports = { ...fakePorts(), env: { ...process.env, ...world.env }, tempFolder: temporary };
  const files = { 'README.md': '# site\n', 'docs/old.html': 'old', 'docs/beside.html': 'beside' };
  repositories += 1;
  repository = await world.repository({ owner: 'octo', name: `site-${repositories}`, files });
  world.traffic.clear();
});

afterEach(async () => {
  expect(await readdir(temporary)).toEqual([]);
  expect(listProcesses(temporary)).toEqual([]);
});

const directory = (): string => join(world.folder, `octo--${repository.name}.git`);

async function pushAll(changes: readonly Change[], overrides: Partial<PushOptions> = {}): Promise<string[]> {
  const remote = new URL(`https://github.com/${repository.fullName}.git`);
  return pushChanges(
    {
      ...{ remote, token: world.token(), branch: 'main', changes, author: AUTHOR },
      planned: await repository.head(),
      deadline: ports.clock.now() + 1,
      ...overrides,
    },
    ports,
  );
}

async function push({
  path = 'docs/page.html',
  file,
  ...overrides
}: Partial<PushOptions & FileWrite> = {}): Promise<string | undefined> {
  const change = {
    message: MESSAGE,
    writes: [{ path, file: file ?? (await localFile('<p>a page</p>')) }],
    removals: [],
    replaces: null,
  };
  const commits = await pushAll([change], overrides);
  expect(commits).toHaveLength(1);
  return commits[0];
}

const runHostGit = (...args: string[]): string =>
  execFileSync('git', ['-C', directory(), ...args], { encoding: 'utf8' }).trim();

/** The running processes whose working folder is below this one; none without /proc. */
function listProcesses(folder: string): { args: string; peak: number }[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || !readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)) return [];
      const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const [, peak = 0] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
      return args === '' ? [] : [{ args, peak: Number(peak) * 1024 }];
    } catch {
      // It has ended since.
      return [];
    }
  });
}

test('pushChanges names a temporary folder that can not be used', async () => {
  ports = { ...ports, tempFolder: join(temporary, 'missing') };
  const message = expect.stringMatching(
    /^this machine can't use .*\/missing\/screen-delivery-git-\w+: no such file or directory \(ENOENT\)$/,
  );
  const hint = expect.stringContaining('`RUNNER_TEMP`');
  const failure = toDeliveryError(await push().catch((thrown: unknown) => thrown));
  expect([failure.code, failure.message, failure.advice]).toEqual(['LOCAL', message, hint]);
});

test('pushChanges takes a name with line breaks and quotes as a name, and no command of it', async () => {
  const path = 'docs/a "b"\\\nD docs/beside.html\nM 100644 inline CNAME\ndata 1\nx\n#é';
  await push({ path });
  expect(String(await repository.read('docs/beside.html'))).toBe('beside');
  expect(runHostGit('ls-tree', '-r', '-z', '--name-only', 'main').split('\0')).toContain(path);
});

test('pushChanges pushes the commit before a change with it, so that the history of a path has both', async () => {
  const path = 'docs/old.html';
  const before = { message: 'before', removals: [path] };
  const writes = [{ path, file: await localFile('old') }];
  const pushed = await pushAll([{ message: MESSAGE, writes, removals: [], replaces: null, before }]);
  expect(runHostGit('log', '--format=%H %s', 'main', '--', path).split('\n')).toEqual([
    `${pushed.join()} ADD page.html: a page`,
    expect.stringMatching(/ before$/),
    expect.stringMatching(/ Initial commit$/),
  ]);
});

test('pushChanges fetches neither history nor blobs', async () => {
  await push();
  const fetches = world.traffic.exchanges(/^POST .*git-upload-pack/);
  // The list of references, then the branch: a third request would fetch blobs.
  expect(fetches).toHaveLength(2);
  expect(fetches[1]?.body.text).toMatch(/deepen 1\s*0014filter blob:none/);
});

test('pushChanges pushes 60 MB completely, with constant memory and progress', async () => {
  const bytes = randomBytes(60 * 1024 ** 2);
  const file = await localFile(bytes, 'large.bin');
  let peak = 0;
  const sampling = setInterval(() => {
    for (const one of listProcesses(temporary)) peak = Math.max(peak, one.peak);
  }, 10);
  try {
    await push({ file });
  } finally {
    clearInterval(sampling);
  }
  expect(runHostGit('rev-parse', 'main:docs/page.html')).toBe(file.blobSha);
  // A git that held the file in memory would take more than the file's size.
  expect(peak).toBeLessThan(40 * 1024 ** 2);
  expect(ports.logger.shownProgress).toEqual([
    { title: 'uploaded', total: file.size, unit: 'bytes', done: expect.any(Number), ended: true },
  ]);
  expect(ports.logger.shownProgress[0]?.done).toBeGreaterThan(file.size * 0.9);
  expect(ports.logger.shownProgress[0]?.done).toBeLessThanOrEqual(file.size);
});

test('pushChanges fails with a retryable conflict when others commit during the push, and succeeds in a second call', async () => {
  world.intercept(ADVERT, {
    alter: async (real) => {
      await repository.commit('theirs.html', 'theirs');
      return real;
    },
  });
  await expect(push()).rejects.toMatchObject({ code: 'CONFLICT', retryable: true });
  expect(await repository.read('docs/page.html')).toBeNull();
  const sha = await push();
  expect(await repository.head()).toBe(sha);
  expect(String(await repository.read('theirs.html'))).toBe('theirs');
  expect(String(await repository.read('docs/page.html'))).toBe('<p>a page</p>');
});

test.each<[string, string | null]>([
  ['has another commit than planned', 'a'.repeat(40)],
  ['exists, and was to be made', null],
])('pushChanges pushes nothing if the branch %s', async (_, planned) => {
  const head = await repository.head();
  await expect(push({ planned })).rejects.toMatchObject({ code: 'CONFLICT', retryable: true });
  expect(await repository.head()).toBe(head);
});

test.each<[string, () => string, object]>([
  ['an unknown token', () => 'ghs_unknown', { code: 'BAD_TOKEN', httpCode: 401 }],
  [
    'a token that may only read',
    () => world.token({ contents: 'read' }),
    { code: 'NO_PERMISSION', httpCode: 403, hint: expect.stringContaining('contents: write') },
  ],
])('pushChanges fails without a retry and writes nothing with %s', async (_, createToken, failure) => {
  const before = await repository.head();
  await expect(push({ token: createToken() })).rejects.toMatchObject({ retryable: false, ...failure });
  expect(await repository.head()).toBe(before);
});

test('pushChanges does not follow a redirect to another host', async () => {
  let requests = 0;
  world.host('elsewhere.example', () => {
    requests += 1;
    return { status: 404 };
  });
  const location = 'https://elsewhere.example/octo/site.git/info/refs?service=git-upload-pack';
  world.intercept({ url: /service=git-upload-pack/ }, { status: 301, headers: { location } });
  await expect(push()).rejects.toMatchObject({ code: 'NOT_FOUND', retryable: false });
  expect(requests).toBe(0);
});

test.each(['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'GIT_SSL_CAINFO'])(
  'pushChanges trusts the certificates in %s',
  async (name) => {
    for (const key of ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'GIT_SSL_CAINFO']) {
      if (key !== name) delete ports.env[key];
    }
    await push();
  },
);

test('pushChanges sends nothing and names the variable to set if the proxy is not trusted', async () => {
  for (const key of ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'GIT_SSL_CAINFO']) delete ports.env[key];
  const hint = expect.stringContaining('NODE_EXTRA_CA_CERTS');
  await expect(push()).rejects.toMatchObject({ code: 'CONNECTION', retryable: false, hint });
  expect(world.traffic.lines()).toEqual([]);
});

test('pushChanges ignores the git settings of the machine and its user', async () => {
  const home = await temporaryFolder();
  await writeFile(join(home, '.gitconfig'), '[url "https://elsewhere.example/"]\ninsteadOf = https://\n');
  const settings = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'user.name', GIT_CONFIG_VALUE_0: 'x' };
  Object.assign(ports.env, { HOME: home, GIT_DIR: '/nowhere', GIT_TRACE: join(home, 'trace') }, settings);
  await push();
  expect(await readdir(home)).toEqual(['.gitconfig']);
});

test.each([
  ['file', 'one'],
  ['large file', randomBytes(2_000_000)],
])('pushChanges does not push a %s that changes while it is read', async (_, bytes) => {
  const file = await localFile(bytes);
  const failure = new Error('the file changed');
  const read = (): ReturnType<typeof file.read> => file.read().map(() => Promise.reject(failure));
  await expect(push({ file: withRead(file, read) })).rejects.toBe(failure);
  expect(world.traffic.lines(/receive-pack/)).toEqual([]);
});

test.each([
  ['file', 3],
  ['large file', 2_000_000],
])('pushChanges does not push a %s whose bytes are not those that were checked', async (_, size) => {
  const [file, other] = [await localFile(randomBytes(size)), await localFile(randomBytes(size))];
  await expect(push({ file: withRead(file, () => other.read()) })).rejects.toMatchObject({
    code: 'LOCAL',
  });
  expect(world.traffic.lines(/receive-pack/)).toEqual([]);
});

test('pushChanges writes and removes several files in each commit, and sends equal bytes once', async () => {
  const [page, other] = [await localFile('page'), await localFile('other')];
  const before = await repository.head();
  const commits = [
    {
      message: MESSAGE,
      writes: ['a/1', 'a/"2\\', 'b'].map((path) => ({ path, file: page })),
      removals: ['docs/old.html'],
      replaces: null,
    },
    {
      message: 'second',
      // A file replaces a folder.
      writes: ['a/1', 'docs'].map((path) => ({ path, file: other })),
      removals: ['b', 'docs/beside.html'],
      replaces: null,
    },
  ];
  const shas = await pushAll(commits);
  const log = await repository.log();
  expect(log.slice(0, 2)).toEqual([
    { sha: shas[1], message: 'second', files: ['a/1', 'b', 'docs', 'docs/beside.html'] },
    { sha: shas[0], message: MESSAGE, files: ['a/"2\\', 'a/1', 'b', 'docs/old.html'] },
  ]);
  const people = `${'octo <583231+octo@users.noreply.github.com> '.repeat(2).trim()}`;
  expect(runHostGit('log', '--format=%P %an <%ae> %cn <%ce>', '-2').split('\n')).toEqual(
    [shas[0], before].map((parent) => `${parent} ${people}`),
  );
  expect(runHostGit('ls-tree', '-r', 'main')).not.toMatch(/^(?!100644 blob)/m);
  expect(runHostGit('ls-tree', '-r', '-z', '--name-only', 'main').split('\0')).toEqual([
    'README.md',
    'a/"2\\',
    'a/1',
    'docs',
    '',
  ]);
  expect(world.traffic.exchanges(/^POST .*git-receive-pack/)).toHaveLength(1);
});

test('pushChanges makes a branch that does not exist, without the history of another', async () => {
  await push({ path: 'a', file: await localFile('a'), branch: 'gh-pages', planned: null });
  expect(runHostGit('rev-list', '--count', 'gh-pages')).toBe('1');
  expect(String(await repository.read('a', 'gh-pages'))).toBe('a');
});

test('pushChanges ends git and its children at once and throws the reason', async () => {
  const reason = new Error('stopped');
  world.intercept(SENDING, { fault: 'hang' });
  const pushing = push();
  const isSending = () => world.traffic.exchanges(/POST .*receive-pack/).length > 0;
  while (!isSending()) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(process.platform !== 'linux' || listProcesses(temporary).length > 0).toBe(true);
  ports.stop.abort(reason);
  // After each test, no folder and no process may be left.
  await expect(pushing).rejects.toBe(reason);
  expect(await repository.read('docs/page.html')).toBeNull();
});

describe('pushChanges: the token', () => {
  test('is on no command line, in no URL, in no file and in no line of the log', async () => {
    const token = world.token();
    const credentials = Buffer.from(`x-access-token:${token}`).toString('base64');
    const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    const log = join(await temporaryFolder(), 'log');
    const needles = join(await temporaryFolder(), 'needles');
    await writeFile(needles, `${token}\n${credentials}\n`);
    // The host's own git is called through this script as well.
    ports.env.PATH = await writeGitScript(`
case "$HOME" in *screen-delivery-git-*) ;; *) exec ${git} "$@" ;; esac
echo "argv $*" >> ${log}
env | cut -d= -f1 | sed 's/^/env /' >> ${log}
${git} "$@"
code=$?
grep -rqF -f ${needles} "$HOME" && echo "found in a file" >> ${log}
exit $code`);
    Object.assign(ports.env, { INPUT_TOKEN: token, GITHUB_TOKEN: token, GIT_CURL_VERBOSE: '1' });
    world.traffic.watchFor(token);
    await push({ token });
    const logged = await readFile(log, 'utf8');
    expect(logged).toMatch(/argv fetch .*argv push /s);
    expect(logged).toContain('env GIT_CONFIG_VALUE_0');
    for (const secret of [token, credentials]) {
      expect(logged).not.toContain(secret);
      expect(ports.logger.lines.join('\n')).not.toContain(secret);
    }
    expect(logged).not.toContain('found in a file');
    expect(logged).not.toMatch(/env (INPUT_TOKEN|GITHUB_TOKEN|GIT_CURL_VERBOSE)/);
    expect(world.traffic.found(token)).toEqual([]);
    const headers = world.traffic.exchanges(/receive-pack/).map(({ headers }) => headers.authorization);
    expect(new Set(headers)).toEqual(new Set([`Basic ${credentials}`]));
  });
});
