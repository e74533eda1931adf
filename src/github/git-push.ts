import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { rootCertificates } from 'node:tls';
import { DeliveryError } from '../errors.ts';
import type { Clock, Meter, Ports } from '../ports.ts';
import { EXCHANGE, SECOND } from '../protocol/limits.ts';
import { liesBelowFile } from './contents.ts';
import { appeared, type Change } from './git-data.ts';
import { findGit, type GitRun, gitFailure, noGit, runGit } from './git-process.ts';
import { foldersOf } from './standing.ts';

export interface Push {
  /** Such as `https://github.com/owner/repo.git`. */
  readonly remote: URL;
  readonly token: string;
  readonly branch: string;
  readonly changes: readonly Change[];
  readonly author?: Person;
}

interface Person {
  readonly name: string;
  readonly email: string;
}

const AUTHOR: Person = { name: 'screen-delivery', email: 'screen-delivery@users.noreply.github.com' };

/** Where the fetched branch is kept, and the commits that are put on it. */
const BASE = 'refs/screen-delivery/base';
const NEXT = 'refs/screen-delivery/next';

/** Paths that one command looks at, so that its line and its answer stay short. */
const PATHS_AT_ONCE = 20;

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
 * Method C: a commit for each change through git's own protocol, for files that the blob API won't take
 * and for many at once. The branch is fetched without its history, its blobs and a checkout into a
 * temporary folder; the commits are built one on the other and pushed together, never by force. Losing a
 * race leaves nothing; the caller starts again.
 *
 * @returns the commits' shas, in the changes' order
 * @throws {DeliveryError} `CONFLICT` when one of the paths or the branch moved meanwhile; `BAD_INPUT`
 * without git.
 * @see protocol 4.2
 */
export async function pushChanges(
  push: Push,
  ports: Pick<Ports, 'signal' | 'logger' | 'clock'>,
): Promise<string[]> {
  if (!(await findGit(ports.signal))) throw noGit();
  const folder = await mkdtemp(join(process.env.RUNNER_TEMP || tmpdir(), 'screen-delivery-git-'));
  try {
    const git = await createGit(folder, push, ports.signal);
    const base = await fetchBranch(git, push);
    await refuseChanged(git, push, base);
    const commits = await writeCommits(git, push, base, ports.clock);
    await sendCommits(git, push, ports);
    return commits;
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
  const { remote, token } = push;
  const credentials = Buffer.from(`x-access-token:${token}`).toString('base64');
  const surroundings = {
    ...plainEnvironment(folder),
    ...(await authorities(folder)),
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
    const result = await runGit({ ...command, folder, env, signal });
    if (result.exitCode !== 0) throw gitFailure(does, result, { online, secrets: [token, credentials] });
    return result.out;
  };
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
async function refuseChanged(git: Git, { changes }: Push, base: string): Promise<void> {
  for (let at = 0; at < changes.length; at += PATHS_AT_ONCE) {
    const some = changes.slice(at, at + PATHS_AT_ONCE);
    const places = new Set(some.flatMap(({ path }) => [path, ...foldersOf(path)]));
    const listed = await git({
      args: ['ls-tree', '-z', base, '--', ...places],
      does: 'looking at the paths',
    });
    // No path that is taken holds a line break: one would be the mark of a list that was cut.
    if (listed.includes('\n')) throw new DeliveryError('INTERNAL', 'git listed more than is read of it');
    const entries = listed.split('\0').map((entry) => /^\d+ (\w+) ([0-9a-f]+)\t(.*)$/s.exec(entry));
    const standing = new Map(entries.map((found) => [found?.[3], { type: found?.[1], sha: found?.[2] }]));
    const type = (place: string): string => standing.get(place)?.type ?? 'tree';
    for (const { path, replaces } of some) {
      const file = foldersOf(path).find((folder) => type(folder) !== 'tree');
      // Unlike an index, fast-import would put a folder in the file's place.
      if (file !== undefined) throw liesBelowFile(path, file);
      if ((standing.get(path)?.sha ?? null) !== replaces) throw appeared(path);
    }
  }
}

/**
 * Unlike `hash-object`, `fast-import` holds no large blob in memory, and it needs neither an index nor the
 * blobs beside ours, which were never fetched. A blob that is not what was checked has another name, and
 * the commit then refers to nothing: git refuses it.
 */
async function writeCommits(
  git: Git,
  push: Push,
  base: string,
  clock: Pick<Clock, 'now'>,
): Promise<string[]> {
  const { changes, author = AUTHOR } = push;
  const committer = `${author.name} <${author.email}> ${Math.floor(clock.now() / SECOND)} +0000`;
  async function* commands(): AsyncGenerator<Buffer | string> {
    yield 'feature done\n';
    for (const { file } of changes) {
      if (file === null) continue;
      yield `blob\ndata ${file.size}\n`;
      yield* file.read();
      yield '\n';
    }
    for (const [at, { path, message, file }] of changes.entries()) {
      const quoted = `"${path.replace(/["\\]/g, '\\$&')}"`;
      const change = file === null ? `D ${quoted}` : `M 100644 ${file.blobSha} ${quoted}`;
      yield `commit ${NEXT}\nmark :${at + 1}\ncommitter ${committer}\n`;
      yield `data ${Buffer.byteLength(message)}\n${message}\n`;
      yield `${at === 0 ? `from ${base}\n` : ''}${change}\n\nget-mark :${at + 1}\n`;
    }
    yield 'done\n';
  }
  const said = await git({
    args: ['fast-import', '--quiet', '--date-format=raw'],
    input: Readable.from(commands(), { objectMode: false }),
    does: 'building the commits',
  });
  return said.trim().split('\n');
}

async function sendCommits(
  git: Git,
  { branch, changes }: Push,
  { logger }: Pick<Ports, 'logger'>,
): Promise<void> {
  const size = changes.reduce((sum, { file }) => sum + (file?.size ?? 0), 0);
  const meter = logger.meter('uploaded', size, 'bytes');
  const how = ['--porcelain', '--progress', '--no-verify', '--recurse-submodules=no'];
  try {
    await git({
      args: ['push', ...how, 'origin', `${NEXT}:refs/heads/${branch}`],
      listen: transferMeter(meter, size),
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
