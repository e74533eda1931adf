import { readFile, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { DeliveryError } from '../../errors.ts';
import type { Clock, Ports } from '../../ports.ts';
import { EXCHANGE, SECOND } from '../../protocol/limits.ts';
import { RETRY_HINT } from '../hints.ts';
import { gitError } from './failures.ts';
import { type GitResult, type GitRun, runGit } from './process.ts';
import { createSilenceTimer } from './silence-timer.ts';

/** The repository that is fetched from and pushed to. */
export interface GitRemote {
  /** Such as `https://github.com/owner/repo.git`. */
  readonly remote: URL;
  readonly token: string;
}

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

/** One run of git. */
export interface GitCommand extends Pick<GitRun, 'input' | 'listen'> {
  readonly args: readonly string[];
  /** The step in words, for a failure's message. */
  readonly does: string;
  readonly online?: boolean;
}

/** Runs one command in the temporary repository, and answers what it printed. */
export type RunGitCommand = (command: GitCommand) => Promise<string>;

/**
 * Makes an empty repository in a temporary folder.
 *
 * @returns what runs git in it; a failing command is thrown as a failure of the delivery
 */
export async function createGitRepository(
  folder: string,
  push: GitRemote,
  { clock, signal }: Pick<Ports, 'clock' | 'signal'>,
): Promise<RunGitCommand> {
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
  const git: RunGitCommand = async ({ does, online = false, ...command }) => {
    const env = environments[online ? 'online' : 'offline'];
    const run = { ...command, folder, env, signal };
    const result = await (online ? runUntilSilent(does, run, clock) : runGit(run));
    if (result.exitCode !== 0) throw gitError(does, result, { online, secrets: [token, credentials] });
    return result.out;
  };
  await git({ args: ['init', '--quiet', '--bare', '--template='], does: 'making a temporary repository' });
  return git;
}

/** Runs a git that talks to a host, for as long as it says something now and then. */
async function runUntilSilent(does: string, run: GitRun, clock: Pick<Clock, 'timeout'>): Promise<GitResult> {
  const silence = createSilenceTimer(clock, EXCHANGE.git);
  const listen = (text: string): void => {
    silence.heard();
    run.listen?.(text);
  };
  try {
    return await runGit({ ...run, listen, signal: AbortSignal.any([run.signal, silence.signal]) });
  } catch (thrown) {
    run.signal.throwIfAborted();
    if (!silence.signal.aborted) throw thrown;
    const quiet = `git said nothing for ${EXCHANGE.git / SECOND} s`;
    throw new DeliveryError('CONNECTION', `${does} broke off: ${quiet}`, {
      hint: RETRY_HINT,
      retryable: true,
    });
  }
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
