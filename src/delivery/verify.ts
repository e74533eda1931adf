import { countFiles } from '../plain-text.ts';
import type { AddressProof } from '../proof/address-proof.ts';
import {
  countMarker,
  describeCacheTime,
  type ProbeResult,
  type Proof,
  type ProvenMatch,
  type ProvenSubject,
} from '../proof/probe-result.ts';
import { proveChecks } from '../proof/prove-checks.ts';
import { SITE } from '../protocol/limits.ts';
import type { PlacedAttempt } from './delivery.ts';

/** VERIFY: proves a placement. @param first the URL to hand over, with its last answer @throws as `proveChecks` */
export async function verifyPlacement(
  { placement, marker, mustBeGone }: PlacedAttempt,
  first: AddressProof,
): Promise<{ readonly proof: Proof; readonly unknown: readonly string[] }> {
  const { check, run } = first;
  const { commitSha, others = [] } = placement;
  const { sha256, blobSha = '' } = check.expect.file ?? {};
  const version = (commitSha ?? sha256 ?? blobSha).slice(0, 12);
  const { page, files, plain, versioned } = await proveChecks(first, others, version);
  // Another file of the branch has the removed file's URL.
  const isReplaced = page.match === 'served';
  const raw = plain.find((proof) => proof.check.isOptional && proof.proven);
  const seen: readonly [ProbeResult, ...ProbeResult[]] = [
    page,
    ...files.flatMap((proof) => proof.proven ?? []),
  ];
  return {
    proof: {
      httpCode: page.httpCode ?? 0,
      markerCount: countMarker(page, marker),
      sha256: isReplaced ? null : (page.fingerprint?.sha256 ?? null),
      match: isReplaced ? 'gone' : (page.match as ProvenMatch),
      hosts: page.hosts,
      further: mustBeGone ? [] : files.slice(0, SITE.subjects).flatMap(toSubject),
      rawUrl: raw?.check.url ?? null,
      isDownload: page.isDownload === true,
      ...(versioned && { versioned }),
      isCached: check.addsVersion && mustBeGone,
      isInternal: run.internalReason !== '',
      ...(run.downloads > 0 && { downloads: run.downloads }),
    },
    unknown: [
      ...(run.internalReason ? [`whether the URL opens outside this network: ${run.internalReason}`] : []),
      ...check.host.describe(seen, check, run.downloads),
      ...describeOld(plain),
      ...plain.filter((proof) => proof.proven === undefined).map(describeRaw),
    ],
  };
}

const toSubject = ({ check, proven }: AddressProof): readonly ProvenSubject[] =>
  check.expect.file === undefined || proven?.fingerprint == null
    ? []
    : [{ url: check.url.href, sha256: proven.fingerprint.sha256 }];

function describeOld(plain: readonly AddressProof[]): readonly string[] {
  const all = plain.filter(({ isOld }) => isOld);
  const old = all.filter(({ check }) => !check.isPage);
  if (old.length === 0) return [];
  const times = old.map(({ freshFor }) => freshFor);
  const time = describeCacheTime(times.includes(null) ? null : Math.max(...times.map(Number)));
  const page = all.length > old.length ? 'besides the page' : 'but not of the page';
  return [
    `a cache still answered older copies of ${countFiles(old.length)}, ${page}; it may show them ${time}`,
  ];
}

function describeRaw({ check: { label }, last }: AddressProof): string {
  const why = last?.match === 'login' ? 'answers with a login page' : 'did not show the file yet';
  return `${label} ${why}, so it was not verified`;
}
