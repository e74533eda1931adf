import { addAbortSignal } from 'node:stream';
import { DeliveryError } from '../../../errors.ts';
import { nameDeliverer } from '../../../github/workflow-run.ts';
import { connectionError } from '../../../http/client.ts';
import { followRedirects } from '../../../http/follow.ts';
import { isAbsence, readText } from '../../../http/response.ts';
import { parseJson, toFields } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { EXCHANGE, MEGABYTE, RECEIPT, TEXT } from '../../../protocol/limits.ts';
import { TOOL } from '../../../protocol/words.ts';
import { withRetries } from '../../../retry.ts';
import type { GitBlob } from '../../../rules/fingerprint.ts';
import { urlBelow, withVersion } from '../../../rules/naming.ts';
import { DEPLOY_RECORD_PATH } from '../../../rules/special-files.ts';
import { parseMessage } from '../commit-message.ts';
import { createOwnLookup } from '../delivery-records.ts';
import type { PagesOptions } from '../destination.ts';
import type { DeployRecord, ReceiptDelivery } from './receipt-history.ts';

const FORMAT = 2;

export function formatDeployRecord({ branch, commit, deliverer, ...record }: DeployRecord): Buffer {
  const { id, before, files, deliveries } = record;
  const about = { tool: TOOL.name, version: TOOL.version, branch, commit };
  const by = deliverer && { name: deliverer.name, run: deliverer.run };
  const listed = deliveries.map((delivery) => ({ ...delivery, files: formatFiles(delivery.files) }));
  const own = { format: FORMAT, id, before, deliveries: listed };
  const rest = branch === null ? own : { from: by, files: formatFiles(files) };
  return Buffer.from(`${JSON.stringify({ ...about, ...rest })}\n`);
}

const formatFiles = (files: DeployRecord['files']) =>
  [...files].map(([path, { sha, size }]) => ({ path, size, blob: sha }));

/** Anybody may have written this file, and a delivery fetches, deploys and quotes what it names. */
const SAFE_PATH = /^(?!(?:.*\/)?\.{0,2}(?:\/|$))[^\p{Cc}\\]+$/u;
const GIT_ID = /^[0-9a-f]{40}$/;

/** @throws {DeliveryError} `NOT_OURS` for a newer format */
function parseDeployRecord(text: string, root: URL): DeployRecord | null {
  const { tool, format = FORMAT, branch, commit, id, before, deliveries } = toFields(parseJson(text));
  if (tool !== TOOL.name || typeof commit !== 'string') return null;
  if (typeof format !== 'number') return null;
  if (format > FORMAT) {
    const message = `a newer version of ${TOOL.name} wrote the receipt of the site at ${root.hostname}`;
    throw new DeliveryError('NOT_OURS', message, { hint: `use the newest version of ${TOOL.name}` });
  }
  const common = { commit, before: textsOf(before), files: new Map() };
  if (typeof branch === 'string' && branch.length <= TEXT.message)
    return { ...common, branch, id: `branch ${branch}`, deliveries: [] };
  const read = list(deliveries).map(parseDelivery);
  const known = read.flatMap((delivery) => delivery ?? []);
  const paths = known.flatMap(({ files }) => [...files.keys()]);
  const isWhole = known.length > 0 && known.length === read.length && new Set(paths).size === paths.length;
  return isWhole && isGitId(id) ? { ...common, branch: null, id, deliveries: known } : null;
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();
const textsOf = (value: unknown): readonly string[] => list(value).filter(isText);
const isGitId = (value: unknown): value is string => isText(value) && GIT_ID.test(value);

function parseFiles(listed: unknown): Map<string, GitBlob> | null {
  const files = new Map<string, GitBlob>();
  for (const { path, size, blob } of Array.isArray(listed) ? listed.map(toFields) : [{}]) {
    if (!isText(path) || !SAFE_PATH.test(path) || path === DEPLOY_RECORD_PATH) return null;
    if (!isGitId(blob) || !Number.isSafeInteger(size)) return null;
    files.set(path, { sha: blob, size: Math.max(Number(size), 0) });
  }
  return files;
}

/** A delivery whose message is ours, with files at its paths; otherwise `null`. */
function parseDelivery(value: unknown): ReceiptDelivery | null {
  const { id, time, message, files: listed, removed } = toFields(value);
  const files = parseFiles(listed);
  if (!isGitId(id) || !isText(time) || Number.isNaN(Date.parse(time))) return null;
  if (!isText(message) || message.length > RECEIPT.message) return null;
  const parsed = parseMessage(message);
  if (!files || !parsed || ![...files.keys()].every(createOwnLookup(parsed))) return null;
  return { id, time, message, files, removed: textsOf(removed) };
}

const UNKNOWN = { before: [], branch: null, commit: '', files: new Map(), deliveries: [] } as const;
/** The live site if nothing is deployed, and if another tool deployed it. */
export const NO_SITE: DeployRecord = { ...UNKNOWN, id: 'none' };
export const FOREIGN_SITE: DeployRecord = { ...UNKNOWN, id: 'foreign' };

export const hasRecord = (live: DeployRecord): boolean => live !== NO_SITE && live !== FOREIGN_SITE;

/** Whether a site without a branch may be deployed on top of it. */
export const isReceipt = (live: DeployRecord): boolean => live !== FOREIGN_SITE && live.branch === null;

/** Reads the live site's record. A missing record must be seen twice in a row. */
export async function readDeployRecord(root: URL, ports: Ports): Promise<DeployRecord> {
  let live = await requestDeployRecord(root, ports);
  for (let seen: unknown, left = 3; !hasRecord(live) && live !== seen && left > 0; left -= 1) {
    seen = live;
    live = await requestDeployRecord(root, ports);
  }
  return live;
}

const requestDeployRecord = (root: URL, ports: Ports): Promise<DeployRecord> =>
  withRetries(ports, async () => {
    const { response, url } = await requestLive(root, DEPLOY_RECORD_PATH, EXCHANGE.api, ports);
    const { status } = response;
    const text = await readLive({ response, url }, RECEIPT.bytes, ports, largeReceiptError(root, 'has'));
    if (status === 200) return parseDeployRecord(text, root) ?? FOREIGN_SITE;
    if (isAbsence(status)) return EMPTY.test(text) && (await isEmpty(root, ports)) ? NO_SITE : FOREIGN_SITE;
    const message = `the site at ${root.hostname} answers HTTP ${status}, so it is unknown who deployed it`;
    throw new DeliveryError('HOST_ERROR', message, {
      httpCode: status,
      hint: (w) =>
        `try again${w.orSet('overwrite', 'true', ' for a delivery that may replace the whole site')}`,
      retryable: true,
    });
  });

/** Whether the host says so of the whole site, and not only of one file. */
async function isEmpty(root: URL, ports: Ports): Promise<boolean> {
  const live = await requestLive(root, '', EXCHANGE.api, ports);
  return isAbsence(live.response.status) && EMPTY.test(await readLive(live, MEGABYTE, ports));
}

type LiveAnswer = Awaited<ReturnType<typeof requestLive>>;

const readLive = (
  { response, url }: LiveAnswer,
  limit: number,
  { signal }: Ports,
  excess?: DeliveryError,
): Promise<string> =>
  readText(response, limit, excess).catch((thrown: unknown) => {
    throw connectionError(thrown, { url, signal });
  });

/** Fetches a path of the live site past all caches. @param time until the end of the body: tiny chunks never stall */
export async function requestLive(root: URL, path: string, time: number, ports: Ports) {
  const { http, clock, random, signal } = ports;
  // Two jobs may send a request in the same moment.
  const url = withVersion(urlBelow(root, path), `${clock.date()}${Math.floor(random() * 1_000_000)}`);
  const { response } = await followRedirects(http, url, { signal, guard: () => undefined });
  addAbortSignal(clock.timeout(time), response.body);
  return { response, url };
}

export const largeReceiptError = (root: URL, verb: 'has' | 'would have'): DeliveryError =>
  new DeliveryError(
    'TOO_LARGE',
    `the receipt of the site at ${root.hostname} ${verb} more than ${RECEIPT.bytes / MEGABYTE} MB`,
    {
      hint: (w) =>
        `withdraw older deliveries, or set ${w.input('branch', 'gh-pages')} to keep the site there`,
      leftBehind: [],
    },
  );

const EMPTY = /there isn[’']t a github pages site here/i;

/** @throws {DeliveryError} `CONFLICT` unless `known` has the live site */
export function refuseOtherSite(live: DeployRecord, known: readonly DeployRecord[], root: URL): void {
  if (known.some(({ id }) => id === live.id)) return;
  const message = `somebody deployed the site at ${root.hostname} meanwhile: it is ${nameSite(live)}`;
  throw new DeliveryError('CONFLICT', message, {
    hint: 'deliver again if this is the newer one',
    leftBehind: [],
  });
}

export function nameSite(live: DeployRecord): string {
  if (live === NO_SITE) return 'empty';
  if (live === FOREIGN_SITE) return 'deployed by another tool';
  const { branch, deliveries } = live;
  if (branch !== null) return `deployed from the branch ${branch}`;
  const { deliverer } = parseMessage(deliveries[0]?.message ?? '') ?? {};
  return `deployed ${deliverer === undefined ? 'by this tool' : `by ${nameDeliverer(deliverer)}`} without a branch`;
}

/** @throws {DeliveryError} `NOT_OURS`: a deployment would drop the files of a site that this tool didn't deploy */
export function refuseForeignSite(live: DeployRecord, root: URL, options: PagesOptions): void {
  const { branch = null, isRemoval = false } = options;
  const other = live.branch;
  if (live === NO_SITE || (live !== FOREIGN_SITE && other === branch) || mayReplaceSite(options)) return;
  const message = `the site at ${root.hostname} is ${nameSite(live)}, and a deployment replaces all of it`;
  throw new DeliveryError('NOT_OURS', message, {
    step: 'check',
    hint: (w) =>
      other !== null
        ? `set ${w.input('branch', other)}${isWholeSite(options) ? w.orSet('overwrite', 'true', ' to replace the whole site') : ''}`
        : live !== FOREIGN_SITE
          ? `leave ${w.input('branch')} out`
          : isRemoval
            ? 'leave it there: this tool did not deliver it'
            : `set ${isWholeSite(options) ? '' : `${w.input('path', './')} and `}${w.input('overwrite', 'true')} once, if the whole site may be replaced`,
  });
}

const isWholeSite = ({ path, confine }: PagesOptions): boolean => path === './' && confine === undefined;

/** Whether a delivery may replace the whole site, whoever deployed it. */
export const mayReplaceSite = (options: PagesOptions): boolean =>
  options.overwrite && (options.branch !== undefined || (isWholeSite(options) && !options.isRemoval));
