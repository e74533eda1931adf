import { SECOND } from '../protocol/limits.ts';
import { CHANNELS, RESULTS, type ReportLine } from '../protocol/words.ts';
import type { Outcome } from './carry.ts';
import { type Findings, LINK_SUBJECT } from './findings.ts';
import { type FailureReason, formatReason } from './reason.ts';

/**
 * The report's lines.
 *
 * @param proven the address, where every gate is passed
 * @see protocol 4.7
 */
export function composeLines(
  findings: Findings,
  notReady: FailureReason | null,
  proven: string | null,
  unknown: readonly string[],
): Readonly<Record<ReportLine, string>> {
  return {
    CLAIM: oneLine(claim(findings, proven)),
    CODE: oneLine(code(findings)),
    TEST: oneLine(test(findings, notReady)),
    RESULT: oneLine(result(findings, notReady, proven)),
    UNKNOWN: oneLine(unknown.join('; ')),
  };
}

/** Nobody else's words can begin a line of the report. */
const oneLine = (text: string): string => text.replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');

function result(
  { operation, main }: Findings,
  notReady: FailureReason | null,
  proven: string | null,
): string {
  if (notReady !== null) return `${RESULTS.notReady} → ${formatReason(notReady)}`;
  if (operation === 'deliver') return `${RESULTS.ready} → ${proven}`;
  const done = main?.placement?.written === true ? 'is withdrawn' : 'is empty, there was nothing to withdraw';
  return `${RESULTS.ready} → ${proven} ${done}`;
}

function claim({ operation, subject, main }: Findings, url: string | null): string {
  if (operation === 'withdraw') {
    return url === null
      ? `${subject} was to be withdrawn; it is not proven that it is gone`
      : `${subject} no longer opens at ${url}`;
  }
  if (main === null) return `${subject} was to open at a public https address; none is handed over`;
  const { channel, claim } = main.plan;
  if (url === null) {
    return `${subject} was to be shown through ${channel}, ${CHANNELS[channel].title}; no address is handed over`;
  }
  return [`${subject} ${claim} at ${url}`, ...(main.placement?.notes ?? [])].join('; ');
}

function code({ subject, file, main, plan, because, duplicates }: Findings): string {
  const parts = [subject === LINK_SUBJECT ? 'no file' : `file ${subject}`];
  const planned = main?.plan ?? plan;
  if (planned !== null) {
    const { channel, method, destination } = planned;
    parts.push(`channel ${channel} (${CHANNELS[channel].name}), because ${because}`, method, destination);
  }
  const commit = main?.placement?.commitSha;
  if (commit !== undefined) parts.push(`commit ${commit}`);
  if (file !== null) parts.push(`${file.size} bytes`, `sha256 ${file.sha256}`);
  for (const { plan } of duplicates) parts.push(`duplicate ${plan.channel} (${CHANNELS[plan.channel].name})`);
  return parts.join('; ');
}

function test({ main, operation }: Findings, notReady: FailureReason | null): string {
  const proof = main?.proof ?? null;
  if (main?.placement == null) return `nothing was fetched; the delivery ended at step ${notReady?.step}`;
  const parts = [`HTTP ${main.httpCode ?? 'none'}`];
  if (proof === null) parts.push(operation === 'deliver' ? 'marker found: no' : 'not proven to be gone');
  else if (proof.match === 'gone') parts.push('nothing is served there any more');
  else if (proof.markerCount === null) parts.push('marker found: none was given, all bytes compared');
  else parts.push(`marker found: yes, ${proof.markerCount} ×`);
  if (proof !== null && proof.match !== 'marked' && proof.match !== 'gone') {
    parts.push(`bytes identical: ${proof.match === 'identical' ? 'yes' : 'no'}`);
  }
  const { wait } = main.took;
  parts.push(`build time: ${wait === undefined ? 'no build' : `${(wait / SECOND).toFixed(1)} s`}`);
  return parts.join('; ');
}

/** What was not verified. @see protocol 4.7 */
export function listUnknown(
  { operation, failure, file, main, duplicates, subject, unknown: findings }: Findings,
  ready: boolean,
): string[] {
  const unknown = [...findings, ...(main?.unknown ?? [])];
  if (main?.proof?.match === 'altered') {
    unknown.push('the body holds the marker, but is not the file byte for byte');
  }
  if (main?.proof?.match === 'marked') unknown.push('no file was given, so only the marker was compared');
  for (const { plan, failure: failed, unknown: also } of duplicates) {
    unknown.push(...also.map((line) => `${plan.channel}: ${line}`));
    if (failed !== null) unknown.push(`the duplicate on ${plan.channel} is not proven: ${failed.message}`);
  }
  if (ready) return unknown;
  unknown.push(operation === 'deliver' ? leftBehind(main) : 'whether it still opens anywhere');
  if ((failure ?? main?.failure)?.code === 'NO_NETWORK' && file !== null) {
    unknown.push(`the file itself stays at ${subject}, sha256 ${file.sha256}`);
  }
  return unknown;
}

/** What a delivery that is not ready has left in the world. */
function leftBehind(main: Outcome | null): string {
  const nothing = 'everything behind the failing step; nothing was published';
  if (main === null) return nothing;
  const { failure, placement, plan } = main;
  if (placement !== null) {
    return `whether the address will show the file later; it was placed (${placement.evidence}; ${plan.destination})`;
  }
  const refused = failure?.code === 'NO_NETWORK' || Math.floor((failure?.httpCode ?? 0) / 100) === 4;
  return refused ? nothing : `whether a part of the file has arrived (${plan.destination})`;
}
