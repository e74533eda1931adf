import { poll } from '../async.ts';
import type { HostProgress, Placement, PreparedTask } from '../channels/channel.ts';
import { DeliveryError } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { SECOND } from '../protocol/limits.ts';
import {
  type ContentMatch,
  countMarker,
  type ExpectedContent,
  isProof,
  type ProbeResult,
  type UrlProbe,
} from './url-probe.ts';

/** How long, and how often, the address is asked. */
export interface WaitLimits {
  /** Milliseconds between two requests. */
  readonly interval: number;
  /** Milliseconds that build and verification may take together. */
  readonly timeout: number;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
}

/** What verification found: the evidence for G3. */
export interface Proof {
  readonly httpCode: number;
  /** `null` without a marker. */
  readonly markerCount: number | null;
  /** SHA-256 of the body, lowercase hex; `null` where nothing is served any more. */
  readonly sha256: string | null;
  /** How the body relates to the file. */
  readonly match: ContentMatch;
  readonly hosts: readonly string[];
  /** How often the address was asked. */
  readonly attempts: number;
}

/**
 * WAIT: until the address shows the file, or the host says that it has finished.
 *
 * @throws {DeliveryError} `BUILD_ERRORED`, or `BUILD_TIMEOUT` at the deadline.
 * @see protocol 3.2, 8
 */
export async function waitForSite(
  task: PreparedTask,
  { placement, probe }: { readonly placement: Placement; readonly probe: UrlProbe },
  limits: WaitLimits,
  ports: Ports,
): Promise<void> {
  if (task.watch === undefined) return;
  let progress: HostProgress = { finished: false, detail: 'the host was not asked yet' };
  const log = createWaitLog('waited for the site', limits, ports);
  const finished = await poll({ ...limits, ...ports }, async () => {
    const result = await probe.probe();
    if (isProof(result)) return `the site shows it: ${describeProbe(result)}`;
    if (result.match === 'login') throw loginPageError(result);
    progress = (await task.watch?.(placement)) ?? progress;
    log.write(`${describeProbe(result)}; ${progress.detail}`);
    return progress.finished ? progress.detail : undefined;
  }).finally(log.end);
  if (finished !== undefined) return ports.logger.info(finished);
  const seconds = limits.timeout / SECOND;
  throw new DeliveryError(
    'BUILD_TIMEOUT',
    `the site did not show the file within ${seconds} s: ${describeProbe(probe.last)}; ${progress.detail}`,
    {
      httpCode: probe.last?.httpCode ?? progress.httpCode,
      hint:
        (probe.last?.httpCode === 429 ? BUSY_HINT : progress.hint) ??
        'run the step again: the file is committed, so it only verifies',
    },
  );
}

/**
 * VERIFY: fetches the address back until it shows the bytes of the file. A body that only has the marker counts
 * at the deadline alone, only from a host that may rightly change the bytes, and UNKNOWN then says so.
 *
 * @throws {DeliveryError} `NOT_PROVEN` at the deadline, with what the address showed last.
 * @see protocol 4.5
 */
export async function verifyAddress(
  { hostMayChangeBytes }: Pick<Placement, 'hostMayChangeBytes'>,
  { probe, expected }: { readonly probe: UrlProbe; readonly expected: ExpectedContent },
  limits: WaitLimits,
  ports: Ports,
): Promise<Proof> {
  const result =
    (probe.last !== null && isProof(probe.last) ? probe.last : await pollForProof(probe, limits, ports)) ??
    (hostMayChangeBytes && probe.last?.match === 'altered' ? probe.last : undefined);
  if (result === undefined || result.httpCode === null) throw notProvenError(probe.last);
  ports.logger.info(describeProbe(result));
  return {
    httpCode: result.httpCode,
    markerCount: countMarker(result, expected),
    sha256: result.fingerprint?.sha256 ?? null,
    match: result.match,
    hosts: result.hosts,
    attempts: probe.attempts,
  };
}

function pollForProof(probe: UrlProbe, limits: WaitLimits, ports: Ports): Promise<ProbeResult | undefined> {
  const log = createWaitLog('waited for the address', limits, ports);
  return poll({ ...limits, ...ports }, async () => {
    const result = await probe.probe();
    if (isProof(result)) return result;
    if (result.match === 'login') throw loginPageError(result);
    log.write(describeProbe(result));
    return undefined;
  }).finally(log.end);
}

/** Logs a wait: a line when something changed, and how much of the time is over. */
function createWaitLog(title: string, { deadline, timeout }: WaitLimits, { clock, logger }: Ports) {
  const begun = deadline - timeout;
  const progress = logger.progress(title, timeout, 'milliseconds');
  let lastLine = '';
  let shown = 0;
  return {
    write(line: string): void {
      const elapsed = clock.now() - begun;
      if (line !== lastLine) logger.info(`${(elapsed / SECOND).toFixed(0)} s: ${line}`);
      lastLine = line;
      progress.advance(elapsed - shown);
      shown = elapsed;
    },
    end: () => progress.end(),
  };
}

/** What each match means to a person. */
const DESCRIPTIONS: Readonly<Record<ContentMatch, string>> = {
  identical: 'the file, byte for byte',
  marked: 'the marker',
  gone: 'nothing any more',
  altered: 'the marker, but other bytes than the file',
  previous: 'the content from before',
  'cut-short': 'only the beginning of the file',
  different: 'other content without the marker',
  login: 'a login page: the host is in private mode, or the address is not public',
  absent: 'no page',
};

/** One answer in words; never the address itself, which is not proven yet. */
export function describeProbe(result: ProbeResult | null): string {
  if (result === null) return 'the address was not asked yet';
  if (result.failure !== undefined) return result.failure.message;
  const code = result.httpCode === null ? 'no answer' : `HTTP ${result.httpCode}`;
  return result.match === 'absent'
    ? `the address answers ${code}`
    : `the address answers ${code} with ${DESCRIPTIONS[result.match]}`;
}

/** @see protocol 7 (final URL does not answer 200 or lacks the marker) */
function notProvenError(result: ProbeResult | null): DeliveryError {
  return new DeliveryError('NOT_PROVEN', `the address was not proven in time: ${describeProbe(result)}`, {
    httpCode: result?.httpCode ?? undefined,
    hint: result?.failure?.hint ?? (result?.httpCode === 429 ? BUSY_HINT : HINTS[result?.match ?? 'absent']),
    cause: result?.failure,
  });
}

/** A login page never becomes the file, so there is no point in waiting. @see protocol 1 (rule 2) */
function loginPageError(result: ProbeResult): DeliveryError {
  return new DeliveryError('NOT_EXTERNAL', describeProbe(result), {
    httpCode: result.httpCode ?? undefined,
    hint: HINTS.login,
  });
}

/** @see https://docs.github.com/pages/getting-started-with-github-pages/github-pages-limits */
const BUSY_HINT =
  'the host limits requests for a while: run the step again later, or use another channel; a GitHub Pages site has soft limits of 10 builds an hour, 100 GB a month and 1 GB in all';

const HINTS: Readonly<Partial<Record<ContentMatch, string>>> = {
  altered:
    "the host changes the file: commit an empty .nojekyll to the site's root, or remove the front matter from the file",
  previous:
    'a cache still answers with the old page: run the step again in ten minutes, or set `path:` to a new name',
  'cut-short': 'the host answers incompletely: run the step again, or use another channel',
  different: 'check that the marker is plain text of the file, and that the address belongs to it',
  login:
    'make the address public (a GitHub Enterprise in private mode shows sites to anybody only with Management Console → Pages → Public Pages), or use channel: K3',
  absent: 'check that the address is public, or run the step again',
};
