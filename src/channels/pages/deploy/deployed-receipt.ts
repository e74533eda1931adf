import { DeliveryError } from '../../../errors.ts';
import { fetchBack } from '../../../http/fetch-back.ts';
import { isAbsence } from '../../../http/response.ts';
import { parseJson, toFields } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { TOOL } from '../../../protocol/words.ts';
import { withRetries } from '../../../retry.ts';
import type { GitBlob } from '../../../rules/fingerprint.ts';

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

function parseReceipt(text: string | null): DeployedReceipt | null {
  const { tool, branch, commit, files } = toFields(parseJson(text ?? ''));
  if (tool !== TOOL.name || typeof commit !== 'string' || !Array.isArray(files)) return null;
  const entries = files
    .map(toFields)
    .map(({ path, size, blob }): [string, GitBlob] => [
      String(path),
      { sha: String(blob), size: Number(size) },
    ]);
  return { branch: typeof branch === 'string' ? branch : null, commit, files: new Map(entries) };
}

/** Bytes of the longest receipt that is read. */
const LONGEST = 8_000_000;

/**
 * What the live site says of itself.
 *
 * @returns `none` where nothing is live, `foreign` where another tool deployed what is
 */
export async function readDeployedReceipt(
  root: URL,
  ports: Ports,
): Promise<DeployedReceipt | 'none' | 'foreign'> {
  const receipt = parseReceipt(await fetchLive(new URL(RECEIPT_PATH, root), ports));
  if (receipt !== null) return receipt;
  return withRetries(ports, async () => {
    const first = await fetchLive(root, ports);
    const second = await fetchLive(root, ports);
    // A site may be replaced by what this says: only what two looks agree on counts.
    if ((first === null) !== (second === null)) throw unclearError(root, 'answers now so and now so');
    return first === null ? 'none' : 'foreign';
  });
}

/** The text at an address of the site; `null` where there is nothing. */
const fetchLive = (address: URL, ports: Ports): Promise<string | null> =>
  withRetries(ports, async () => {
    const { http, clock, random, signal } = ports;
    const url = new URL(address);
    // No cache has an answer to this; two jobs may ask in the same moment.
    url.searchParams.set('v', `${clock.now()}${Math.floor(random() * 1_000_000)}`);
    const options = { signal, guard: () => undefined, readAtMost: LONGEST, headSize: LONGEST };
    const { httpCode, head } = await fetchBack(http, url, options, []);
    if (isAbsence(httpCode)) return null;
    if (httpCode !== 200) throw unclearError(address, `answers HTTP ${httpCode}`, httpCode);
    return Buffer.from(head, 'latin1').toString();
  });

const unclearError = ({ hostname }: URL, problem: string, httpCode?: number): DeliveryError =>
  new DeliveryError('HOST_ERROR', `the site at ${hostname} ${problem}, so it is not known who deployed it`, {
    httpCode,
    hint: (w) =>
      `try again; to deliver, set ${w.input('overwrite', 'true')} if the whole site may be replaced`,
    retryable: true,
  });

/** Whether a deployment would change nothing. */
export function hasSameFiles(live: DeployedReceipt, wanted: DeployedReceipt): boolean {
  const isSame = ([path, { sha }]: [string, GitBlob]): boolean => live.files.get(path)?.sha === sha;
  return (
    live.branch === wanted.branch && live.files.size === wanted.files.size && [...wanted.files].every(isSame)
  );
}

/** A deployment replaces the whole site. @throws {DeliveryError} `NOT_OURS` where somebody else deployed it. */
export function refuseForeignSite(
  live: DeployedReceipt | 'none' | 'foreign',
  root: URL,
  branch: string | null,
): void {
  if (live === 'none' || (live !== 'foreign' && live.branch === branch)) return;
  const by =
    live === 'foreign'
      ? 'was not deployed by this tool'
      : live.branch === null
        ? 'is a folder that this tool deployed without a branch'
        : `is that of the branch ${live.branch}`;
  throw new DeliveryError(
    'NOT_OURS',
    `the site at ${root.hostname} ${by}, and a deployment replaces all of it`,
    {
      step: 'check',
      hint: (w) =>
        live !== 'foreign' && live.branch !== null
          ? `set ${w.input('branch', live.branch)}, or ${w.input('overwrite', 'true')} to replace the whole site`
          : `set ${w.input('overwrite', 'true')} once, if the whole site may be replaced`,
      leftBehind: [],
    },
  );
}
