import type { ItemResult } from '../../../async.ts';
import { DeliveryError } from '../../../errors.ts';
import type { Ports } from '../../../ports.ts';
import type { AbsentFile, Placement, PreparedTask } from '../../channel.ts';
import { listTogether } from '../commit-tasks.ts';
import { describePublished, filesOf } from '../placement.ts';
import type { EarlierFiles } from '../recheck.ts';
import type { PagesTask } from '../target.ts';
import { type DeployTarget, deploySite } from './deploy.ts';
import { withDeployment } from './deploy-branch.ts';
import type { DeployedReceipt } from './deployed-receipt.ts';
import { contentOfFiles } from './site-content.ts';

/** Refuses to deploy less than was named: what is missing would vanish from the site. */
export function refusePartOfSite(absent: AbsentFile | undefined): void {
  if (absent === undefined) return;
  throw new DeliveryError('BAD_INPUT', `the site would be deployed without ${absent.subject}, which failed`, {
    hint: 'correct that first',
    leftBehind: [],
  });
}

/**
 * Deploys the files and folders of a step as the whole site, without any commit.
 *
 * @see design 7
 */
export async function deployFiles(
  tasks: readonly PreparedTask<PagesTask>[],
  target: DeployTarget,
  ports: Ports,
): Promise<readonly ItemResult<PreparedTask<PagesTask>, Placement>[]> {
  const items = listTogether(tasks);
  const files = new Map(items.flatMap(filesOf).map((one) => [one.path, one]));
  const content = contentOfFiles([...files.values()], await findCommit(target));
  const { live } = target;
  const before = live === null || typeof live === 'string' ? null : live;
  const deployment = await deploySite(async () => content, target, ports);
  return tasks.map((item, nth) => {
    const task = items[nth] as PagesTask;
    const place = {
      earlier: findEarlier(task, before),
      delivered: describeDelivered(task, before, content.receipt),
      gone: nth === 0 ? findGone(before, content.receipt) : new Map(),
    };
    const isSite = task.site !== undefined;
    const described = describePublished(
      { written: true, place: isSite ? place : { earlier: place.earlier, gone: place.gone } },
      task,
      ports.logger,
    );
    const { rawUrl: _raw, held: _held, treeSha: _tree, ...placement } = described;
    const evidence = `artifact of ${files.size} files`;
    return { item, result: withDeployment({ ...placement, evidence }, deployment) };
  });
}

/** The deployment must name a commit that the repository has: that of the run, or its newest. */
async function findCommit({ github, runtime }: DeployTarget): Promise<string> {
  if (/^[0-9a-f]{40}$/.test(runtime.commit)) return runtime.commit;
  const { rest, repository } = github;
  const { default_branch: sha } = (await rest.repos.get(repository)).data;
  const [newest] = (await rest.repos.listCommits({ ...repository, sha, per_page: 1 })).data;
  return newest?.sha ?? '';
}

/** What a cache may still have of each file. */
function findEarlier(task: PagesTask, before: DeployedReceipt | null): EarlierFiles {
  return new Map(
    filesOf(task).flatMap(({ path, file }) => {
      const held = before?.files.get(path);
      return held?.sha === file.blobSha ? [] : [[path, held === undefined ? [] : [held]] as const];
    }),
  );
}

/** What of the site that was live must not be served any more. */
const findGone = (before: DeployedReceipt | null, after: DeployedReceipt): EarlierFiles =>
  new Map(
    [...(before?.files ?? [])].flatMap(([path, blob]) => (after.files.has(path) ? [] : [[path, [blob]]])),
  );

function describeDelivered(task: PagesTask, before: DeployedReceipt | null, after: DeployedReceipt) {
  const own = filesOf(task).map(({ path }) => path);
  const old = before?.files ?? new Map();
  const changed = own.filter((path) => old.has(path) && old.get(path)?.sha !== after.files.get(path)?.sha);
  return {
    treeSha: '',
    totalSize: [...after.files.values()].reduce((sum, { size }) => sum + size, 0),
    changes: {
      added: own.filter((path) => !old.has(path)),
      changed,
      removed: [...old.keys()].filter((path) => !after.files.has(path)),
      kept: [],
      removedFolders: [],
    },
  };
}
