import { mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { measureRun, type RunMeasurement } from './measure.ts';

/** How plain git reaches the branch that it publishes to. */
export interface GitTarget {
  /** For the clone. */
  readonly folder: string;
  /** The repository's https address, without credentials. */
  readonly remote: string;
  /** The user name and password. */
  readonly credentials: string;
  /** What the environment needs to reach the host. */
  readonly env: Readonly<Record<string, string>>;
}

/** Publishes by hand: `clone --depth 1`, copy, `add`, `commit`, `push`. @param source a file or a folder */
export async function runPlainGit(target: GitTarget, source: string, place: string): Promise<RunMeasurement> {
  const { folder, remote, credentials, env } = target;
  const url = new URL(remote);
  const [username = '', password = ''] = credentials.split(':');
  Object.assign(url, { username, password });
  const clone = join(await mkdtemp(join(folder, 'git-')), 'clone');
  return measureRun({
    program: 'sh',
    args: ['-ec', PLAIN_GIT, 'sh', url.href, clone, source, place],
    cwd: folder,
    env: { ...env, HOME: folder, GIT_TERMINAL_PROMPT: '0' },
  });
}

const PLAIN_GIT = `
  git clone --quiet --depth 1 "$1" "$2"
  cd "$2"
  mkdir -p "$(dirname "$4")"
  cp -r "$3" "$4"
  git add "$4"
  git -c user.name=bench -c user.email=bench@example.com commit --quiet -m "ADD $4"
  git push --quiet origin HEAD`;

/**
 * Downloads what was published, many files at once.
 * @param base the address of the folder
 * @param into keeps the files there; without it, they are thrown away
 */
export async function runParallelCurl(
  { folder, env }: Pick<GitTarget, 'folder' | 'env'>,
  source: string,
  base: string,
  into?: string,
): Promise<RunMeasurement> {
  const names = await readdir(source);
  const keepAs = (name: string): string => (into === undefined ? '/dev/null' : join(into, name));
  return measureRun({
    program: 'curl',
    args: [
      ...['--silent', '--show-error', '--fail', '--location', '--parallel', '--parallel-max', '20'],
      ...names.flatMap((name) => ['--output', keepAs(name), `${base}${name}`]),
    ],
    cwd: folder,
    env,
  });
}
