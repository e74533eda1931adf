import { GATES, type GateName } from '../protocol/words.ts';
import type { Operation } from '../request/values.ts';
import type { ChannelAttempt } from './channel-attempt.ts';

/** A gate with its evidence, or with what is missing. */
export interface Gate {
  readonly name: GateName;
  readonly passed: boolean;
  readonly evidence: string;
}

interface GateCondition {
  /** The evidence, or `null` when the gate is not passed. */
  readonly evidence: (attempt: ChannelAttempt) => string | null;
  readonly missing: Readonly<Record<Operation, string>>;
}

/**
 * The conditions of the gates. G4 is passed when the report with the URL is handed over, which the first three
 * allow.
 *
 * @see protocol 3.1
 */
const CONDITIONS: Readonly<Record<GateName, GateCondition>> = {
  G1_выложено: {
    evidence: ({ placement }) => placement?.evidence ?? null,
    missing: { deliver: 'the file is not placed', withdraw: 'the file is not removed' },
  },
  G2_финальный_URL: {
    evidence: ({ placement, proof }) => {
      if (placement === null) return null;
      return proof === null ? 'an address, withheld until it is proven' : placement.url.href;
    },
    missing: { deliver: 'the channel returned no address', withdraw: 'the channel returned no address' },
  },
  G3_VERIFY_200_и_маркер: {
    evidence: ({ proof, screen }) =>
      proof === null
        ? null
        : `HTTP ${proof.httpCode}, ${describeProof(proof)}${screen?.view.verdict === 'shown' ? ', shown in a browser' : ''}`,
    missing: {
      deliver: 'the address is not proven',
      withdraw: 'the address is not proven to be empty',
    },
  },
  G4_REPORT: {
    evidence: ({ proof }) => {
      if (proof === null) return null;
      return proof.match === 'gone' ? 'report handed over' : 'URL and report handed over';
    },
    missing: { deliver: 'there is no URL to hand over', withdraw: 'the file may still be served' },
  },
};

/** All four gates after an attempt; without an attempt none is passed. */
export function evaluateGates(attempt: ChannelAttempt | null, operation: Operation): Gate[] {
  return GATES.map((name) => {
    const evidence = attempt === null ? null : CONDITIONS[name].evidence(attempt);
    return {
      name,
      passed: evidence !== null,
      evidence: evidence ?? describeMissing(name, attempt, operation),
    };
  });
}

/** What a browser saw is the evidence that a page is not shown. */
function describeMissing(name: GateName, attempt: ChannelAttempt | null, operation: Operation): string {
  const isSeen = name === 'G3_VERIFY_200_и_маркер' && attempt?.failure?.code === 'NOT_SHOWN';
  return isSeen ? attempt.failure.message : CONDITIONS[name].missing[operation];
}

/** What an address shows once its file is withdrawn. */
export const describeGoneProof = ({ isCached }: NonNullable<ChannelAttempt['proof']>): string =>
  isCached ? 'nothing is served past caches; a cache still shows content' : 'nothing is served there';

function describeProof(proof: NonNullable<ChannelAttempt['proof']>): string {
  const { match, markerCount, parts } = proof;
  if (match === 'gone') return describeGoneProof(proof);
  const all = parts === 0 ? 'the file' : `all ${parts + 1} files`;
  const bytes = match === 'identical' ? `bytes identical to ${all}` : 'other bytes than the file';
  if (markerCount === null) return bytes;
  const marker = `marker found ${markerCount === 1 ? 'once' : `${markerCount} times`}`;
  return match === 'marked' ? marker : `${marker}, ${bytes}`;
}
