import type { Redactor } from '../credentials.ts';
import { showInvisible } from '../plain-text.ts';
import { RESULTS } from '../protocol/words.ts';
import { formatReason, type Report } from './report.ts';

/** URL fields: kept as verified, or dropped. */
const ADDRESSES: ReadonlySet<string> = new Set(['url', 'withdrawn', 'rawUrl', 'beforeUrl', 'run', 'picture']);

/** Removes secrets from each text. A URL with a secret is withheld, not changed. */
export function redactReport(given: Report, { redact }: Redactor): Report {
  const report = redactFields(given, redact) as Report;
  const address = given.url ?? given.withdrawn;
  return address === null || redact(address) === address ? report : withholdAddress(report);
}

export function redactFields(value: unknown, redact: Redactor['redact'], field = ''): unknown {
  if (typeof value === 'string') {
    if (ADDRESSES.has(field)) return redact(value) === value ? value : null;
    return showInvisible(redact(value));
  }
  if (Array.isArray(value)) return value.map((item) => redactFields(item, redact, field));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, redactFields(inner, redact, name)]),
  );
}

function withholdAddress({ outcome: _, ...report }: Report): Report {
  const notReady = {
    step: 'report',
    httpCode: null,
    code: 'BAD_INPUT',
    reason: 'the verified URL contains a credential of this environment, so the report leaves it out',
    hint: 'revoke the credential, and remove it from the name of the file, the repository or the bin',
  } as const;
  return {
    ...report,
    proven: [],
    result: 'not-ready',
    ready: false,
    url: null,
    withdrawn: null,
    notReady,
    lines: {
      ...report.lines,
      CLAIM: 'the file was published, but its URL contains a credential, so the report leaves it out',
      RESULT: `${RESULTS.notReady} → ${formatReason(notReady)}`,
    },
    gates: report.gates.map((gate) => ({ ...gate, passed: gate.name === 'G4_REPORT' ? false : gate.passed })),
  };
}
