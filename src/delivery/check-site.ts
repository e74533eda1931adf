import type { ServedFolder } from '../channels/channel.ts';
import { DeliveryError } from '../errors.ts';
import { loadPageRules } from '../rules/load-page-rules.ts';
import type { LocalSite } from '../rules/local-site.ts';
import type { SelfContained } from '../rules/page/page-file.ts';
import type { SiteFinding, SiteInspection } from '../rules/site/site-files.ts';
import type { FileDelivery } from './file-delivery.ts';

/**
 * Resolves every reference of a folder within the folder: what a page misses when it opens refuses the whole, and so
 * does a page that could not be read.
 *
 * @throws {DeliveryError} `BAD_FILE` with page, line and what is wrong, the first ten findings in full.
 * @see design 6
 */
export async function checkSite(
  delivery: FileDelivery,
  site: LocalSite,
  selfContained: SelfContained,
  signal: AbortSignal,
): Promise<FileDelivery> {
  const servedAt = delivery.tasks.get('K1')?.servedAt;
  const { inspection, format } = await inspect(site, selfContained, servedAt, signal);
  const { refusals, notes } = inspection;
  // Without a host it is not known where the folder will be.
  const isFinal = ({ kind }: SiteFinding): boolean => servedAt !== undefined || kind !== 'base';
  const final = refusals.filter(isFinal);
  const refusal = servedAt?.refusal ?? null;
  if (final.length > 0) throw brokenSiteError(delivery.subject, final, format, refusal);
  if (refusal !== null) throw refusal;
  const open = refusals.filter((finding) => !isFinal(finding));
  return {
    ...delivery,
    unknown: [...delivery.unknown, ...format([...open, ...notes.filter(isUnknown)])],
    notes: [...delivery.notes, ...format(notes.filter((finding) => !isUnknown(finding)))],
  };
}

/** What was not looked at; anything else is only worth knowing. */
const isUnknown = ({ kind }: SiteFinding): boolean => kind === 'incomplete' || kind === 'unchecked';

type FindingFormatter = (findings: readonly SiteFinding[]) => readonly string[];

async function inspect(
  { entry, files }: LocalSite,
  selfContained: SelfContained,
  servedAt: ServedFolder | undefined,
  signal: AbortSignal,
): Promise<{
  readonly inspection: SiteInspection;
  readonly format: FindingFormatter;
}> {
  const { inspectSite, formatSiteFindings } = await loadPageRules();
  const readable = new Map(
    files.map(({ path, file }) => [path, { size: file.size, read: () => file.read() }]),
  );
  const place = servedAt ?? { sitePath: '/folder/', rootPath: '/', origin: 'https://site.invalid' };
  const inspection = await inspectSite(readable, { ...place, entry, selfContained, signal });
  return { inspection, format: formatSiteFindings };
}

function brokenSiteError(
  subject: string,
  findings: readonly SiteFinding[],
  format: FindingFormatter,
  refusal: DeliveryError | null,
): DeliveryError {
  const hint = findings.find((finding) => finding.hint !== undefined)?.hint;
  const isComplete = findings.every(({ kind }) => kind === 'encoding');
  const problem = isComplete ? 'has pages that would be unreadable' : 'is not complete';
  return new DeliveryError('BAD_FILE', `the folder ${subject} ${problem}`, {
    hint: hint ?? 'put the missing files into the folder, or correct the addresses',
    leftBehind: [],
    findings: [
      ...format(dropRepeatedHints(findings, hint)),
      ...(refusal === null ? [] : [`${refusal.message}: ${refusal.hint}`]),
    ],
  });
}

/** Each hint is said at its first finding only, and that of the whole error at none. */
function dropRepeatedHints(
  findings: readonly SiteFinding[],
  shared: string | undefined,
): readonly SiteFinding[] {
  const said = new Set([shared]);
  return findings.map((finding) => {
    if (said.has(finding.hint)) return { ...finding, hint: undefined };
    said.add(finding.hint);
    return finding;
  });
}
