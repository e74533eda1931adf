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
    hint: 'check the newest build of the site under Settings → Pages, or deliver it again',
  },
  {
    httpCodes: [200],
    hint: 'deliver it again, or find out what changed it: a build, a proxy or a person',
  },
];

const STILL_SERVED: readonly KnownRefusal[] = [
  {
    httpCodes: [200],
    hint: 'check the newest build of the site: the branch no longer has this file',
  },
];

const SITE_IS_OFF: readonly KnownRefusal[] = [
  {
    httpCodes: [404],
    hint: (w) => w.person('switch the Pages site on again under Settings → Pages'),
    isFinal: true,
  },
];

export type FoundDelivery = Omit<ListedDelivery, 'record'> & {
  readonly record: Pick<DeliveryRecord, 'itemPath' | 'sha' | 'delivered'>;
};

type Proven = Required<Pick<AuditedDelivery, 'composePlacement' | 'unknown'>>;

/** Checks every file by its blob id; a rendered page at its raw URL. @param found its first path is the page */
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
  // A cache may serve other content without `?v=`.
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
      ...lineIf(isRendered, `how the site's build renders ${page}: the audit compared only the source file`),
      ...lineIf(unprobed > 0, `whether a cache serves other content for ${unprobed} more files`),
    ],
  };
}

export function proveRemoval(
  { record, paths, by, before }: FoundDelivery,
  destination: PagesDestination,
  files: BlobsByPath,
): Proven {
  const unrequested = paths.length - AUDIT.gone;
  const unasked = `whether ${unrequested} more of its files are gone: ${AUDIT.gone} URLs were checked`;
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

export function sortPaths(paths: readonly string[], handedOver: string): readonly string[] {
  const page = paths.find((path) => path === handedOver) ?? paths.find(isHtml) ?? paths[0];
  return page === undefined ? [] : [page, ...paths.filter((path) => path !== page)];
}
