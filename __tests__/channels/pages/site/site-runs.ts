import type { Channel, ChannelItem, Placement } from '../../../../src/channels/channel.ts';
import type { BranchTree } from '../../../../src/channels/pages/branch-reader.ts';
import { withPictures } from '../../../../src/channels/pages/commit.ts';
import { compareSite } from '../../../../src/channels/pages/compare-folder.ts';
import type { PagesOptions } from '../../../../src/channels/pages/destination.ts';
import { createPagesChannels } from '../../../../src/channels/pages/publish.ts';
import type { PagesTask } from '../../../../src/channels/pages/target.ts';
import { readTargetTree } from '../../../../src/channels/pages/target.ts';
import { hasFailed, type Result } from '../../../../src/errors.ts';
import { createGitHubClient, type GitHubClient } from '../../../../src/github/api/client.ts';
import type { PagesSettings } from '../../../../src/github/api/repository.ts';
import type { LocalFile } from '../../../../src/rules/inspect.ts';
import { siteOfFile } from '../../../../src/rules/local-site.ts';
import { FakeHttp, fakePorts, type Seen } from '../../../support/ports.ts';
import { commitTargetWith } from '../../fake-branch.ts';
import { pagesOptionsWith } from '../../pages-options.ts';
import { repositoryContextWith, siteWith } from '../../repository-context.ts';
import type { MemoryBranch } from './memory-branch.ts';
import { type Contents, memoryFile, memorySite } from './memory-files.ts';

/** The connection that all runs on a branch share: a new client takes longer than all its requests in memory. */
const CONNECTIONS = new WeakMap<MemoryBranch, ReturnType<typeof newConnection>>();

export function connect(branch: MemoryBranch): ReturnType<typeof newConnection> {
  const connection = CONNECTIONS.get(branch) ?? newConnection(branch);
  CONNECTIONS.set(branch, connection);
  return connection;
}

/** What the runs on a branch have sent. */
export const requestsOf = (branch: MemoryBranch): readonly Seen[] => connect(branch).host.seen;

/** The real client and ports, with a branch as the host; any other address answers 404. */
function newConnection(branch: MemoryBranch) {
  const host = new FakeHttp((seen) =>
    seen.url.startsWith('https://api.github.com/') ? branch.answer(seen) : { status: 404 },
  );
  const ports = fakePorts(host.http);
  const apiUrl = new URL('https://api.github.com');
  const repository = { owner: 'octo', repo: 'site' };
  const { token } = branch;
  return { host, ports, github: createGitHubClient({ apiUrl, token, repository }, ports) };
}

/** Everything that the branch holds now. */
export const readBranchTree = (github: GitHubClient): Promise<BranchTree> =>
  readTargetTree(commitTargetWith(github, { method: 'C' }));

/** What a run did: its placement, or why it failed. */
export type RunOutcome = Result<Placement>;

interface RunOptions extends Partial<PagesOptions> {
  /** Where in the branch the site begins. */
  readonly siteRoot?: string;
  readonly pages?: Partial<PagesSettings>;
}

/** What K1 does with a branch. */
export function actionsOn(branch: MemoryBranch, { siteRoot = '', pages, ...more }: RunOptions = {}) {
  const { github, ports } = connect(branch);
  const site = siteWith({ folder: siteRoot.replace(/\/$/, ''), ...pages });
  return createPagesChannels(
    pagesOptionsWith(more),
    repositoryContextWith({ github, pagesSettings: site }),
    ports,
  );
}

const nameOf = (folder: string): string => (folder === '' ? './' : folder);

/** Delivers a folder through K1, from the preparation to the commit. */
export const deliverSite = (branch: MemoryBranch, folder: string, contents: Contents, options?: RunOptions) =>
  runOne(actionsOn(branch, options).publish, { site: memorySite(contents), name: nameOf(folder) });

export const deliverFile = (branch: MemoryBranch, path: string, content: string) =>
  runOne(actionsOn(branch, { path }).publish, { site: siteOfFile(memoryFile(content)), name: path });

export const withdrawFolder = (branch: MemoryBranch, folder: string) =>
  runOne(actionsOn(branch, { path: nameOf(folder) }).remove, { site: null, name: nameOf(folder) });

/** The change that a folder needs, also in short. */
export async function planSite(
  branch: MemoryBranch,
  folder: string,
  contents: Contents,
  { together = [folder], pictures, ...options }: PlanOptions = {},
) {
  const item = { site: memorySite(contents), name: nameOf(folder) };
  const [prepared] = await actionsOn(branch, options).publish.prepare([item]);
  if (prepared === undefined || hasFailed(prepared)) throw prepared;
  const task = withPictures({ ...prepared, ...(pictures && { pictures }) });
  const itemPath = await compareSite(task, together);
  const { change } = itemPath;
  const written = (change?.writes ?? []).map(({ path }) => path).sort();
  const removals = [...(change?.removals ?? [])].sort();
  const { changes, servedSize } = itemPath.placement;
  return { change, changes, servedSize, written, removals };
}

interface PlanOptions extends RunOptions {
  readonly together?: readonly string[];
  readonly pictures?: readonly LocalFile[];
}

export async function runOne(channel: Channel<PagesTask>, item: ChannelItem): Promise<RunOutcome> {
  const [prepared] = await channel.prepare([item]);
  if (prepared === undefined) throw new Error('nothing was prepared');
  if (hasFailed(prepared)) return prepared;
  const [placed] = await channel.perform([prepared]);
  if (placed === undefined) throw new Error('nothing was placed');
  return placed;
}

/** The placement of a run that succeeded. */
export function placementOf(outcome: RunOutcome): Placement {
  if (hasFailed(outcome)) throw outcome;
  return outcome;
}
