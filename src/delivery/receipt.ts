import type { ProvenSubject } from '../proof/probe-result.ts';
import { SITE } from '../protocol/limits.ts';
import { TOOL } from '../protocol/words.ts';
import { addressToHandOver, type ChannelAttempt } from './delivery.ts';
import type { Report } from './report.ts';

/** The verified URLs of a delivery with their digests, at most `SITE.subjects`. */
export function listProven({ placement, proof }: ChannelAttempt): readonly ProvenSubject[] {
  const url = addressToHandOver({ placement, proof });
  if (url === null || proof?.sha256 == null) return [];
  const page = { url: url.href, sha256: proof.sha256 };
  return [page, ...proof.further].slice(0, SITE.subjects);
}

const STATEMENT = 'https://in-toto.io/Statement/v1';

/** How each receipt begins. */
export const RECEIPT_START = `{\n  "_type": "${STATEMENT}"`;

/** A receipt lists each property that holds for all reports. */
const PROPERTIES: Readonly<Record<string, (report: Report) => boolean>> = {
  ANSWERED_ANONYMOUSLY_WITH_HTTP_200: () => true,
  BYTES_IDENTICAL_TO_THE_FILE: ({ proven = [], file }) =>
    file?.sha256 != null && proven[0]?.sha256 === file.sha256,
  EVERY_FILE_IS_A_SUBJECT: ({ proven = [], site }) => proven.length >= (site?.count ?? 1),
  SHOWN_IN_A_BROWSER: ({ screen }) => screen?.verdict === 'shown',
  NOTHING_UNKNOWN: ({ unknown }) => unknown.length === 0,
};

/** Composes the receipt if all reports are ready. @see https://github.com/in-toto/attestation/blob/main/spec/predicates/svr.md */
export function composeReceipt(reports: readonly Report[], now: number): string | null {
  if (reports.length === 0 || reports.some(({ result }) => result !== 'ready')) return null;
  const digests = new Map(
    reports.flatMap(({ proven = [] }) => proven.map(({ url, sha256 }) => [url, sha256])),
  );
  const all = [...digests].filter(([url]) => url !== null);
  const subject = all.slice(0, SITE.subjects).map(([name, sha256]) => ({ name, digest: { sha256 } }));
  if (subject.length === 0) return null;
  const isWhole = subject.length === digests.size;
  const holds = (name: string): boolean =>
    (isWhole || name !== 'EVERY_FILE_IS_A_SUBJECT') && reports.every((report) => PROPERTIES[name]?.(report));
  const statement = {
    _type: STATEMENT,
    subject,
    predicateType: 'https://in-toto.io/attestation/svr/v0.2',
    predicate: {
      verifier: { id: `pkg:npm/${TOOL.name}@${TOOL.version}`, policies: [] },
      timeCreated: new Date(now).toISOString(),
      properties: Object.keys(PROPERTIES)
        .filter(holds)
        .map((name) => `SCREEN_DELIVERY_${name}`),
    },
  };
  return `${JSON.stringify(statement, null, 2)}\n`;
}
