import { lineIf } from '../../../plain-text.ts';
import type { KnownRefusal } from '../../../proof/check.ts';
import { AUDIT, SITE } from '../../../protocol/limits.ts';
import { MARKDOWN } from '../../../rules/jekyll.ts';
import { isHtml } from '../../../rules/page/page-file.ts';
import type { AuditedDelivery } from '../../channel.ts';
import type { DeliveryRecord } from '../delivery-records.ts';
import type { PagesDestination } from '../destination.ts';
import { rendersMarkdown } from '../jekyll.ts';
import { type BlobsByPath, checksOfFiles, checksOfRemoved, fileAt, onHost } from '../site-checks.ts';
import type { ListedDelivery } from './list-deliveries.ts';

const NOT_SHOWN: readonly KnownRefusal[] = [
  {
    httpCodes: [404],
    hint: 'it was delivered and the site does not show it: look at Settings → Pages and at the newest build of the site, or deliver it again',
  },
  {
    httpCodes: [200],
    hint: 'something else is served there: find out who or what changed it, a build, a proxy or a person, or deliver it again',
  },
];

const STILL_SERVED: readonly KnownRefusal[] = [
  {
    httpCodes: [200],
    hint: 'the branch does not have it any more and the site still shows it: look at the newest build of the site',
  },
];

const SITE_IS_OFF: readonly KnownRefusal[] = [
  {
    httpCodes: [404],
    hint: 'the repository has no Pages site any more: switch it on again under Settings → Pages',
    isFinal: true,
  },
];

/** A delivery whose addresses are to be asked. */
export type FoundDelivery = Omit<ListedDelivery, 'record'> & {
  readonly record: Pick<DeliveryRecord, 'itemPath' | 'sha' | 'delivered'>;
};

type Proven = Required<Pick<AuditedDelivery, 'composePlacement' | 'unknown'>>;

/** Every file, by its blob id; of a rendered page, the file itself. @param found its first path is the page */
export function proveFiles(
  { record: { itemPath, sha: commitSha }, paths }: FoundDelivery,
  destination: PagesDestination,
  files: BlobsByPath,
  { evidence, isSiteOff }: { readonly evidence: string; readonly isSiteOff: boolean },
): Proven {
  const [page = ''] = paths;
  const unprobed = paths.length - 1 - SITE.plainProbes;
  const isRendered = MARKDOWN.test(page) && rendersMarkdown(destination, files);
  const refusals = isSiteOff ? SITE_IS_OFF : NOT_SHOWN;
  // Asked without `?v=` as well: a cache or a proxy may have something else for people.
  const list = () => paths.map((path, nth) => fileAt(files, path, nth <= SITE.plainProbes ? [] : undefined));
  return {
    composePlacement: () => ({
      written: false,
      evidence,
      commitSha,
      ...onHost(
        checksOfFiles(list(), page, { destination, itemPath }, isRendered ? 'source' : 'bytes'),
        refusals,
      ),
    }),
    unknown: [
      ...lineIf(isRendered, `what the build of the site makes of ${page}: only the file itself was compared`),
      ...lineIf(unprobed > 0, `whether a cache answers otherwise without ?v= for ${unprobed} more files`),
    ],
  };
}

/** Of what was removed some addresses, pages first, which must answer 404. */
export function proveRemoval(
  { record, paths, by, before }: FoundDelivery,
  destination: PagesDestination,
  files: BlobsByPath,
): Proven {
  const unrequested = paths.length - AUDIT.gone;
  const unasked = `whether ${unrequested} more of its files are gone: ${AUDIT.gone} addresses were asked for`;
  const removedAt = Date.parse(by?.date ?? '') || undefined;
  const composePlacement = () => {
    const removed = new Map(paths.map((path) => [path, [before?.get(path) ?? []].flat()]));
    const { first, others } = onHost(checksOfRemoved(removed, destination, files, removedAt), STILL_SERVED);
    return {
      written: false,
      first,
      others: others.slice(0, AUDIT.gone - 1),
      evidence: `commit ${by?.sha ?? record.sha} removed it`,
    };
  };
  return { composePlacement, unknown: lineIf(unrequested > 0, unasked) };
}

/** The page that was handed over first, or else another one. */
export function sortPaths(paths: readonly string[], handedOver: string): readonly string[] {
  const page = paths.find((path) => path === handedOver) ?? paths.find(isHtml) ?? paths[0];
  return page === undefined ? [] : [page, ...paths.filter((path) => path !== page)];
}
