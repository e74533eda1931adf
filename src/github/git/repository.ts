import { readFile, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { createRedactor } from '../../credentials.ts';
import { DeliveryError } from '../../errors.ts';
import { shortHostMessage } from '../../http/response.ts';
import { transferTime } from '../../http/send-request.ts';
import { formatSeconds } from '../../plain-text.ts';
import { EXCHANGE, MEGABYTE, SECOND } from '../../protocol/limits.ts';
import { RETRY_HINT, refusalError } from '../refusals.ts';
import { type GitOptions, type GitPorts, type GitResult, runGit } from './process.ts';

export interface GitRemote {
  readonly remote: URL;
  readonly token: string;
  /** Milliseconds since the epoch, after which a timeout of git isn't retried. */
  readonly deadline: number;
}

type GitSettings = Readonly<Record<string, string>>;

/**
 * Git streams big blobs and doesn't compress them again, which takes seconds. It never fetches an object implicitly.
 */
const SETTINGS: GitSettings = {
  'core.hooksPath': devNull,
  'core.compression': '0',
  'core.bigFileThreshold': String(MEGABYTE),
  'core.packedGitWindowSize': '1m',
  'core.packedGitLimit': '8m',
  'fastimport.unpackLimit': '0',
  'pack.window': '0',
  'pack.threads': '1',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'credential.helper': '',
  'protocol.allow': 'never',
};

interface GitCommand extends Pick<GitOptions, 'input' | 'onOutput' | 'size'> {
  readonly args: readonly string[];
  readonly description: string;
  readonly online?: boolean;
}

export type RunGitCommand = (command: GitCommand) => Promise<string>;

/**
 * Creates an empty repository and returns a function that runs git in it. @throws {DeliveryError} if a command fails
 */
export async function createGitRepository(
  folder: string,
  { remote, token, deadline }: GitRemote,
  ports: GitPorts,
): Promise<RunGitCommand> {
  const credentials = Buffer.from(`x-access-token:${token}`).toString('base64');
  const environment = await createGitEnvironment(folder, ports.env);
  const onlineSettings: GitSettings = {
    'remote.origin.url': remote.href,
    'protocol.https.allow': 'always',
    'http.followRedirects': 'false',
    'http.lowSpeedLimit': '1',
    'http.lowSpeedTime': String(EXCHANGE.headers / SECOND),
    [`http.${remote.href}.extraHeader`]: `Authorization: Basic ${credentials}`,
  };
  const git: RunGitCommand = async (command) => {
    const { description, online = false } = command;
    const settings = { ...SETTINGS, ...(online && onlineSettings) };
    const options = { ...command, folder, env: { ...environment, ...formatGitSettings(settings) } };
    const result = await runGit(options, ports).catch((thrown: unknown) => {
      const isTimeout = thrown instanceof Error && thrown.name === 'TimeoutError' && !ports.signal.aborted;
      throw isTimeout ? timeoutError(command, ports.clock.now() < deadline) : thrown;
    });
    if (result.exitCode !== 0) throw gitError(description, result, { online, secrets: [token, credentials] });
    return result.out;
  };
  await git({
    args: ['init', '--quiet', '--bare', '--template='],
    description: 'creating a temporary repository',
  });
  return git;
}

const STATUSES: readonly (readonly [RegExp, number])[] = [
  [/could not read (username|password)|authentication failed/i, 401],
  [/permission to \S+ denied|write access to repository not granted/i, 403],
  [/couldn't find remote ref|repository .*not found/i, 404],
  [/redirect/i, 301],
  [/internal server error/i, 500],
];

const IRRELEVANT_LINE =
  /^(hint:|error: failed to push some refs|To https:|Done$|Everything up-to-date|\w+ objects: |Total \d)/;

const HOST_PREFIX = /^remote:\s*(error:\s*)?/;

const OFFLINE_HINT = 'free disk space and memory on this machine, or raise its limits (`ulimit -a`)';

/** The error of a git command, without any secret. Only an online command talked to the host. */
export function gitError(
  description: string,
  { exitCode, out, err }: GitResult,
  { online, secrets }: { readonly online: boolean; readonly secrets: readonly string[] },
): DeliveryError {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.addSecret(secret);
  const lines = `${err}\n${out}`.split(/[\r\n]+/).map((line) => line.trim());
  const summarize = (lines: readonly string[]): string =>
    redactor.redact(
      lines
        .map((line) => line.replace(HOST_PREFIX, ''))
        .filter((line) => line !== '' && !IRRELEVANT_LINE.test(line))
        .join('; '),
    );
  const output = summarize(lines);
  // Git paraphrases the host's reason, so show only the host's lines.
  const reason = summarize(lines.filter((line) => HOST_PREFIX.test(line))) || output;
  const ending = exitCode === null ? 'a signal ended git' : `git ended with exit code ${exitCode}`;
  const message = `${description} failed: ${shortHostMessage(reason) || ending}`;
  if (!online) return new DeliveryError('LOCAL', message, { hint: OFFLINE_HINT });
  const [, statusText] = /(?:returned error:|HTTP) (\d{3})/.exec(output) ?? [];
  const status = Number(statusText ?? STATUSES.find(([text]) => text.test(output))?.[1] ?? 0);
  return refusalError(message, { status, message: output, permission: 'contents: write' });
}

function timeoutError({ description, online = false, size }: GitCommand, retryable: boolean): DeliveryError {
  const message = `${description} failed: git did not finish within ${formatSeconds(transferTime(size))}`;
  if (online) return new DeliveryError('CONNECTION', message, { hint: RETRY_HINT, retryable });
  return new DeliveryError('LOCAL', message, { hint: OFFLINE_HINT });
}

/** Git gets only these variables: others may be secrets or start tracing. */
const PASSED_VARIABLES =
  /^(PATH|SYSTEMROOT|(HTTPS?|ALL|NO)_PROXY|GIT_SSL_CAINFO|GIT_SSL_CAPATH|SSL_CERT_FILE|SSL_CERT_DIR)$/i;

/** An environment without any settings of the machine or user. Git never asks for a password. */
async function createGitEnvironment(folder: string, env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  return {
    PATH: '',
    ...Object.fromEntries(Object.entries(env).filter(([name]) => PASSED_VARIABLES.test(name))),
    // So git doesn't find the user's .netrc and .config.
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
    ...(await getCertificates(folder, env)),
  };
}

/** Passes settings as environment variables, which appear in no file and on no command line. */
function formatGitSettings(settings: GitSettings): Record<string, string> {
  const pairs = Object.entries(settings).flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { ...Object.fromEntries(pairs), GIT_CONFIG_COUNT: String(pairs.length / 2) };
}

/** Git reads a single file of certificates, so this file has Node's own and the extra certificates. */
async function getCertificates(folder: string, env: NodeJS.ProcessEnv): Promise<Record<string, string>> {
  const { GIT_SSL_CAINFO, SSL_CERT_FILE, NODE_EXTRA_CA_CERTS } = env;
  const files = [SSL_CERT_FILE, NODE_EXTRA_CA_CERTS].flatMap((path) => path || []);
  if (GIT_SSL_CAINFO || files.length === 0) return {};
  const reads = files.map((path) => readFile(path, 'utf8').catch(() => ''));
  const bundle = join(folder, 'delivery-authorities.pem');
  await writeFile(bundle, [...rootCertificates, ...(await Promise.all(reads))].join('\n'));
  return { GIT_SSL_CAINFO: bundle };
}
