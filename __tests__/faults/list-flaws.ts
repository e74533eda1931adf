import { RETRY, VERIFY_DEADLINE } from '../../src/protocol/limits.ts';
import { RESULTS } from '../../src/protocol/words.ts';
import { createSecretPattern } from '../../src/secret-pattern.ts';
import { NOON } from '../support/ports.ts';
import { fetchAsBrowser } from '../world/client.ts';
import { PUBLIC_ADDRESS } from '../world/public-address.ts';
import type { GitHubWorld } from '../world/world.ts';
import { DELIVERY_FILES } from './delivery-kinds.ts';
import type { DeliveryRun, MatrixCell } from './fault-runner.ts';

/** Hosts that a token may be sent to. */
const TOKEN_HOSTS = new Set(['api.github.com', 'uploads.github.com', 'github.com']);

/** Lists a delivery's flaws; empty if it was verified or correctly refused. */
export async function listFlaws(world: GitHubWorld, run: DeliveryRun, cell?: MatrixCell): Promise<string[]> {
  const { report } = run;
  return [
    ...(!report.ready
      ? checkNotReady(run)
      : await (run.deliveryKind.withdraws ? checkWithdrawn : checkReady)(world, run)),
    ...(await checkDuplicates(run)),
    ...checkLeftovers(run, cell),
    ...checkSite(run),
    ...checkLeaks(run),
    ...checkDuration(run),
  ];
}

/** A ready report has URLs that show the file without credentials. */
async function checkReady(
  world: GitHubWorld,
  { report, deliveryKind, recordedHttp }: DeliveryRun,
): Promise<string[]> {
  const { becomes, file } = deliveryKind;
  const isWanted = (body: Buffer): boolean => becomes?.every((text) => body.includes(text)) === true;
  const bytes = recordedHttp.publicBodies.find(isWanted) ?? Buffer.from(DELIVERY_FILES[file] ?? '');
  const urls = [report.url, report.rawUrl, ...report.duplicates.map(({ url }) => url)];
  const wrong: string[] = [];
  if (report.url === null || report.lines.RESULT !== `${RESULTS.ready} → ${report.url}`) {
    wrong.push(`false ${RESULTS.ready}: ${report.lines.RESULT}`);
  }
  if (!recordedHttp.publicBodies.some((body) => body.equals(bytes)))
    wrong.push('ready, but the bytes were never fetched');
  for (const url of urls) {
    if (url !== null && !(await fetchPublicBytes(world, url)).equals(bytes)) {
      wrong.push(`${url} shows other bytes`);
    }
  }
  return wrong;
}

/** After a withdrawal, the URL no longer shows the file, and the report has no URL. */
async function checkWithdrawn(
  world: GitHubWorld,
  { report, deliveryKind, earlierUrl }: DeliveryRun,
): Promise<string[]> {
  const shown = await fetchPublicBytes(world, earlierUrl ?? '');
  return [
    ...(report.lines.RESULT.startsWith(`${RESULTS.ready}, `) ? [] : [`no ${RESULTS.ready}`]),
    ...(report.url === null ? [] : ['withdrawn, but with an address']),
    ...(shown.equals(Buffer.from(DELIVERY_FILES[deliveryKind.file] ?? ''))
      ? [`${earlierUrl} still shows the file`]
      : []),
  ];
}

/** A report that is not ready has no URL, and names the step, the reason and the change. */
function checkNotReady({ report }: DeliveryRun): string[] {
  const { notReady, lines, url, rawUrl, gates } = report;
  const wrong: string[] = [];
  const must = (holds: boolean, says: string): void => void (holds || wrong.push(says));
  must(url === null && rawUrl === null, 'not ready, but with an address');
  must(lines.RESULT.startsWith(`${RESULTS.notReady} → `), `no ${RESULTS.notReady}`);
  must(notReady !== null && notReady.step.length > 0 && notReady.reason.length > 0, 'no step or no reason');
  must(notReady?.code !== 'INTERNAL', `an internal error: ${notReady?.reason}`);
  must(notReady?.hint !== '', `no hint: ${notReady?.reason}`);
  must(lines.UNKNOWN !== '', 'no UNKNOWN');
  must(!/should work/i.test(Object.values(lines).join()), 'a promise');
  must(!PUBLIC_ADDRESS.test(Object.values(lines).join()), 'an address in the lines');
  must(
    gates.some(({ passed }) => !passed),
    'all gates passed',
  );
  return wrong;
}

/** Commits, assets and releases that were created twice. */
async function checkDuplicates({
  repository,
  commitsBefore,
  report,
  deliveryKind,
}: DeliveryRun): Promise<string[]> {
  const wrong: string[] = [];
  const commits = (await repository.log()).length - commitsBefore;
  if (commits > 1) wrong.push(`${commits} commits`);
  const isOnBranch = !deliveryKind.deploys || deliveryKind.inputs.branch !== undefined;
  const expected = isOnBranch ? 1 : 0;
  if (report.ready && report.channel === 'K1' && commits !== expected)
    wrong.push(`ready with ${commits} commits`);
  const assets = repository.releases().flatMap((release) => release.assets);
  const named = assets.filter(({ name }) => name === 'page.html');
  if (named.length > 1) wrong.push(`${named.length} assets of the name`);
  if (repository.releases().length > 1) wrong.push(`${repository.releases().length} releases`);
  return wrong;
}

/** Unfinished or temporary assets that were left behind, and assets that were lost. */
function checkLeftovers({ repository, deliveryKind }: DeliveryRun, cell?: MatrixCell): string[] {
  const assets = repository.releases().flatMap((release) => release.assets);
  const wrong: string[] = [];
  // If no rename request is ever answered, the new asset can't get its name.
  const kept = cell?.isPermanent === true ? /^(incoming-.*-)?page\.html$/ : /^page\.html$/;
  if (deliveryKind.name === 'K2, over an asset' && !assets.some(({ name }) => kept.test(name))) {
    wrong.push('the earlier asset is lost');
  }
  const half = assets.filter(({ name, state }) => /^incoming-/.test(name) || state === 'starter');
  if (half.length > 0 && cell?.isPermanent !== true)
    wrong.push(`left behind: ${half.map(({ name }) => name)}`);
  return wrong;
}

/** A deployment that loses a file of another delivery, or that went live although the report doesn't tell of it. */
function checkSite({ repository, deliveryKind: { keeps, file, withdraws }, report }: DeliveryRun): string[] {
  if (keeps === undefined) return [];
  const older = DELIVERY_FILES['older.html'];
  const isKept = repository.pages.readLive(keeps)?.equals(Buffer.from(older ?? ''));
  const isLive = [...(repository.pages.liveVersion?.files.keys() ?? [])].some((path) => path.endsWith(file));
  const isTold = report.ready || /deploy|still opens/.test(report.lines.UNKNOWN);
  return [
    ...(isKept ? [] : [`${keeps} is lost`]),
    ...(isLive === !withdraws && !isTold ? [`it is live, and UNKNOWN says ${report.lines.UNKNOWN}`] : []),
  ];
}

/** Where the token leaked. */
function checkLeaks({ token, grantedTokens, logger, report, recordedHttp }: DeliveryRun): string[] {
  const secrets = [token, ...grantedTokens].map((secret) => createSecretPattern(secret));
  const holds = (text: string): boolean => secrets.some(({ isIn }) => isIn(text));
  const wrong: string[] = [];
  if (holds(logger.lines.join('\n'))) wrong.push('the token is in the log');
  if (holds(JSON.stringify(report))) wrong.push('the token is in the report');
  for (const { request, sent } of recordedHttp.requests) {
    if (!TOKEN_HOSTS.has(request.url.host) && holds(sent))
      wrong.push(`the token went to ${request.url.host}`);
  }
  return wrong;
}

function checkDuration({ clock, report }: DeliveryRun): string[] {
  const took = clock.date() - NOON;
  const channels = 1 + report.duplicates.length;
  const most = channels * (RETRY.totalTime + VERIFY_DEADLINE) + RETRY.totalTime;
  return took <= most ? [] : [`it took ${took / 1000} s`];
}

/** Fetches an address anonymously; follows redirects and keeps cookies. */
async function fetchPublicBytes(world: GitHubWorld, start: string): Promise<Buffer> {
  const response = await fetchAsBrowser(world, start);
  return response.status === 200 ? response.bytes : Buffer.from(`HTTP ${response.status}`);
}
