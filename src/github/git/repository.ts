import { devNull } from 'node:os';
import { DeliveryError } from '../../errors.ts';
import type { Clock, Ports } from '../../ports.ts';
import { EXCHANGE, SECOND } from '../../protocol/limits.ts';
import { RETRY_HINT } from '../hints.ts';
import { LARGE_BLOB } from './blob-pack.ts';
import { createGitEnvironment, formatGitSettings } from './environment.ts';
import { gitError } from './failures.ts';
import { type GitResult, type GitRun, runGit } from './process.ts';
import { createSilenceTimer } from './silence-timer.ts';

/** The repository to fetch from and push to. */
export interface GitRemote {
  /** Such as `https://github.com/owner/repo.git`. */
  readonly remote: URL;
  readonly token: string;
}

type GitSettings = readonly (readonly [string, string])[];

/**
 * Settings of every command. Files of this size are usually compressed already: compressing 95 MB again takes
 * two seconds and more. A blob above `bigFileThreshold` is streamed, not loaded into memory.
 */
const SETTINGS: GitSettings = [
  ['core.hooksPath', devNull],
  ['core.compression', '0'],
  ['core.bigFileThreshold', String(LARGE_BLOB)],
  ['core.packedGitWindowSize', '1m'],
  ['core.packedGitLimit', '8m'],
  ['fastimport.unpackLimit', '0'],
  ['pack.window', '0'],
  ['pack.threads', '1'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['credential.helper', ''],
];

/** Commands that need no network must not fetch a missing object: it is an error. */
const OFFLINE_SETTINGS: GitSettings = [['protocol.allow', 'never']];

/** One git command. */
export interface GitCommand extends Pick<GitRun, 'input' | 'onOutput'> {
  readonly args: readonly string[];
  /** What the command does, as an error message names it. */
  readonly description: string;
  readonly online?: boolean;
}

/** Runs one command in the temporary repository and returns its output. */
export type RunGitCommand = (command: GitCommand) => Promise<string>;

/**
 * Creates an empty repository in a temporary folder.
 *
 * @returns the function that runs git in it; a command that fails is thrown as a `DeliveryError`
 */
export async function createGitRepository(
  folder: string,
  { remote, token }: GitRemote,
  { clock, signal }: Pick<Ports, 'clock' | 'signal'>,
): Promise<RunGitCommand> {
  const credentials = Buffer.from(`x-access-token:${token}`).toString('base64');
  const environment = await createGitEnvironment(folder);
  const onlineSettings = createOnlineSettings(remote, credentials);
  const git: RunGitCommand = async ({ description, online = false, ...command }) => {
    const settings = [...SETTINGS, ...(online ? onlineSettings : OFFLINE_SETTINGS)];
    const run = { ...command, folder, env: { ...environment, ...formatGitSettings(settings) }, signal };
    const result = await (online ? runWithSilenceLimit(description, run, clock) : runGit(run));
    if (result.exitCode !== 0) throw gitError(description, result, { online, secrets: [token, credentials] });
    return result.out;
  };
  await git({
    args: ['init', '--quiet', '--bare', '--template='],
    description: 'creating a temporary repository',
  });
  return git;
}

function createOnlineSettings(remote: URL, credentials: string): GitSettings {
  return [
    ['remote.origin.url', remote.href],
    ['protocol.allow', 'never'],
    ['protocol.https.allow', 'always'],
    ['http.followRedirects', 'false'],
    ['http.lowSpeedLimit', '1'],
    ['http.lowSpeedTime', String(EXCHANGE.headers / SECOND)],
    [`http.${remote.href}.extraHeader`, `Authorization: Basic ${credentials}`],
  ];
}

/** Runs a git that talks to a host, and ends it when it prints nothing for too long. */
async function runWithSilenceLimit(
  description: string,
  run: GitRun,
  clock: Pick<Clock, 'timeout'>,
): Promise<GitResult> {
  const silence = createSilenceTimer(clock, EXCHANGE.git);
  const onOutput = (text: string): void => {
    silence.restart();
    run.onOutput?.(text);
  };
  try {
    return await runGit({ ...run, onOutput, signal: AbortSignal.any([run.signal, silence.signal]) });
  } catch (thrown) {
    run.signal.throwIfAborted();
    if (!silence.signal.aborted) throw thrown;
    const reason = `git printed nothing for ${EXCHANGE.git / SECOND} s`;
    throw new DeliveryError('CONNECTION', `${description} broke off: ${reason}`, {
      hint: RETRY_HINT,
      retryable: true,
    });
  }
}
