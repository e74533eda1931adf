import { addAbortSignal } from 'node:stream';
import { DeliveryError } from '../../../errors.ts';
import { connectionError } from '../../../http/client.ts';
import { followRedirects } from '../../../http/follow.ts';
import { isAbsence, readText } from '../../../http/response.ts';
import { parseJson, toFields } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { EXCHANGE } from '../../../protocol/limits.ts';
import { TOOL } from '../../../protocol/words.ts';
import { withRetries } from '../../../retry.ts';
import type { GitBlob } from '../../../rules/fingerprint.ts';
import { withVersion } from '../../../rules/naming.ts';

/** Where the receipt of a deployed site is. */
export const RECEIPT_PATH = '.well-known/screen-delivery.json';

/** What a site that this tool deployed says of itself. */
export interface DeployedReceipt {
  /** The branch whose files it has; `null` for a folder that is on no branch. */
  readonly branch: string | null;
  readonly commit: string;
  /** What each path holds. */
  readonly files: ReadonlyMap<string, GitBlob>;
}

/** The receipt as JSON, in the same order for the same files. */
export function formatDeployedReceipt({ branch, commit, files }: DeployedReceipt): Buffer {
  const list = [...files].map(([path, { sha, size }]) => ({ path, size, blob: sha }));
  const about = { tool: TOOL.name, version: TOOL.version, branch, commit };
  return Buffer.from(`${JSON.stringify({ ...about, files: list })}\n`);
}

function parseReceipt(text: string): DeployedReceipt | null {
  const { tool, branch, commit, files } = toFields(parseJson(text));
  if (tool !== TOOL.name || typeof commit !== 'string' || !Array.isArray(files)) return null;
  const entries = new Map<string, GitBlob>();
  for (const { path, size, blob } of files.map(toFields)) {
    if (typeof path !== 'string' || typeof blob !== 'string' || typeof size !== 'number') return null;
    entries.set(path, { sha: blob, size });
  }
  return { branch: typeof branch === 'string' ? branch : null, commit, files: entries };
}

/** Bytes of the longest receipt that is read. */
const LONGEST = 8_000_000;

/** What is live: `none` where nothing is, `foreign` where another tool deployed it. */
export type LiveSite = DeployedReceipt | 'none' | 'foreign';

/**
 * What the live site says of itself. Only GitHub's own words, at any address, say that nothing is live; else one look
 * is no more than an answer, and a second one has to agree.
 */
export async function readDeployedReceipt(root: URL, ports: Ports): Promise<LiveSite> {
  const live = await lookAtReceipt(root, ports);
  return live === 'foreign' ? lookAtReceipt(root, ports) : live;
}

const lookAtReceipt = (root: URL, ports: Ports): Promise<LiveSite> =>
  withRetries(ports, async () => {
    const { clock, random, signal } = ports;
    // Two jobs may ask in the same moment.
    const stamp = `${clock.date()}${Math.floor(random() * 1_000_000)}`;
    const url = withVersion(new URL(RECEIPT_PATH, root), stamp);
    const { response } = await followRedirects(ports.http, url, { signal, guard: () => undefined });
    const { status } = response;
    // An answer that arrives in very small pieces would never reach the stall limit.
    addAbortSignal(clock.timeout(EXCHANGE.api), response.body);
    const text = await readText(response, LONGEST).catch((thrown: unknown) => {
      throw connectionError(thrown, { url, signal });
    });
    if (status === 200) return parseReceipt(text) ?? 'foreign';
    if (isAbsence(status)) return NO_SITE.test(text) ? 'none' : 'foreign';
    const message = `the site at ${root.hostname} answers HTTP ${status}, so it is not known who deployed it`;
    throw new DeliveryError('HOST_ERROR', message, {
      httpCode: status,
      hint: (w) =>
        `try again; to deliver, set ${w.input('overwrite', 'true')} if the whole site may be replaced`,
      retryable: true,
    });
  });

const NO_SITE = /there isn[’']t a github pages site here/i;

/**
 * Right before a deployment: of a site without a branch nothing tells which of two folders is newer.
 *
 * @param known what may be live: what was live when this was checked, or what is to be deployed; else `CONFLICT`
 */
export function refuseOtherSite(live: LiveSite, known: readonly LiveSite[], root: URL): void {
  const isSame = (one: LiveSite): boolean => {
    if (typeof one === 'string' || typeof live === 'string') return one === live;
    if (live.branch !== null) return one.branch === live.branch;
    return formatDeployedReceipt(one).equals(formatDeployedReceipt(live));
  };
  if (known.some(isSame)) return;
  const what = typeof live === 'string' ? 'not by this tool' : `from commit ${live.commit.slice(0, 7)}`;
  throw new DeliveryError('CONFLICT', `somebody deployed the site at ${root.hostname} meanwhile, ${what}`, {
    hint: 'deliver again if this is the newer one',
    leftBehind: [],
  });
}

/** A deployment replaces the whole site. @throws {DeliveryError} `NOT_OURS` where somebody else deployed it. */
export function refuseForeignSite(live: LiveSite, root: URL, branch: string | null): void {
  if (live === 'none' || (live !== 'foreign' && live.branch === branch)) return;
  const other = live === 'foreign' ? null : live.branch;
  const by =
    other !== null
      ? `is that of the branch ${other}`
      : live === 'foreign'
        ? 'was not deployed by this tool'
        : 'is a folder that this tool deployed without a branch';
  const message = `the site at ${root.hostname} ${by}, and a deployment replaces all of it`;
  throw new DeliveryError('NOT_OURS', message, {
    step: 'check',
    hint: (w) =>
      other !== null
        ? `set ${w.input('branch', other)}, or ${w.input('overwrite', 'true')} to replace the whole site`
        : `set ${w.input('overwrite', 'true')} once, if the whole site may be replaced`,
  });
}
