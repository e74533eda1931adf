import { addAbortSignal } from 'node:stream';
import { DeliveryError, hasFailed, type Result, resultOf } from '../../../errors.ts';
import type { FileWrite } from '../../../github/change.ts';
import { type Deliverer, nameDeliverer } from '../../../github/workflow-run.ts';
import { connectionError } from '../../../http/client.ts';
import { followRedirects } from '../../../http/follow.ts';
import { isAbsence, readText } from '../../../http/response.ts';
import { parseJson, toFields } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { EXCHANGE, TEXT } from '../../../protocol/limits.ts';
import { TOOL } from '../../../protocol/words.ts';
import { withRetries } from '../../../retry.ts';
import type { GitBlob } from '../../../rules/fingerprint.ts';
import type { LocalFile } from '../../../rules/inspect.ts';
import { withVersion } from '../../../rules/naming.ts';
import { DEPLOY_RECORD_PATH } from '../../../rules/special-files.ts';
import type { PagesOptions } from '../destination.ts';

/** The file in a deployed site that lists its content and who deployed it. */
export interface DeployRecord {
  /** `null` for a folder without a branch. */
  readonly branch: string | null;
  readonly commit: string;
  readonly deliverer?: Deliverer | undefined;
  readonly files: ReadonlyMap<string, GitBlob>;
}

export function formatDeployRecord({ branch, commit, deliverer, files }: DeployRecord): Buffer {
  const list = [...files].map(([path, { sha, size }]) => ({ path, size, blob: sha }));
  const by = deliverer && { name: deliverer.name, run: deliverer.run };
  const about = { tool: TOOL.name, version: TOOL.version, branch, commit, from: by };
  return Buffer.from(`${JSON.stringify({ ...about, files: list })}\n`);
}

function parseDeployRecord(text: string): DeployRecord | null {
  const { tool, branch, commit, from, files } = toFields(parseJson(text));
  if (tool !== TOOL.name || typeof commit !== 'string' || !Array.isArray(files)) return null;
  const entries = new Map<string, GitBlob>();
  for (const { path, size, blob } of files.map(toFields)) {
    if (typeof path !== 'string' || typeof blob !== 'string' || typeof size !== 'number') return null;
    entries.set(path, { sha: blob, size });
  }
  const { name, run } = toFields(from);
  // Anybody may have written this file, and messages quote it.
  const isShort = (value: unknown): value is string =>
    typeof value === 'string' && value.length <= TEXT.message;
  const by = isShort(name) && isShort(run) ? { name, run } : undefined;
  return { branch: isShort(branch) ? branch : null, commit, deliverer: by, files: entries };
}

const LONGEST = 8_000_000;

/** The live site: `none` if nothing is deployed, `foreign` if another tool deployed it. */
export type LiveSite = DeployRecord | 'none' | 'foreign';

/** Reads the live site's record. A missing record must be seen twice, unless GitHub says that no site exists. */
export async function readDeployRecord(root: URL, ports: Ports): Promise<LiveSite> {
  const live = await requestDeployRecord(root, ports);
  return live === 'foreign' ? requestDeployRecord(root, ports) : live;
}

const requestDeployRecord = (root: URL, ports: Ports): Promise<LiveSite> =>
  withRetries(ports, async () => {
    const { clock, random, signal } = ports;
    // Two jobs may send a request in the same moment.
    const stamp = `${clock.date()}${Math.floor(random() * 1_000_000)}`;
    const url = withVersion(new URL(DEPLOY_RECORD_PATH, root), stamp);
    const { response } = await followRedirects(ports.http, url, { signal, guard: () => undefined });
    const { status } = response;
    // Tiny chunks never reach the stall limit, so the body has a deadline.
    addAbortSignal(clock.timeout(EXCHANGE.api), response.body);
    const text = await readText(response, LONGEST).catch((thrown: unknown) => {
      throw connectionError(thrown, { url, signal });
    });
    if (status === 200) return parseDeployRecord(text) ?? 'foreign';
    if (isAbsence(status)) return NO_SITE.test(text) ? 'none' : 'foreign';
    const message = `the site at ${root.hostname} answers HTTP ${status}, so it is unknown who deployed it`;
    throw new DeliveryError('HOST_ERROR', message, {
      httpCode: status,
      hint: (w) =>
        `try again${w.orSet('overwrite', 'true', ' for a delivery that may replace the whole site')}`,
      retryable: true,
    });
  });

const NO_SITE = /there isn[’']t a github pages site here/i;

/**
 * Without a branch, nothing tells which folder is newer. @throws {DeliveryError} `CONFLICT` unless `known` has the
 * live site
 */
export function refuseOtherSite(live: LiveSite, known: readonly LiveSite[], root: URL): void {
  if (known.some((site) => isSameSite(site, live))) return;
  const message = `somebody deployed the site at ${root.hostname} meanwhile: it is ${nameSite(live)}`;
  throw new DeliveryError('CONFLICT', message, {
    hint: 'deliver again if this is the newer one',
    leftBehind: [],
  });
}

/** Compares content, whichever run deployed it. Any commit of the same branch counts as equal. */
function isSameSite(site: LiveSite, other: LiveSite): boolean {
  if (typeof site === 'string' || typeof other === 'string') return site === other;
  if (site.branch !== null) return site.branch === other.branch;
  const format = (site: DeployRecord): string => `${formatDeployRecord({ ...site, deliverer: undefined })}`;
  return format(site) === format(other);
}

function nameSite(live: LiveSite): string {
  if (live === 'none') return 'empty';
  if (live === 'foreign') return 'deployed by another tool';
  const { branch, commit, deliverer } = live;
  if (branch !== null) return `deployed from the branch ${branch}`;
  const whose = deliverer === undefined ? 'by this tool' : `by ${nameDeliverer(deliverer)}`;
  return `deployed ${whose} without a branch (commit ${commit.slice(0, 7)})`;
}

export function refuseForeignSite(
  live: LiveSite,
  root: URL,
  {
    branch = null,
    deliverer,
  }: Pick<PagesOptions, 'deliverer'> & { readonly branch?: string | null | undefined },
): void {
  if (live === 'none') return;
  const other = live === 'foreign' ? null : live.branch;
  const isOwn = live !== 'foreign' && other === branch;
  if (isOwn && (branch !== null || live.deliverer?.name === deliverer?.name)) return;
  const message = `the site at ${root.hostname} is ${nameSite(live)}, and a deployment replaces all of it`;
  throw new DeliveryError('NOT_OURS', message, {
    step: 'check',
    hint: (w) =>
      other !== null
        ? `set ${w.input('branch', other)}${w.orSet('overwrite', 'true', ' to replace the whole site')}`
        : `set ${w.input('overwrite', 'true')} once, if the whole site may be replaced`,
  });
}

/** Checks after the proof that no other job replaced the site. @returns UNKNOWN lines, or `NOT_PROVEN` */
export async function recheckSite(
  { root, live: before }: { readonly root: URL; readonly live: LiveSite | null },
  files: readonly FileWrite<LocalFile>[],
  ports: Ports,
): Promise<Result<readonly string[]>> {
  const live = await resultOf(() => readDeployRecord(root, ports));
  if (hasFailed(live)) return [`whether the site is still this one after its verification: ${live.message}`];
  const isOwn =
    typeof live !== 'string' && files.every(({ path, file }) => live.files.get(path)?.sha === file.blobSha);
  if (isOwn || (before !== null && isSameSite(before, live))) return [];
  return new DeliveryError('NOT_PROVEN', `the site at ${root.hostname} is now ${nameSite(live)}`, {
    hint: 'deliver again if this is the newer one, and let one workflow alone deploy the site',
  });
}
