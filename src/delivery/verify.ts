import { poll } from '../async.ts';
import type { LiveStatus, Placement, PreparedUpload } from '../channels/channel.ts';
import { DeliveryError, toDeliveryError } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { SECOND } from '../protocol/limits.ts';
import { type ContentMatch, isProof, type ProbeResult, type UrlProbe } from './url-probe.ts';

/** How long, and how often, the delivery looks. */
export interface WaitLimits {
  /** Milliseconds between two looks. */
  readonly interval: number;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  /** Milliseconds that build and verification may take together. */
  readonly timeout: number;
}

/** What verification saw: the evidence for G3. */
export interface Proof {
  readonly httpCode: number;
  /** `null` without a marker. */
  readonly markerCount: number | null;
  /** SHA-256 of the body, lowercase hex; `null` where nothing is served any more. */
  readonly sha256: string | null;
  /** How far the body is the file. */
  readonly match: ContentMatch;
  readonly hosts: readonly string[];
  /** How often the address was asked. */
  readonly attempts: number;
}

/**
 * WAIT: until the address already shows the file's bytes, or the host says that it has finished.
 *
 * @throws {DeliveryError} `BUILD_ERRORED`, or `BUILD_TIMEOUT` at the deadline.
 * @see protocol 3.2, 8
 */
export async function waitForSite(
  intent: PreparedUpload,
  placement: Placement,
  witness: UrlProbe,
  patience: WaitLimits,
  ports: Ports,
): Promise<void> {
  if (intent.watch === undefined) return;
  let state: LiveStatus = { finished: false, detail: 'the host was not asked yet' };
  const follow = createWaitLog('waited for the site', patience, ports);
  const live = await poll({ ...patience, ...ports }, async () => {
    const sight = await witness.probe();
    if (isProof(sight)) return `the site is there: ${describeProbe(sight)}`;
    if (sight.match === 'login') throw loginPageError(sight);
    state = (await intent.watch?.(placement)) ?? state;
    follow.tell(`${describeProbe(sight)}; ${state.detail}`);
    return state.finished ? state.detail : undefined;
  }).finally(follow.end);
  if (live !== undefined) return ports.logger.info(live);
  const seconds = patience.timeout / SECOND;
  throw new DeliveryError(
    'BUILD_TIMEOUT',
    `the site did not show the file within ${seconds} s: ${describeProbe(witness.last)}; ${state.detail}`,
    {
      httpCode: witness.last?.httpCode ?? state.httpCode,
      hint: state.hint ?? 'run the step again: the file is placed, so it only verifies',
    },
  );
}

/**
 * VERIFY: fetches the address back until it shows the file's very bytes. A body that merely holds the
 * marker is believed only at the deadline, only from a host that may rightly change the bytes, and never
 * silently: the report's UNKNOWN says so.
 *
 * @throws {DeliveryError} `NOT_PROVEN` at the deadline, with what the address showed last.
 * @see protocol 4.5
 */
export async function verifyAddress(
  placement: Placement,
  witness: UrlProbe,
  patience: WaitLimits,
  ports: Ports,
): Promise<Proof> {
  const follow = createWaitLog('waited for the address', patience, ports);
  const known = witness.last !== undefined && isProof(witness.last) ? witness.last : undefined;
  const sight =
    known ??
    (await poll({ ...patience, ...ports }, async () => {
      const seen = await witness.probe();
      if (isProof(seen)) return seen;
      if (seen.match === 'login') throw loginPageError(seen);
      follow.tell(describeProbe(seen));
      return undefined;
    }).finally(follow.end)) ??
    (placement.hostMayChangeBytes && witness.last?.match === 'altered' ? witness.last : undefined);
  if (sight?.httpCode == null) throw notProvenError(witness.last);
  ports.logger.info(describeProbe(sight));
  return {
    httpCode: sight.httpCode,
    markerCount: witness.markerCount(sight),
    sha256: sight.fingerprint?.sha256 ?? null,
    match: sight.match,
    hosts: sight.hosts,
    attempts: witness.attempts,
  };
}

/** Tells of a wait: a line when something changed, and how much of the time is gone. */
function createWaitLog(title: string, { deadline, timeout }: WaitLimits, { clock, logger }: Ports) {
  const begun = deadline - timeout;
  const meter = logger.progress(title, timeout, 'milliseconds');
  let told = '';
  let shown = 0;
  return {
    tell(line: string): void {
      const elapsed = clock.now() - begun;
      if (line !== told) logger.info(`${(elapsed / SECOND).toFixed(0)} s: ${line}`);
      told = line;
      meter.advance(elapsed - shown);
      shown = elapsed;
    },
    end: () => meter.end(),
  };
}

/** What each kind of sight means to a person. */
const MEANINGS: Readonly<Record<ContentMatch, string>> = {
  identical: 'the file, byte for byte',
  marked: 'the marker',
  gone: 'nothing any more',
  altered: "the marker, but not in the file's own bytes",
  previous: 'what stood there before',
  'cut-short': 'only the beginning of the file',
  different: 'something that is not the file and lacks the marker',
  login: 'a login page: the host is in private mode, or the address is not public',
  absent: 'no page',
};

function describeProbe(sight: ProbeResult | undefined): string {
  if (sight === undefined) return 'the address was not asked yet';
  if (sight.failure !== undefined) return sight.failure.message;
  const code = sight.httpCode === null ? 'no answer' : `HTTP ${sight.httpCode}`;
  return sight.match === 'absent'
    ? `the address answers ${code}`
    : `the address answers ${code} with ${MEANINGS[sight.match]}`;
}

/** @see protocol 7 (final URL does not answer 200 or lacks the marker) */
function notProvenError(sight: ProbeResult | undefined): DeliveryError {
  return new DeliveryError('NOT_PROVEN', `the address was not proven in time: ${describeProbe(sight)}`, {
    httpCode: sight?.httpCode ?? undefined,
    hint: sight?.failure?.hint ?? HINTS[sight?.match ?? 'absent'],
    cause: sight?.failure === undefined ? undefined : toDeliveryError(sight.failure),
  });
}

/** A login page never becomes the file: nobody waits for that. @see protocol 1 (rule 2) */
function loginPageError(sight: ProbeResult): DeliveryError {
  return new DeliveryError('NOT_EXTERNAL', describeProbe(sight), {
    httpCode: sight.httpCode ?? undefined,
    hint: HINTS.login,
  });
}

const HINTS: Readonly<Partial<Record<ContentMatch, string>>> = {
  altered:
    "the host changes the file: commit an empty .nojekyll to the site's root, or leave front matter out of the file",
  previous:
    'a cache still answers with the old page: run the step again in ten minutes, or set `path:` to a new name',
  'cut-short': 'the host answers incompletely: run the step again, or use another channel',
  different: 'check that the marker is plain text of the file, and that the address belongs to it',
  login:
    'make the address public (a GitHub Enterprise in private mode shows sites to anybody only with Management Console → Pages → Public Pages), or use channel: K3',
  absent: 'check that the address is public, or run the step again',
};
