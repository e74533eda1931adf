import { DeliveryError } from '../errors.ts';
import type { GitHub } from '../github/client.ts';
import { blobAt, lastCommitAt, putFile, type Spot } from '../github/contents.ts';
import { commitBlob, createBlob } from '../github/git-data.ts';
import { fetchBack } from '../http/fetch-back.ts';
import type { Ports } from '../ports.ts';
import { SIZE } from '../protocol/limits.ts';
import { TRAILER } from '../protocol/words.ts';
import { retrying } from '../retry.ts';
import type { LocalFile } from '../rules/inspect.ts';
import { baseName } from '../rules/naming.ts';
import type { Channel, Intent, Placement } from './channel.ts';
import { needsToken } from './needs-token.ts';
import { watchBuild } from './pages-build.ts';
import { type Destination, destinationOf, type PagesWishes, throughJekyll } from './pages-destination.ts';

export interface PagesOptions extends PagesWishes {
  readonly github: GitHub | null;
  readonly overwrite: boolean;
  /** Essence of the commit message. */
  readonly essence: string;
  /** Whether a marker will be looked for, so that an older page could pass for ours. */
  readonly hasMarker: boolean;
  /** Milliseconds for build and verification together. */
  readonly timeout: number;
}

/**
 * K1: a file of the repository, shown on the screen by its Pages site.
 *
 * @see protocol 4.2
 */
export function createPages(options: PagesOptions, ports: Ports): Channel {
  return {
    key: 'K1',
    async prepare(file, { site, unauthorised }): Promise<Intent> {
      const github = needsToken(options.github, 'K1', unauthorised);
      if (file === null) {
        throw new DeliveryError('BAD_INPUT', 'channel K1 needs a file to commit', { hint: 'set `file:`' });
      }
      const settings = destinationOf(github, options, site);
      const destination = await throughJekyll(github, settings, file.head, options.hasMarker);
      const method = methodFor(file.size);
      return {
        plan: {
          channel: 'K1',
          method: METHODS[method],
          destination: `branch ${destination.branch}, path ${destination.path}`,
          promise: 'opens on the screen',
        },
        place: () => place({ ...options, github, file, destination, method }, ports),
        watch: watchBuild(github, destination.builtBy, options.timeout, ports),
      };
    },
  };
}

/** The ways to commit a file, by its size. @see protocol 4.2, 8 */
const METHODS = {
  A: 'method A, single-call write',
  B: 'method B, object API',
  C: "method C, git's own protocol",
} as const;

type Method = keyof typeof METHODS;

function methodFor(size: number): Method {
  if (size <= SIZE.methodA) return 'A';
  return size <= SIZE.methodB ? 'B' : 'C';
}

interface Task extends PagesOptions {
  readonly github: GitHub;
  readonly file: LocalFile;
  readonly destination: Destination;
  readonly method: Method;
}

async function place(task: Task, ports: Ports): Promise<Placement> {
  const { destination } = task;
  const { commitSha, written, replaced } = await commitFile(task, ports);
  return {
    evidence: written ? `commit ${commitSha}` : `commit ${commitSha} already holds these bytes`,
    url: destination.pageUrl,
    commitSha,
    rawUrl: destination.rawUrl,
    bustCaches: true,
    mayAlter: destination.mayAlter,
    previousSha256: replaced,
    mustBeExternal: false,
    notes: destination.notes,
    unknown: destination.unknown,
  };
}

interface Committed {
  readonly commitSha: string;
  /** `false` when the same bytes stood there already. */
  readonly written: boolean;
  /** SHA-256 of the page that was replaced, where it could pass for ours. */
  readonly replaced?: string | undefined;
}

/** Each attempt looks first: what an earlier one has committed is not committed again. */
async function commitFile(task: Task, ports: Ports): Promise<Committed> {
  const { github, file, destination, overwrite } = task;
  const spot: Spot = destination;
  let write: Write | undefined;
  let replaced: string | undefined;
  let sent = false;
  return retrying(ports, async () => {
    const standing = await blobAt(github, spot);
    const last = standing === null ? null : await lastCommitAt(github, spot);
    if (standing === file.blobSha && last !== null) {
      return { commitSha: last.sha, written: sent, replaced };
    }
    if (last !== null && !last.ours && !overwrite) throw notOurs(spot);
    if (standing !== null) replaced ??= await standingPage(task, ports);
    const name = baseName(spot.path);
    const message = `${standing === null ? 'ADD' : 'UPDATE'} ${name}: ${task.essence}\n\n${TRAILER}`;
    // A file that stands there already, or is somebody else's, costs no upload.
    write ??= await writer(task, ports);
    sent = true;
    const commitSha = await write(message, standing);
    return { commitSha, written: true, replaced };
  });
}

type Write = (message: string, standing: string | null) => Promise<string>;

/** The way to write a file of this size; what does not depend on the branch is done once, before. */
async function writer(task: Task, ports: Ports): Promise<Write> {
  const { github, file, destination, method } = task;
  if (method === 'A') {
    const content = Buffer.concat(await file.read().toArray());
    return (message, standing) => putFile(github, destination, message, content, standing);
  }
  if (method === 'C') return gitWriter(task, ports);
  try {
    const blob = await createBlob(github, file, ports);
    return (message, standing) => commitBlob(github, destination, message, blob, standing);
  } catch (thrown) {
    if (!(thrown instanceof DeliveryError) || thrown.code !== 'TOO_LARGE') throw thrown;
    ports.logger.info('the host takes no blob of this size: git takes over');
    return gitWriter(task, ports);
  }
}

/** Method C, loaded only where it is needed. */
async function gitWriter({ github, file, destination, serverUrl }: Task, ports: Ports): Promise<Write> {
  const { pushFile } = await import(/* webpackMode: "eager" */ '../github/git-push.ts');
  const remote = new URL(`/${github.owner}/${github.repo}.git`, serverUrl);
  const { branch, path } = destination;
  return (message, replaces) =>
    pushFile({ remote, token: github.token, branch, path, message, replaces, file }, ports);
}

/** What the page's address answers before it is replaced; only of interest where a marker could be fooled by it. */
async function standingPage({ hasMarker, destination }: Task, ports: Ports): Promise<string | undefined> {
  if (!hasMarker) return undefined;
  const url = new URL(destination.pageUrl);
  url.searchParams.set('v', `${Math.floor(ports.clock.now() / 1000)}-before`);
  try {
    const following = { signal: ports.signal, guard: () => undefined, cookies: new Map() };
    return (await fetchBack(ports.http, url, following, [])).print?.sha256;
  } catch (thrown) {
    if (thrown instanceof DeliveryError) return undefined;
    throw thrown;
  }
}

/** @see protocol 7 (prohibition 4) */
function notOurs({ path }: Spot): DeliveryError {
  return new DeliveryError(
    'NOT_OURS',
    `${path} already stands in the repository and was not delivered by this action`,
    {
      hint: 'set `path:` to a place of its own, or `overwrite: true` if the file is yours to replace',
    },
  );
}
