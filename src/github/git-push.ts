import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { rootCertificates } from 'node:tls';
import { DeliveryError } from '../errors.ts';
import type { Meter, Ports } from '../ports.ts';
import { EXCHANGE, SECOND } from '../protocol/limits.ts';
import type { LocalFile } from '../rules/inspect.ts';
import { type GitRun, gitFailure, noGit, runGit } from './git-process.ts';

export interface Push {
  /** Such as `https://github.com/owner/repo.git`. */
  readonly remote: URL;
  readonly token: string;
  readonly branch: string;
  /** Composed and checked, not encoded. */
  readonly path: string;
  readonly message: string;
  /** The blob that was seen to stand there, or `null`. */
  readonly replaces: string | null;
  readonly file: LocalFile;
  readonly author?: Person;
}

interface Person {
  readonly name: string;
  readonly email: string;
}

const AUTHOR: Person = { name: 'screen-delivery', email: 'screen-delivery@users.noreply.github.com' };

/** Where the fetched branch is kept. */
const BASE = 'refs/screen-delivery/base';

/** What git needs of the environment; everything else, secrets and tracing before all, is kept from it. */
const HANDED_ON =
  /^(PATH|SYSTEMROOT|(HTTPS?|ALL|NO)_PROXY|GIT_SSL_CAINFO|GIT_SSL_CAPATH|SSL_CERT_FILE|SSL_CERT_DIR)$/i;

/**
 * How git is to behave here. A file of this size is mostly packed already: compressing 95 MB takes two
 * seconds and more. Above the threshold git streams a blob instead of holding it in memory.
 */
const SETTINGS: readonly (readonly [string, string])[] = [
  ['core.hooksPath', devNull],
  ['core.compression', '0'],
  ['core.bigFileThreshold', '1m'],
  ['core.packedGitWindowSize', '1m'],
  ['core.packedGitLimit', '8m'],
  ['fastimport.unpackLimit', '0'],
  ['pack.window', '0'],
  ['pack.threads', '1'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['credential.helper', ''],
];

/** For all that needs no network: a missing object is an error, never a reason to fetch it. */
const OFFLINE = [['protocol.allow', 'never']] as const;

/**
 * Method C: the same single-file commit through git's own protocol, for files that the blob API won't
 * take. The branch is fetched without its history, its blobs and a checkout into a temporary folder; the
 * commit is built with plumbing and pushed, never by force. Losing a race leaves nothing; the caller
 * starts again.
 *
 * @returns the commit's sha
 * @throws {DeliveryError} `CONFLICT` when the file or the branch moved meanwhile; `BAD_INPUT` without git.
 * @see protocol 4.2
 */
export async function pushFile(push: Push, ports: Pick<Ports, 'signal' | 'logger'>): Promise<string> {
  ports.signal.throwIfAborted();
  const folder = await mkdtemp(join(process.env.RUNNER_TEMP || tmpdir(), 'screen-delivery-git-'));
  try {
    const git = await createGit(folder, push, ports.signal);
    const base = await fetchBranch(git, push);
    await refuseChanged(git, push, base);
    await writeBlob(git, push.file);
    const commit = await writeCommit(git, push, base);
    await sendCommit(git, push, commit, ports);
    return commit;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface Command extends Pick<GitRun, 'input' | 'listen'> {
  readonly args: readonly string[];
  /** The step in words, for a failure's message. */
  readonly does: string;
  readonly online?: boolean;
}

/** Runs one command in the temporary repository, and answers what it printed. */
type Git = (command: Command) => Promise<string>;

async function createGit(folder: string, push: Push, signal: AbortSignal): Promise<Git> {
  const { remote, token, author = AUTHOR } = push;
  const credentials = Buffer.from(`x-access-token:${token}`).toString('base64');
  const surroundings = {
    ...plainEnvironment(folder),
    ...(await authorities(folder)),
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_COMMITTER_NAME: author.name,
    GIT_COMMITTER_EMAIL: author.email,
  };
  const online = [
    ['remote.origin.url', remote.href],
    ['protocol.allow', 'never'],
    ['protocol.https.allow', 'always'],
    ['http.followRedirects', 'false'],
    ['http.lowSpeedLimit', '1'],
    ['http.lowSpeedTime', String(EXCHANGE.headers / SECOND)],
    [`http.${remote.href}.extraHeader`, `Authorization: Basic ${credentials}`],
  ] as const;
  const environments = {
    online: { ...surroundings, ...configuration([...SETTINGS, ...online]) },
    offline: { ...surroundings, ...configuration([...SETTINGS, ...OFFLINE]) },
  };
  const git: Git = async ({ does, online = false, ...command }) => {
    const env = environments[online ? 'online' : 'offline'];
    const result = await runGit({ ...command, folder, env, signal }).catch((thrown: unknown) => {
      throw thrown instanceof Error && 'syscall' in thrown && String(thrown.syscall).startsWith('spawn')
        ? noGit(thrown)
        : thrown;
    });
    if (result.exitCode !== 0) throw gitFailure(does, result, { online, secrets: [token, credentials] });
    return result.out;
  };
  // Older ones don't take their configuration from the environment.
  const [, major = 0, minor = 0] =
    /(\d+)\.(\d+)/.exec(await git({ args: ['version'], does: 'asking git for its version' })) ?? [];
  if (Number(major) < 2 || (Number(major) === 2 && Number(minor) < 31)) throw noGit();
  await git({ args: ['init', '--quiet', '--bare', '--template='], does: 'making a temporary repository' });
  return git;
}

/** Free of the machine's and the user's settings, and of anybody who could be asked for a password. */
function plainEnvironment(folder: string): Record<string, string> {
  const handedOn = Object.entries(process.env).filter(
    (pair): pair is [string, string] => HANDED_ON.test(pair[0]) && pair[1] !== undefined,
  );
  return {
    PATH: '',
    ...Object.fromEntries(handedOn),
    // No .netrc and no .config of the user's.
    HOME: folder,
    GIT_DIR: folder,
    GIT_INDEX_FILE: join(folder, 'delivery-index'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_DEFAULT_HASH: 'sha1',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
    TZ: 'UTC',
  };
}

/** Settings that stand in no file and on no command line. */
function configuration(settings: readonly (readonly [string, string])[]): Record<string, string> {
  const pairs = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]);
  return { ...Object.fromEntries(pairs), GIT_CONFIG_COUNT: String(settings.length) };
}

/** Node adds its extra certificates to its own; git knows one file only, which takes their place. */
async function authorities(folder: string): Promise<Record<string, string>> {
  const { GIT_SSL_CAINFO, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS } = process.env;
  const extra = [SSL_CERT_FILE, NODE_EXTRA_CA_CERTS].filter((path) => path !== undefined && path !== '');
  if ((GIT_SSL_CAINFO ?? '') !== '' || extra.length === 0) return {};
  // Like Node, go on without a file that can't be read.
  const read = extra.map((path) => readFile(path as string, 'utf8').catch(() => ''));
  const bundle = join(folder, 'delivery-authorities.pem');
  await writeFile(bundle, [...rootCertificates, ...(await Promise.all(read))].join('\n'));
  return { GIT_SSL_CAINFO: bundle };
}

async function fetchBranch(git: Git, { branch }: Push): Promise<string> {
  const bare = ['--quiet', '--depth=1', '--filter=blob:none', '--no-tags', '--no-recurse-submodules'];
  const refspec = `+refs/heads/${branch}:${BASE}`;
  await git({
    args: ['fetch', ...bare, 'origin', refspec],
    does: `fetching the branch ${branch}`,
    online: true,
  });
  const sha = await git({ args: ['rev-parse', '--verify', BASE], does: 'reading the branch' });
  return sha.trim();
}

/** Somebody else's file would be lost in a tree that is built over it. @see protocol 7 (prohibition 4) */
async function refuseChanged(git: Git, { path, replaces }: Push, base: string): Promise<void> {
  const entry = await git({ args: ['ls-tree', '-z', base, '--', path], does: 'looking at the path' });
  const [, sha = null] = /^\d+ \w+ ([0-9a-f]+)\t/.exec(entry) ?? [];
  if (sha === replaces) return;
  throw new DeliveryError('CONFLICT', `${path} changed on the branch while it was delivered`, {
    passing: true,
  });
}

/** Unlike `hash-object`, `fast-import` holds no large blob in memory. */
async function writeBlob(git: Git, file: LocalFile): Promise<void> {
  async function* commands(): AsyncGenerator<Buffer | string> {
    yield `feature done\nblob\nmark :1\ndata ${file.size}\n`;
    yield* file.read();
    yield '\nget-mark :1\ndone\n';
  }
  const sha = await git({
    args: ['fast-import', '--quiet'],
    input: Readable.from(commands(), { objectMode: false }),
    does: 'writing the blob',
  });
  if (sha.trim() !== file.blobSha) {
    throw new DeliveryError('INTERNAL', `git wrote the blob ${sha.trim()} and not ${file.blobSha}`);
  }
}

async function writeCommit(git: Git, push: Push, base: string): Promise<string> {
  const { path, message, file } = push;
  const does = 'building the commit';
  await git({ args: ['read-tree', base], does });
  await git({ args: ['update-index', '--add', '--cacheinfo', `100644,${file.blobSha},${path}`], does });
  // The blobs beside it were never fetched.
  const tree = (await git({ args: ['write-tree', '--missing-ok'], does })).trim();
  const commit = await git({ args: ['commit-tree', tree, '-p', base], input: message, does });
  return commit.trim();
}

async function sendCommit(
  git: Git,
  { branch, file }: Push,
  commit: string,
  { logger }: Pick<Ports, 'logger'>,
): Promise<void> {
  const meter = logger.meter('uploaded', file.size, 'bytes');
  const how = ['--porcelain', '--progress', '--no-verify', '--recurse-submodules=no'];
  try {
    await git({
      args: ['push', ...how, 'origin', `${commit}:refs/heads/${branch}`],
      listen: transferMeter(meter, file.size),
      does: `pushing to the branch ${branch}`,
      online: true,
    });
  } finally {
    meter.end();
  }
}

const UNITS: Readonly<Record<string, number>> = { bytes: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** Reads from git's own progress how many bytes of the pack are on their way, and advances the meter so. */
function transferMeter(meter: Pick<Meter, 'advance'>, total: number): (said: string) => void {
  let done = 0;
  let rest = '';
  return (said) => {
    const lines = (rest + said).split(/[\r\n]/);
    rest = (lines.pop() ?? '').slice(-200);
    for (const line of lines) {
      const [, amount, unit = ''] = /^Writing objects: .*, ([\d.]+) (bytes|[KMG]iB)\b/.exec(line) ?? [];
      // The pack holds a few trees besides.
      const now = Math.min(Number(amount) * (UNITS[unit] ?? 0), total);
      if (!(now > done)) continue;
      meter.advance(now - done);
      done = now;
    }
  };
}
