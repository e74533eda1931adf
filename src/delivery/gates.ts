import { GATES, type GateName } from '../protocol/words.ts';
import type { Operation } from '../request/values.ts';
import type { ChannelAttempt } from './channel-attempt.ts';
import type { Gate } from './report.ts';

/** What is missing where a gate is not passed. */
const MISSING: Readonly<Record<GateName, Readonly<Record<Operation, string>>>> = {
  G1_выложено: { deliver: 'the file is not placed', withdraw: 'the file is not removed' },
  G2_финальный_URL: {
    deliver: 'the channel returned no address',
    withdraw: 'the channel returned no address',
  },
  G3_VERIFY_200_и_маркер: {
    deliver: 'the address is not proven',
    withdraw: 'the address is not proven to be empty',
  },
  G4_REPORT: { deliver: 'there is no URL to hand over', withdraw: 'the file may still be served' },
};

/**
 * All four gates after an attempt; without an attempt none is passed. G4 is passed when the report with the URL is
 * handed over, which the first three allow.
 *
 * @see protocol 3.1
 */
export function evaluateGates(attempt: ChannelAttempt | null, operation: Operation): Gate[] {
  return GATES.map((name) => {
    const evidence = attempt === null ? null : findEvidence(name, attempt);
    // What a browser saw is the evidence that a page is not shown.
    const isSeen = name === 'G3_VERIFY_200_и_маркер' && attempt?.failure?.code === 'NOT_SHOWN';
    const missing = isSeen ? attempt.failure.message : MISSING[name][operation];
    return { name, passed: evidence !== null, evidence: evidence ?? missing };
  });
}

function findEvidence(name: GateName, { placement, proof, screen }: ChannelAttempt): string | null {
  if (name === 'G1_выложено') return placement?.evidence ?? null;
  if (name === 'G2_финальный_URL') {
    return placement && (proof === null ? 'an address, withheld until it is proven' : placement.url.href);
  }
  if (proof === null) return null;
  if (name === 'G4_REPORT') return `${proof.match === 'gone' ? 'report' : 'URL and report'} handed over`;
  const shown = screen?.view.verdict === 'shown' ? ', shown in a browser' : '';
  return `HTTP ${proof.httpCode}, ${describeProof(proof)}${shown}`;
}

/** What an address shows once its file is withdrawn. */
export const describeGoneProof = ({ isCached }: NonNullable<ChannelAttempt['proof']>): string =>
  `nothing is served ${isCached ? 'past caches' : 'there'}`;

function describeProof(proof: NonNullable<ChannelAttempt['proof']>): string {
  const { match, markerCount, parts } = proof;
  if (match === 'gone') return describeGoneProof(proof);
  const all = parts === 0 ? 'the file' : `all ${parts + 1} files`;
  const others =
    match === 'extended' ? 'everything of the file, with additions' : 'other bytes than the file';
  const bytes = match === 'identical' ? `bytes identical to ${all}` : others;
  if (markerCount === null) return bytes;
  const marker = `marker found ${markerCount === 1 ? 'once' : `${markerCount} times`}`;
  return match === 'marked' ? marker : `${marker}, ${bytes}`;
}
