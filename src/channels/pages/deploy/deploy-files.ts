import type { Ports } from '../../../ports.ts';
import type { GitBlob } from '../../../rules/fingerprint.ts';
import type { Placement } from '../../channel.ts';
import { withPictures } from '../commit.ts';
import { describePublished } from '../placement.ts';
import type { PagesTask } from '../target.ts';
import { type DeployTarget, deploySite, withDeployment } from './deploy.ts';
import { contentOfFiles, sizeOf } from './site-content.ts';

/** Deploys the files and folders of a step as the whole site, without any commit. */
export async function deployFiles(
  prepared: readonly PagesTask[],
  target: DeployTarget,
  ports: Ports,
): Promise<readonly Placement[]> {
  const tasks = prepared.map(withPictures);
  const files = new Map(tasks.flatMap((task) => task.files).map((one) => [one.path, one]));
  // The deployment must name a commit that the repository has.
  const { commit } = target.runtime;
  const content = contentOfFiles([...files.values()], commit);
  const source = { readHead: async () => commit, readContent: async () => content };
  const deployment = await deploySite(source, target, ports);
  const { live } = target;
  const before = live === null || typeof live === 'string' ? new Map<string, GitBlob>() : live.files;
  // What a cache may still have of each path.
  const earlierAt = (path: string): [string, GitBlob[]] => [path, [before.get(path) ?? []].flat()];
  const removed = [...before.keys()].filter((path) => !content.receipt.files.has(path));
  const servedSize = sizeOf(content.receipt);
  const evidence = `artifact of ${files.size} files`;
  return tasks.map((task, nth) => {
    const paths = task.files.flatMap(({ path, file }) =>
      before.get(path)?.sha === file.blobSha ? [] : [path],
    );
    const changes = {
      added: paths.filter((path) => !before.has(path)),
      changed: paths.filter((path) => before.has(path)),
      removed,
      kept: [],
      removedFolders: [],
    };
    const earlier = new Map(paths.map(earlierAt));
    const gone = new Map(nth === 0 ? removed.map(earlierAt) : []);
    const placement = describePublished({ task, changes }, { earlier, gone, servedSize });
    return withDeployment({ ...placement, written: true, evidence }, deployment);
  });
}
