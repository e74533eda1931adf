import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { DeliveryError, type FailureCode } from '../errors.ts';
import { hostMessage } from '../http/host-message.ts';
import { createRedactor } from '../redact.ts';

/** One run of the git that is installed on this machine. */
export interface GitRun {
  readonly args: readonly string[];
  /** The working folder. */
  readonly folder: string;
  /** All that git gets to see of the environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string | Readable;
  /** Is shown what git says on its error stream, as it comes. */
  readonly listen?: ((text: string) => void) | undefined;
  readonly signal: AbortSignal;
}

export interface GitResult {
  /** `null` when a signal ended it. */
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

/** Characters that are kept from either end of what git says. */
const BOUND = 16_384;

/** A runner's shells and git itself know process groups only here. */
const HAS_GROUPS = process.platform !== 'win32';

/**
 * Runs git to its end. Its output is bounded, its input streamed; an abort kills it with all its children.
 *
 * @throws the signal's reason, what reading the input threw, or the system's error where git can't be started.
 */
export async function runGit({ args, folder, env, input = '', listen, signal }: GitRun): Promise<GitResult> {
  signal.throwIfAborted();
  const child = spawn('git', args, { cwd: folder, env, detached: HAS_GROUPS, windowsHide: true });
  const kill = (): void => {
    if (child.pid === undefined) return;
    try {
      // The whole group: the helper that speaks https is a child of the child.
      if (HAS_GROUPS) process.kill(-child.pid, 'SIGKILL');
      else child.kill('SIGKILL');
    } catch {
      // It has ended by itself.
    }
  };
  signal.addEventListener('abort', kill, { once: true });
  const out = bounded(child.stdout);
  const err = bounded(child.stderr, listen);
  const exitCode = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  try {
    const [code] = await Promise.all([
      exitCode,
      feed(input, child.stdin).catch((thrown: unknown) => {
        kill();
        throw thrown;
      }),
    ]);
    signal.throwIfAborted();
    return { exitCode: code, out: out(), err: err() };
  } catch (thrown) {
    // Nobody may write into a folder that is about to be removed.
    await exitCode.catch(() => undefined);
    signal.throwIfAborted();
    throw thrown;
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

async function feed(input: string | Readable, stdin: Writable): Promise<void> {
  // A git that ends without reading its input is judged by its exit code.
  if (typeof input === 'string') {
    stdin.end(input);
    return finished(stdin).catch(() => undefined);
  }
  return pipeline(input, stdin).catch((thrown: unknown) => {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    if (code !== 'EPIPE' && code !== 'ECONNRESET' && code !== 'ERR_STREAM_PREMATURE_CLOSE') throw thrown;
  });
}

/** Reads a stream to its end, and keeps its beginning and its end. */
function bounded(stream: Readable, listen?: (text: string) => void): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    listen?.(chunk);
    text += chunk;
    if (text.length > 2 * BOUND) text = `${text.slice(0, BOUND)}\n${text.slice(1 - BOUND)}`;
  });
  return () => text;
}

interface Verdict {
  readonly when: RegExp;
  readonly code: FailureCode;
  /** The HTTP code that git translated into words of its own. */
  readonly status?: number;
  readonly hint?: string;
  readonly passing?: boolean;
}

/** How git's words are understood, its own as well as those it passes on; the first row that fits counts. */
const VERDICTS: readonly Verdict[] = [
  {
    when: /could not read (username|password)|authentication failed|(returned error:|HTTP) 401/i,
    code: 'BAD_TOKEN',
    status: 401,
    hint: "set `token:` to a valid token, or leave it out for the job's own ${{ github.token }}",
  },
  {
    when: /(returned error:|HTTP) 429|rate limit/i,
    code: 'RATE_LIMITED',
    hint: 'GitHub limits this token for a while: run fewer deliveries at once, or later',
    passing: true,
  },
  {
    when: /without `?workflows?`? (permission|scope)/i,
    code: 'NO_PERMISSION',
    hint: 'set `path:` to a place outside .github/workflows',
  },
  {
    when: /(returned error:|HTTP) 403|permission to \S+ denied|write access to repository not granted/i,
    code: 'NO_PERMISSION',
    hint: 'add `permissions: { contents: write }` to the job; a pull request from a fork gets a read-only token whatever is asked',
  },
  {
    when: /couldn't find remote ref|repository .*not found|returned error: (404|30\d)|redirect/i,
    code: 'NOT_FOUND',
    hint: 'check that `repository:` and `branch:` exist, and that `token:` may write there',
  },
  {
    when: /GH001\b|exceeds .*size limit|maximum allowed size|(returned error:|HTTP) 413/i,
    code: 'TOO_LARGE',
    hint: 'use channel: K2 for a file of this size',
  },
  {
    when: /GH0(06|13)\b|rule violations|protected branch|through a pull request|hook declined|push declined/i,
    code: 'FORBIDDEN_BY_RULE',
    hint: 'let the workflow bypass the rule, set `branch:` to one without it, or use channel: K2',
  },
  {
    when: /\[rejected\]|cannot lock ref|failed to update ref|incorrect old value|reference already exists/i,
    code: 'CONFLICT',
    passing: true,
  },
  {
    when: /certificate|SSL CA/i,
    code: 'CONNECTION',
    hint: "add the proxy's certificate to NODE_EXTRA_CA_CERTS",
  },
  {
    when: /could not resolve|failed to connect|couldn't connect|connection refused|from proxy|CONNECT tunnel/i,
    code: 'NO_NETWORK',
    hint: 'check the network of the job, and its https_proxy and no_proxy variables',
    passing: true,
  },
  { when: /(returned error:|HTTP) (408|5\d\d)|internal server error/i, code: 'HOST_ERROR', passing: true },
  {
    when: /unable to access|RPC failed|hung up|early EOF|disconnect|empty reply|curl \d|expected flush/i,
    code: 'CONNECTION',
    passing: true,
  },
];

/** Lines that tell nothing about a failure. */
const IDLE =
  /^(hint:|error: failed to push some refs|To https:|Done$|Everything up-to-date|(remote: )?\w+ objects: |(remote: )?Total \d)/;

/** A git that ended with a failure, as a failure of the delivery. Its words are bounded, and hold no secret. */
export function gitFailure(
  does: string,
  { exitCode, out, err }: GitResult,
  { online, secrets }: { readonly online: boolean; readonly secrets: readonly string[] },
): DeliveryError {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.keep(secret);
  const lines = `${err}\n${out}`.split(/[\r\n]+/).map((line) => line.trim());
  const words = redactor.redact(lines.filter((line) => line !== '' && !IDLE.test(line)).join('; '));
  const message = `${does} failed: ${hostMessage(words) || `git ended with ${exitCode}`}`;
  if (/appears as both a file and as a directory/.test(words)) {
    return new DeliveryError('NOT_OURS', message, { hint: 'set `path:` to a place of its own' });
  }
  // What goes wrong on this machine alone is nobody's refusal.
  if (!online) return new DeliveryError('INTERNAL', message);
  const verdict = VERDICTS.find(({ when }) => when.test(words));
  const [, status] = /(?:returned error:|HTTP) (\d{3})/.exec(words) ?? [];
  return new DeliveryError(verdict?.code ?? 'HOST_ERROR', message, {
    httpCode: status === undefined ? verdict?.status : Number(status),
    hint: verdict?.hint,
    passing: verdict?.passing,
  });
}

/** Whether a git is installed here that takes its configuration from the environment. */
export async function findGit(signal: AbortSignal): Promise<boolean> {
  const { PATH = '', SYSTEMROOT = '' } = process.env;
  try {
    const { out } = await runGit({ args: ['version'], folder: tmpdir(), env: { PATH, SYSTEMROOT }, signal });
    const [, major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(out) ?? [];
    return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 31);
  } catch (thrown) {
    if (thrown instanceof Error && 'syscall' in thrown && String(thrown.syscall).startsWith('spawn'))
      return false;
    throw thrown;
  }
}

/** There is no git here, or none that is new enough. */
export function noGit(cause?: unknown): DeliveryError {
  return new DeliveryError(
    'BAD_INPUT',
    'a file of this size can only be committed by git, and no git (2.31 or later) is installed here',
    { hint: 'install git, or use channel: K2', cause },
  );
}
