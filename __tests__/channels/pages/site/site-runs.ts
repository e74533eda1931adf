import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Placement, PreparedTask } from '../../../../src/channels/channel.ts';
import type { BranchTree } from '../../../../src/channels/pages/branch-reader.ts';
import { createPagesPublisher } from '../../../../src/channels/pages/publish.ts';
import { createPagesRemover } from '../../../../src/channels/pages/remove.ts';
import {
  type FolderTarget,
  type PagesOptions,
  readTargetTree,
} from '../../../../src/channels/pages/target.ts';
import { hasFailed, type Result } from '../../../../src/errors.ts';
import { createGitHubClient, type GitHubClient } from '../../../../src/github/api/client.ts';
import type { LocalFile } from '../../../../src/rules/inspect.ts';
import type { LocalSite } from '../../../../src/rules/local-site.ts';
import { FakeHttp, type FakePorts, fakePorts } from '../../../support/ports.ts';
import { commitTargetWith } from '../../fake-branch.ts';
import { pagesOptionsWith } from '../../pages-options.ts';
import { repositoryContextWith, siteWith } from '../../repository-context.ts';
import { type MemoryBranch, shaOf } from './memory-branch.ts';

/** A checked file in memory. */
export function memoryFile(content: string, name = 'page.html'): LocalFile {
  const bytes = Buffer.from(content);
  return {
    name,
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    head: bytes.toString('latin1', 0, 16),
    binary: false,
    blobSha: shaOf(content),
    markerCount: null,
    read: () => Readable.from(bytes.length === 0 ? [] : [bytes], { objectMode: false }),
    pieces: () => Readable.from([bytes]),
    headSha256: async () => '',
    close: async () => undefined,
  };
}

/** A checked folder in memory. */
export function memorySite(
  contents: Readonly<Record<string, string>>,
  entry = Object.keys(contents)[0] ?? '',
): LocalSite {
  const files = Object.entries(contents).map(([path, content]) => ({
    path,
    file: memoryFile(content, path),
  }));
  return { entry, files, size: files.reduce((sum, { file }) => sum + file.size, 0), leftOut: [] };
}

/** What a channel needs to reach a branch. */
interface Connection {
  readonly github: GitHubClient;
  readonly host: FakeHttp;
  readonly ports: FakePorts;
}

const CONNECTIONS = new WeakMap<MemoryBranch, Connection>();

/** The connection that all runs on a branch share: a new client takes longer than all its requests in memory. */
function reconnect(branch: MemoryBranch): Connection {
  const connection = CONNECTIONS.get(branch) ?? connect(branch);
  CONNECTIONS.set(branch, connection);
  return connection;
}

/** The real client and ports, with a branch as the host; any other address answers 404. */
export function connect(branch: MemoryBranch): Connection {
  const host = new FakeHttp((seen) =>
    seen.url.startsWith('https://api.github.com/') ? branch.answer(seen) : { status: 404 },
  );
  const ports = fakePorts(host.http);
  const apiUrl = new URL('https://api.github.com');
  return {
    host,
    ports,
    github: createGitHubClient(
      { apiUrl, token: 'ghs_token', repository: { owner: 'octo', repo: 'site' } },
      ports,
    ),
  };
}

/** A folder of the branch with every input at its default. */
export const folderTarget = (
  github: GitHubClient,
  folder: string,
  {
    options = {},
    ...more
  }: Partial<Omit<FolderTarget, 'options'>> & {
    readonly options?: Partial<FolderTarget['options']>;
  } = {},
): FolderTarget => ({
  // The target's own client is not one that records.
  ...commitTargetWith(github as never, { method: 'C' }),
  folder,
  siteRoot: '',
  options: pagesOptionsWith(options),
  ...more,
});

/** Everything that the branch holds now. */
export const readBranchTree = (github: GitHubClient): Promise<BranchTree> =>
  readTargetTree(folderTarget(github, ''));

/** What a run did: its placement, or why it failed. */
export type RunOutcome = Result<Placement>;

interface RunOptions extends Partial<PagesOptions> {
  /** Where in the branch the site begins. */
  readonly siteRoot?: string;
}

/** Delivers a folder through K1, from the preparation to the commit. */
export function deliverSite(
  branch: MemoryBranch,
  folder: string,
  contents: Readonly<Record<string, string>>,
  options: RunOptions = {},
): Promise<RunOutcome> {
  const site = memorySite(contents);
  const { siteRoot = '', ...more } = options;
  const { github, ports } = reconnect(branch);
  const access = { github, repository: repositoryContextWith({ site: siteWith({ folder: siteRoot }) }) };
  const channel = createPagesPublisher(pagesOptionsWith(more), access, ports);
  return runOne(channel, { file: null, site, name: folder === '' ? './' : folder });
}

/** Delivers a single file through K1. */
export function deliverFile(
  branch: MemoryBranch,
  path: string,
  content: string,
  options: Partial<PagesOptions> = {},
): Promise<RunOutcome> {
  const { github, ports } = reconnect(branch);
  const access = { github, repository: repositoryContextWith() };
  const channel = createPagesPublisher(pagesOptionsWith({ path, ...options }), access, ports);
  return runOne(channel, { file: memoryFile(content), name: path });
}

async function runOne<Item extends { file: LocalFile | null; name: string }>(
  channel: ReturnType<typeof createPagesPublisher>,
  item: Item,
): Promise<RunOutcome> {
  const [prepared] = await channel.prepare([item]);
  if (prepared === undefined) throw new Error('nothing was prepared');
  if (hasFailed(prepared.result)) return prepared.result;
  const [placed] = await channel.perform([prepared.result as never]);
  if (placed === undefined) throw new Error('nothing was placed');
  return placed.result;
}

/** Withdraws a folder through K1: the placement of each of its sites and files. */
export async function withdrawFolder(
  branch: MemoryBranch,
  folder: string,
  options: Partial<PagesOptions> = {},
): Promise<readonly RunOutcome[]> {
  const { github, ports } = reconnect(branch);
  const access = { github, repository: repositoryContextWith() };
  const path = folder === '' ? './' : folder;
  const channel = createPagesRemover(pagesOptionsWith({ path, ...options }), access, ports);
  const prepared = await channel.prepare([{ file: null, name: '' }]);
  const tasks = prepared.flatMap(({ result }) => (hasFailed(result) ? [] : [result as PreparedTask]));
  const failures = prepared.flatMap(({ result }) => (hasFailed(result) ? [result] : []));
  const placed = await channel.perform(tasks as never);
  return [...failures, ...placed.map(({ result }) => result)];
}
