import { DeliveryError } from '../../../errors.ts';
import { fetchBack } from '../../../http/fetch-back.ts';
import { parseJson, toFields } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { TOOL } from '../../../protocol/words.ts';
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

function parseReceipt(text: string): DeployedReceipt | null {
  const { tool, branch, commit, files } = toFields(parseJson(text));
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
  { http, clock, random, signal }: Pick<Ports, 'http' | 'clock' | 'random' | 'signal'>,
): Promise<DeployedReceipt | 'none' | 'foreign'> {
  const ask = (path: string) => {
    const url = new URL(path, root);
    // No cache has an answer to this; two jobs may ask in the same moment.
    url.searchParams.set('v', `${clock.now()}${Math.floor(random() * 1_000_000)}`);
    const options = { signal, guard: () => undefined, readAtMost: LONGEST, headSize: LONGEST };
    return fetchBack(http, url, options, []);
  };
  const receipt = await ask(RECEIPT_PATH);
  const parsed =
    receipt.httpCode === 200 ? parseReceipt(Buffer.from(receipt.head, 'latin1').toString()) : null;
  if (parsed !== null) return parsed;
  return (await ask('')).httpCode === 404 ? 'none' : 'foreign';
}

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
