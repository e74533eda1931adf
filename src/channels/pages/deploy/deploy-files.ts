import { DeliveryError } from '../../../errors.ts';
import type { Ports } from '../../../ports.ts';
import type { AbsentFile, Placement, PreparedTask } from '../../channel.ts';
import { withPictures } from '../commit.ts';
import { describePlacement } from '../placement.ts';
import type { PagesTask } from '../target.ts';
import { type DeployTarget, deploySite, withDeployment } from './deploy.ts';
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
 */
export async function deployFiles(
  tasks: readonly PreparedTask<PagesTask>[],
  target: DeployTarget,
  ports: Ports,
): Promise<readonly Placement[]> {
  const items = tasks.map(withPictures);
  const files = new Map(items.flatMap((one) => one.files).map((one) => [one.path, one]));
  const commit = await findCommit(target);
  const content = contentOfFiles([...files.values()], commit);
  const source = { readHead: async () => commit, readContent: async () => content };
  const deployment = await deploySite(source, target, ports);
  const { live } = target;
  const before = live === null || typeof live === 'string' ? new Map() : live.files;
  const after = content.receipt.files;
  const gone = new Map([...before].flatMap(([path, blob]) => (after.has(path) ? [] : [[path, [blob]]])));
  const servedSize = [...after.values()].reduce((sum, { size }) => sum + size, 0);
  return items.map((task, nth) => {
    // What a cache may still have of each file.
    const earlier = new Map(
      task.files.flatMap(({ path, file }) => {
        const held = before.get(path);
        return held?.sha === file.blobSha ? [] : [[path, held === undefined ? [] : [held]] as const];
      }),
    );
    const paths = [...earlier.keys()];
    const changes = {
      added: paths.filter((path) => !before.has(path)),
      changed: paths.filter((path) => before.has(path)),
      ...{ removed: [...gone.keys()], kept: [], removedFolders: [] },
    };
    const place = {
      ...{ earlier, servedSize, changes, replaced: undefined },
      gone: nth === 0 ? gone : new Map(),
    };
    const placement = describePlacement({ written: true, place }, task, ports.logger);
    const evidence = `artifact of ${files.size} files`;
    return withDeployment({ ...placement, evidence }, deployment);
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
