import { DeliveryError, hasFailed, resultOf } from '../../../errors.ts';
import { fetchBack } from '../../../http/fetch-back.ts';
import { isAbsence } from '../../../http/response.ts';
import { sendRequest } from '../../../http/send-request.ts';
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
  const entries = new Map<string, GitBlob>();
  for (const { path, size, blob } of files.map(toFields)) {
    // An address outside of the site is nothing that this tool deployed there.
    if (String(path).split('/').includes('..')) return null;
    entries.set(String(path), { sha: String(blob), size: Number(size) });
  }
  return { branch: typeof branch === 'string' ? branch : null, commit, files: entries };
}

/** Bytes of the longest receipt that is read. */
const LONGEST = 8_000_000;

/** What is live: `none` where nothing is, `foreign` where another tool deployed it. */
export type LiveSite = DeployedReceipt | 'none' | 'foreign';

/**
 * What the live site says of itself. Only GitHub's own words say that nothing is live: a site may have no page at its
 * root.
 */
export async function readDeployedReceipt(root: URL, ports: Ports): Promise<LiveSite> {
  const receipt = parseReceipt(await fetchReceipt(new URL(RECEIPT_PATH, root), ports));
  return receipt ?? ((await isNothingLive(root, ports)) ? 'none' : 'foreign');
}

/** The text at the address of the receipt; `null` where there is nothing. */
const fetchReceipt = (address: URL, ports: Ports): Promise<string | null> =>
  withRetries(ports, async () => {
    const options = { signal: ports.signal, guard: () => undefined, readAtMost: LONGEST, headSize: LONGEST };
    const { httpCode, readHead } = await fetchBack(ports.http, stamp(address, ports), options, []);
    if (isAbsence(httpCode)) return null;
    if (httpCode !== 200) throw unclearError(address, httpCode);
    return Buffer.from(readHead(), 'latin1').toString();
  });

/** What else one look may find is no more than an answer; a second one has to agree. */
const isNothingLive = async (root: URL, ports: Ports): Promise<boolean> =>
  (await saysNoSite(root, ports)) || (await saysNoSite(root, ports));

const saysNoSite = (root: URL, ports: Ports): Promise<boolean> =>
  withRetries(ports, async () => {
    const answer = await resultOf(() =>
      sendRequest({ method: 'GET', url: stamp(root, ports), headers: {} }, ports),
    );
    if (hasFailed(answer)) {
      // A page that is too long is that of a site.
      if (answer.code === 'HOST_ERROR') return false;
      throw answer;
    }
    const { status, text } = answer;
    if (status >= 500 || status === 429) throw unclearError(root, status);
    return status === 404 && NO_SITE.test(text);
  });

const NO_SITE = /there isn[’']t a github pages site here/i;

/** No cache has an answer to this; two jobs may ask in the same moment. */
function stamp(address: URL, { clock, random }: Ports): URL {
  const url = new URL(address);
  url.searchParams.set('v', `${clock.now()}${Math.floor(random() * 1_000_000)}`);
  return url;
}

const unclearError = ({ hostname }: URL, httpCode: number): DeliveryError =>
  new DeliveryError(
    'HOST_ERROR',
    `the site at ${hostname} answers HTTP ${httpCode}, so it is not known who deployed it`,
    {
      httpCode,
      hint: (w) =>
        `try again; to deliver, set ${w.input('overwrite', 'true')} if the whole site may be replaced`,
      retryable: true,
    },
  );

/**
 * Looks once more, right before a deployment: of a site without a branch nothing tells which of two folders is newer.
 *
 * @param known what may be live: what was live when this was checked, or what is to be deployed
 * @throws {DeliveryError} `CONFLICT` where something else is
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
    leftBehind: [],
  });
}
