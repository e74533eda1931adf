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
import { type DeliveryRequest, type FileContext, operationOf } from './parse-request.ts';
import { PARSERS } from './values.ts';

/** What a request outside of a workflow needs, besides its inputs. */
export interface LocalContext extends FileContext {
  readonly env: NodeJS.ProcessEnv;
  /** The inputs that somebody named. Absent: all given inputs. */
  readonly named?: Partial<RawInputs>;
}

/** The request of a command or of a tool, such as `deliver`, or `verify` for a link. @throws {DeliveryError} as `createRequest` */
export async function createLocalRequest(
  task: string,
  given: Partial<RawInputs>,
  context: LocalContext,
  { clock, random, logger, signal }: Pick<Ports, 'clock' | 'random' | 'logger' | 'signal'>,
): Promise<DeliveryRequest> {
  const { env, folder, soleDeliverer: job = '', findFiles: find = findLiteralFiles, named = given } = context;
  let found: ReturnType<FindFiles> | undefined;
  // A pattern may take long in a large folder, so it is searched once.
  const findFiles: FindFiles = (lines) => (found ??= find(lines, folder, signal));
  const isLink = task === 'verify';
  const checkOnly = task === 'check';
  const inputs = { ...given, ...(isLink && { channel: 'K4', token: '' }), operation: operationOf(task) };
  const asked = completeInputs(inputs, env, isLink);
  // The delivery reports errors in the lines.
  const files = await findFiles(PARSERS.lines(asked.file), folder).catch(() => new Map<string, never>());
  const { repository, sources, detail } = isLink
    ? { repository: given.repository ?? '', sources: [], detail: null }
    : await findRepository(given, folder, [...files.keys()], env);
  // Without a repository the source can't be private. A token means that there is a repository, even if an unknown one.
  const sourceIsPrivate = sources.length === 0 && asked.token === '' ? false : null;
  const deliverer = readWorkflowRun(env);
  const namesDestination = !!named.repository || !!named.branch || !!named.path?.includes('/');
  const runFields = {
    ...{ job, deliverer, now: clock.date(), random, sourceIsPrivate, checkOnly, findFiles },
    sourceRepositories: sources,
    namesDestination,
  };
  const request = await createRequest({ ...asked, repository }, { ...context, ...runFields }, logger);
  // Errors in the command are reported first.
  if (detail !== null) logger.info(`repository: ${detail}`);
  return request;
}

/**
 * Finds the repository outside of a workflow: the given one, otherwise `GITHUB_REPOSITORY`, otherwise the remotes of
 * the git repository that has the files or the folder. The files may come from any of these.
 *
 * @returns `owner/name` to publish in, or empty if unknown; the sources as in `RunContext`; and how it was found
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
  for (const root of new Set(folders.flatMap((path) => findRepositoryRoot(path) ?? []))) {
    found.push(await readRemotes(root, serverUrl, '-C', env));
  }
  // A git hook may set another repository than the files have.
  if (env.GIT_DIR) found.push(await readRemotes(resolve(folder, env.GIT_DIR), serverUrl, '--git-dir', env));
  const ofRunner = env.GITHUB_REPOSITORY || undefined;
  const sources = [ofRunner ?? [], ...found.map((remotes) => remotes.sources)].flat();
  if (given.repository !== undefined) {
    const detail = given.repository === '' ? 'none given' : `${given.repository}, as given`;
    return { repository: given.repository, sources, detail };
  }
  if (ofRunner !== undefined) {
    return { repository: ofRunner, sources, detail: `${ofRunner}, from GITHUB_REPOSITORY` };
  }
  if (found.length === 0) return { repository: '', sources, detail: 'none found' };
  const details = found.map(({ root, detail }) => `${detail} (${root})`).join('; ');
  const [only, ...others] = new Set(found.flatMap(({ target }) => target ?? []));
  return only === undefined || others.length > 0
    ? { repository: '', sources, detail: `not known: ${details}` }
    : { repository: only, sources, detail: `${only}, from ${details}` };
}

const realPath = (path: string): Promise<string> => realpath(path).catch(() => path);

/** The folders of version control systems other than git. We can't tell whether their repositories are public. */
const OTHER_SYSTEMS = ['.hg', '.jj', '.svn'];

/** The root of the repository around a folder, or `null`. Works without git. */
function findRepositoryRoot(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    if (['.git', ...OTHER_SYSTEMS].some((name) => existsSync(join(at, name)))) return at;
    if (['HEAD', 'objects', 'refs'].every((name) => existsSync(join(at, name)))) return at;
    if (dirname(at) === at) return null;
  }
}

/** The remotes of a repository: the main one (`origin`, or the only one) and all. If unknown, it may be private. */
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
    // For example, git is not installed, or refuses a folder of another owner ("dubious ownership").
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
  // GitHub has a separate host for ssh on port 443.
  const hosts = [server, `ssh.${server}`, `www.${server}`];
  return path !== undefined && hosts.includes(host?.toLowerCase()) ? path : null;
}
