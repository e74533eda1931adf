import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { toMessage } from '../errors.ts';
import { readWorkflowRun } from '../github/workflow-run.ts';
import type { Ports } from '../ports.ts';
import { SECOND } from '../protocol/limits.ts';
import { createRequest } from './create-request.ts';
import { type FindFiles, findLiteralFiles } from './find-files.ts';
import { oneLine } from './input-kinds.ts';
import { completeInputs, type RawInputs } from './inputs.ts';
import { type DeliveryRequest, operationOf, type RunContext } from './parse-request.ts';
import { PARSERS } from './values.ts';

/** What a request outside of a workflow is made of, beside its inputs. */
type LocalContext = Omit<
  RunContext,
  'job' | 'from' | 'now' | 'random' | 'sourceIsPrivate' | 'sources' | 'checkOnly' | 'namesPlace'
> & {
  readonly env: NodeJS.ProcessEnv;
  /** The inputs that somebody named; absent where these are all that are given. */
  readonly named?: Partial<RawInputs>;
};

/** The request of a command or of a tool, such as `deliver`, or `verify` for a link. @throws {DeliveryError} as `createRequest` */
export async function createLocalRequest(
  task: string,
  given: Partial<RawInputs>,
  context: LocalContext,
  { clock, random, logger, signal }: Pick<Ports, 'clock' | 'random' | 'logger' | 'signal'>,
): Promise<DeliveryRequest> {
  const { env, folder, owner: job = '', findFiles: find = findLiteralFiles, named = given } = context;
  let found: ReturnType<FindFiles> | undefined;
  // A pattern may take long in a large folder: it is searched once.
  const findFiles: FindFiles = (lines) => (found ??= find(lines, folder, signal));
  const isLink = task === 'verify';
  const checkOnly = task === 'check';
  const inputs = { ...given, ...(isLink && { channel: 'K4', token: '' }), operation: operationOf(task) };
  const asked = completeInputs(inputs, env, isLink);
  // What is wrong with the lines is told by the delivery.
  const files = await findFiles(PARSERS.lines(asked.file), folder).catch(() => new Map<string, never>());
  const { repository, sources, detail } = isLink
    ? { repository: given.repository ?? '', sources: [], detail: null }
    : await findRepository(given, folder, [...files.keys()], env);
  // Without any repository the source can't be private; a token shows that there is one, even if not which.
  const sourceIsPrivate = sources.length === 0 && asked.token === '' ? false : null;
  const from = readWorkflowRun(env);
  const namesPlace = !!named.repository || !!named.branch || !!named.path?.includes('/');
  const around = {
    ...{ job, from, now: clock.date(), random, sourceIsPrivate, sources, checkOnly, findFiles },
    namesPlace,
  };
  const request = await createRequest({ ...asked, repository }, { ...context, ...around }, logger);
  // What is wrong with a command is told before anything else.
  if (detail !== null) logger.info(`repository: ${detail}`);
  return request;
}

/**
 * Finds the repository outside of a workflow: the one that was named, else `GITHUB_REPOSITORY`, else the remotes of
 * the git repository in which the files or the folder are. The files may come from every one of these.
 *
 * @returns `owner/name` to publish in, empty if none is known; the sources as in `RunContext`; and how it was found
 */
export async function findRepository(
  given: Partial<RawInputs>,
  folder: string,
  files: readonly string[],
  env: NodeJS.ProcessEnv,
) {
  const { 'auth-url': serverUrl } = completeInputs(given, env);
  const folders = [await realPath(folder)];
  for (const file of files) folders.push(dirname(await realPath(resolve(folder, file))));
  const found: Awaited<ReturnType<typeof readRemotes>>[] = [];
  for (const root of new Set(folders.flatMap((one) => findRoot(one) ?? []))) {
    found.push(await readRemotes(root, serverUrl, '-C', env));
  }
  // What a git hook sets may be another repository than that of the files.
  if (env.GIT_DIR) found.push(await readRemotes(resolve(folder, env.GIT_DIR), serverUrl, '--git-dir', env));
  const ofRunner = env.GITHUB_REPOSITORY || undefined;
  const sources = [ofRunner ?? [], ...found.map((one) => one.sources)].flat();
  if (given.repository !== undefined) {
    const detail = given.repository === '' ? 'none is named' : `${given.repository}, as asked for`;
    return { repository: given.repository, sources, detail };
  }
  if (ofRunner !== undefined) {
    return { repository: ofRunner, sources, detail: `${ofRunner}, as GITHUB_REPOSITORY says` };
  }
  if (found.length === 0) return { repository: '', sources, detail: 'none was found' };
  const details = found.map(({ root, detail }) => `${detail} (${root})`).join('; ');
  const [only, ...others] = new Set(found.flatMap(({ target }) => target ?? []));
  return only === undefined || others.length > 0
    ? { repository: '', sources, detail: `not known: ${details}` }
    : { repository: only, sources, detail: `${only}, by ${details}` };
}

const realPath = (path: string): Promise<string> => realpath(path).catch(() => path);

/** Where other systems than git keep what they know: nothing tells here whether that is public. */
const OTHER_SYSTEMS = ['.hg', '.jj', '.svn'];

/** The folder of the repository that a folder is in; `null` if it is in none. Git itself is not needed. */
function findRoot(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    if (['.git', ...OTHER_SYSTEMS].some((name) => existsSync(join(at, name)))) return at;
    // The folder of git's own files, or a bare repository.
    if (['HEAD', 'objects', 'refs'].every((name) => existsSync(join(at, name)))) return at;
    if (dirname(at) === at) return null;
  }
}

/** The remotes of a repository: `origin`, or the only one, and all. If git can't tell, it is unknown, and may be private. */
async function readRemotes(
  root: string,
  serverUrl: string,
  option: '-C' | '--git-dir',
  env: NodeJS.ProcessEnv,
) {
  const unknown = { root, target: null, sources: [null] };
  const other = OTHER_SYSTEMS.find((name) => existsSync(join(root, name)));
  if (other !== undefined && !existsSync(join(root, '.git'))) {
    return { ...unknown, detail: `no git repository, but ${other}` };
  }
  const unset = { GIT_DIR: undefined, GIT_WORK_TREE: undefined };
  const options = { timeout: 5 * SECOND, maxBuffer: 1_048_576, env: { ...env, ...unset } };
  const listed = await promisify(execFile)('git', [option, root, 'remote', '-v'], options).catch(toMessage);
  if (typeof listed === 'string') {
    // Such as that git is not installed, or refuses a folder of another owner ("dubious ownership").
    return { ...unknown, detail: `its git remotes can't be read: ${oneLine(listed)}` };
  }
  const remotes = [...listed.stdout.matchAll(/^(\S+)\t(.*) \((?:fetch|push)\)(?: \[.*\])?$/gm)].map(
    ([, remote = '', url = '']) => ({ remote, name: parseRemote(url, serverUrl) }),
  );
  const sources = [...new Set(remotes.map(({ name }) => name))];
  const [first] = remotes;
  if (first === undefined) return { ...unknown, detail: 'no git remote' };
  const main = remotes.find(({ remote }) => remote === 'origin') ?? (sources.length > 1 ? undefined : first);
  if (main === undefined) return { ...unknown, sources, detail: 'several git remotes, none called origin' };
  const detail = `git remote ${main.remote}${main.name === null ? ' is not on this host' : ''}`;
  return { root, target: main.name, sources, detail };
}

/** `owner/name` from the URL of a git remote; `null` if the remote is not on the GitHub instance. */
function parseRemote(remote: string, serverUrl: string): string | null {
  const [, host, path] =
    /^(?:[a-z+]+:\/\/)?(?:[^/@]*@)?([^/:@]+)(?::\d+(?=\/))?[/:]\/?([^/]+\/[^/]+?)(?:\.git)?\/?$/i.exec(
      remote,
    ) ?? [];
  const server = URL.parse(serverUrl)?.hostname;
  // GitHub offers ssh on port 443 at a host of its own.
  const hosts = [server, `ssh.${server}`, `www.${server}`];
  return path !== undefined && hosts.includes(host?.toLowerCase()) ? path : null;
}
