import { poll } from '../../../async.ts';
import { DeliveryError, hasFailed, type Result, resultOf } from '../../../errors.ts';
import { getPagesDeploymentStatus } from '../../../github/api/pages-build.ts';
import { lineIf } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { ARTIFACT, BUILD_WAIT, RECEIPT, SITE } from '../../../protocol/limits.ts';
import { createWorkFolders } from '../../../system.ts';
import type { Placement } from '../../channel.ts';
import type { PagesTask } from '../target.ts';
import { type ContentSource, type DeployTarget, deploySite, withDeployment } from './deploy.ts';
import {
  FOREIGN_SITE,
  formatDeployRecord,
  isReceipt,
  largeReceiptError,
  NO_SITE,
  nameSite,
  readDeployRecord,
  refuseOtherSite,
} from './deploy-record.ts';
import { createLiveFiles, fetchLiveFiles, type LiveFiles, readToEnd } from './live-files.ts';
import type { DeployRecord, ReceiptHistory } from './receipt-history.ts';
import { refuseLarge, type SiteContent } from './site-content.ts';

type Placements = readonly Result<Placement>[];

/** What a run deploys to a site without a branch. */
export interface ReceiptRun {
  readonly tasks: readonly PagesTask[];
  readonly target: DeployTarget;
  readonly receipt: ReceiptHistory;
  readonly ports: Ports;
  /** Adds the tasks to the receipt as it is now. */
  readonly commit: () => Promise<Placements>;
}

/**
 * Deploys a site without a branch: what its receipt lists, with the run's own changes. If another job deploys at the
 * same time, the changes are made again on top of that.
 */
export async function deployReceipt(run: ReceiptRun): Promise<Placements> {
  const folders = createWorkFolders(run.ports.tempFolder);
  const source = new ReceiptSource(run, createLiveFiles(await folders.open()));
  const deployed = await resultOf(() => deploySite(source, run.target, run.ports)).finally(folders.remove);
  if (hasFailed(deployed) && source.placed.length === 0) throw deployed;
  return source.placed.map((result) => {
    if (hasFailed(result)) return result;
    if (hasFailed(deployed)) return deployed;
    const isLeft = deployed.id === undefined && !result.written;
    return isLeft ? result : { ...withDeployment(result, deployed), written: true };
  });
}

class ReceiptSource implements ContentSource {
  placed: Placements = [];
  readonly #run: ReceiptRun;
  readonly #live: LiveFiles;
  #lost = 0;
  /** The live site that the last look found, if it lacks this run's deliveries. */
  #newer: DeployRecord | undefined;
  /** The live site directly before the last request for a deployment. */
  #seen = '';

  constructor(run: ReceiptRun, live: LiveFiles) {
    this.#run = run;
    this.#live = live;
  }

  async readHead(): Promise<string | null | undefined> {
    const { tasks, receipt, ports, commit } = this.#run;
    const { own, replaceable } = receipt;
    const live = this.#newer ?? (await this.#read());
    this.#newer = undefined;
    if (isIn(live, own)) return null;
    if (replaceable.includes(live.id)) return own;
    if (isOld(live, receipt)) return undefined;
    receipt.build(live, ports);
    this.placed = await commit();
    // With `overwrite`, the live files may differ from the receipt. After a loss, an older deployment may still run.
    const isForced =
      this.#lost > 0 || tasks.some(({ target, files }) => target.options.overwrite && files.length > 0);
    const isChanged = this.placed.some((result) => !hasFailed(result) && (isForced || result.written));
    return isChanged ? receipt.own : null;
  }

  async readContent(): Promise<SiteContent | null> {
    const { tasks, target, receipt, ports } = this.#run;
    const deployRecord = receipt.describe(target.runtime.commit);
    const { files } = deployRecord;
    refuseUnservable(deployRecord, target.root);
    const own = new Map(tasks.flatMap((task) => task.files.map(({ file }) => [file.blobSha, file])));
    const others = new Map([...files].filter(([, { sha }]) => !own.has(sha)));
    const fetched = await resultOf(() => this.#live.fetch(others, target.root, ports));
    const read = (sha: string) => own.get(sha)?.pieces() ?? this.#live.read(sha);
    const open = () => [...files].map(([path, { sha, size }]) => ({ path, size, read: () => read(sha) }));
    if (!hasFailed(fetched)) return { deployRecord, leftOut: [], open };
    // Another job may have replaced the file meanwhile.
    if (await this.mayDeploy()) throw fetched;
    return null;
  }

  /** Looks twice, because a CDN may show an old receipt for a moment. */
  mayDeploy = async (): Promise<boolean> => {
    const { receipt, ports } = this.#run;
    const { id } = await this.#read();
    await ports.clock.sleep(RECEIPT.gap, ports.signal);
    this.#seen = (await this.#read()).id;
    return id === this.#seen && receipt.replaceable.includes(id);
  };

  /** Waits until the live receipt has the run's deliveries, or the deployment has ended: then the proof decides. */
  async isNewest(own: string, id: string): Promise<boolean> {
    const { receipt, target, ports } = this.#run;
    const { clock, signal } = ports;
    const { github, timeout } = target;
    let ended = Number.POSITIVE_INFINITY;
    const wait = { clock, signal, interval: BUILD_WAIT.interval, deadline: clock.now() + timeout / 2 };
    const found = await poll(wait, async () => {
      const live = await this.#read();
      if (isIn(live, own)) return true;
      if (!isOld(live, receipt)) {
        this.#lost += 1;
        this.#newer = live;
        return this.#lost === RECEIPT.attempts;
      }
      const status = await resultOf(() => getPagesDeploymentStatus(github, id));
      if (hasFailed(status) || clock.now() - ended >= RECEIPT.settle) return true;
      if (status.status === 'built') ended = Math.min(ended, clock.now());
      return undefined;
    });
    return found ?? true;
  }

  waitForOther(): Promise<unknown> {
    const { target, ports } = this.#run;
    const { clock, signal } = ports;
    const wait = { clock, signal, interval: ARTIFACT.pause, deadline: clock.now() + target.timeout / 4 };
    const seen = this.#seen;
    return poll(wait, async () => ((await this.#read()).id === seen ? undefined : true));
  }

  async #read(): Promise<DeployRecord> {
    const { target, ports } = this.#run;
    const read = await resultOf(() => readDeployRecord(target.root, ports));
    // An unreadable site may be replaced only if it was unreadable from the start.
    if (hasFailed(read) && (target.live !== null || ports.signal.aborted)) throw read;
    const live = hasFailed(read) ? FOREIGN_SITE : read;
    if (!isReceipt(live) && target.live !== null) refuseOtherSite(live, [target.live], target.root);
    return live;
  }
}

/** Whether a deployment is live, or what is live was built on it. */
const isIn = (live: DeployRecord, id: string): boolean => [live.id, ...live.before].includes(id);

/** Whether a receipt was read before: a CDN may show an old one for a moment. */
const isOld = (live: DeployRecord, { before }: ReceiptHistory): boolean =>
  live === NO_SITE ? before.length > 0 : before.includes(live.id);

/** @throws {DeliveryError} `TOO_LARGE` */
function refuseUnservable(deployRecord: DeployRecord, root: URL): void {
  const { size } = deployRecord.files;
  refuseLarge(deployRecord);
  if (size > SITE.files) {
    const message = `the site would have ${size} files, and it may have ${SITE.files}`;
    throw new DeliveryError('TOO_LARGE', message, { hint: 'withdraw older deliveries', leftBehind: [] });
  }
  if (formatDeployRecord(deployRecord).length > RECEIPT.bytes) throw largeReceiptError(root, 'would have');
}

type Where = Pick<ReceiptRun, 'receipt' | 'target' | 'ports'>;

/**
 * Loads the live receipt if others wrote it. @param isDeployed whether the live receipt must be newer than before
 * @returns whether they did. @throws {DeliveryError} `NOT_OURS`; `BUILD_TIMEOUT` if it stays an earlier one
 */
export async function reloadReceipt(
  { receipt, target: { root }, ports }: Where,
  isDeployed: boolean,
): Promise<boolean> {
  const { clock, signal } = ports;
  const wait = { clock, signal, interval: BUILD_WAIT.interval, deadline: clock.now() + RECEIPT.settle };
  const live = await poll(wait, async () => {
    const found = await readDeployRecord(root, ports);
    return isDeployed && isOld(found, receipt) ? undefined : found;
  });
  if (live === undefined) {
    const message = `the receipt of the site at ${root.hostname} is still an earlier one`;
    throw new DeliveryError('BUILD_TIMEOUT', message, { hint: 'run it again' });
  }
  const place = `the site ${root.hostname}, now ${nameSite(live)}`;
  const isKnown = live.id === receipt.own || isOld(live, receipt);
  if (isReceipt(live) && isKnown) return false;
  receipt.place = place;
  if (!isReceipt(live)) throw new DeliveryError('NOT_OURS', place, { hint: 'deliver again' });
  receipt.load(live.deliveries);
  return true;
}

/**
 * Verifies files of other deliveries, which the run's deployment took over: all of a small site, otherwise some, drawn
 * evenly. @returns what was left out; `NOT_PROVEN` that names a file
 */
export async function verifyOthers(run: Omit<ReceiptRun, 'commit'>): Promise<Result<readonly string[]>> {
  const { tasks, target, receipt, ports } = run;
  const own = new Set(tasks.flatMap(({ files }) => files.map(({ path }) => path)));
  const listOthers = () => [...receipt.files].filter(([path]) => !own.has(path));
  const verify = () => {
    const others = listOthers();
    const step = Math.ceil(others.length / RECEIPT.verifiedOthers);
    const chosen = others.filter((_, nth) => nth % step === 0);
    return resultOf(() => fetchLiveFiles(chosen, target.root, ports, readToEnd));
  };
  const first = await verify();
  // Another job may have replaced a file meanwhile.
  const found = hasFailed(first) && (await reloadReceipt(run, true)) ? await verify() : first;
  if (hasFailed(found)) {
    return new DeliveryError('NOT_PROVEN', `after the deployment, ${found.message}`, { hint: found.advice });
  }
  const more = listOthers().length - RECEIPT.verifiedOthers;
  return lineIf(more > 0, `whether about ${more} more files of other deliveries are still served`);
}
