import { SITE } from '../../../protocol/limits.ts';
import type { GitBlob } from '../../../rules/fingerprint.ts';
import { getBrowserDisplay } from '../../../rules/media-type.ts';
import { entryUrl } from '../../../rules/naming.ts';
import { type AuditedDelivery, type KnownRefusal, whenAnswered } from '../../channel.ts';
import { addressOf, type PagesDestination } from '../destination.ts';
import { ON_BRANCH } from '../placement.ts';

/** Where something else is served than what was delivered. */
const ALTERED = whenAnswered(
  200,
  'something else is served there: find out who or what changed it, a build, a proxy or a person, or deliver it again',
);

/** What is on the branch and not served. */
export const NOT_SHOWN = [
  whenAnswered(
    404,
    'the branch has it and the site does not show it: look at Settings → Pages, and at the newest build of the site',
  ),
  ALTERED,
];

/** What a site without a branch says that it has, and does not serve. */
export const NOT_SERVED = [
  whenAnswered(404, 'the receipt of the site names it: look at Settings → Pages, or deliver it again'),
  ALTERED,
];

/** What was removed and is served all the same. */
export const STILL_SERVED = [
  whenAnswered(
    200,
    'the branch does not have it any more and the site still shows it: look at the newest build of the site',
  ),
];

export const SITE_IS_OFF = [
  whenAnswered(
    404,
    'the repository has no Pages site any more: switch it on again under Settings → Pages',
    true,
  ),
];

/** Files of one delivery that are to be fetched again. */
interface FilesToProve {
  /** From the root of the branch or the site; the page whose address is handed over is the first. */
  readonly paths: readonly string[];
  /** What each of them must be. */
  readonly files: ReadonlyMap<string, Partial<GitBlob>>;
  /** The folder that was delivered; `null` for a file. */
  readonly folder: string | null;
  readonly destination: PagesDestination;
  readonly evidence: string;
  readonly commitSha?: string;
  readonly refusals: readonly KnownRefusal[];
  /** Whether the host shows the page as another one: then the file itself is asked for. */
  readonly isRendered: boolean;
}

/** Every file, by git's id of its bytes. */
export function proveFiles({
  paths: [page = '', ...others],
  files,
  folder,
  destination,
  isRendered,
  ...told
}: FilesToProve): Required<Pick<AuditedDelivery, 'place' | 'unknown'>> {
  const left = others.length - SITE.plainProbes;
  const fileAt = (path: string) => {
    const { sha = '', size = 0 } = files.get(path) ?? {};
    return { size, sha256: null, blobSha: sha };
  };
  const place = () => {
    const pageUrl = addressOf(destination, page);
    const placement = {
      ...ON_BRANCH,
      ...told,
      url: isRendered ? destination.rawUrl : folder === null ? pageUrl : entryUrl(pageUrl),
      ...(!isRendered && { display: getBrowserDisplay(pageUrl.pathname) }),
      parts: others.map((path, nth) => ({
        ...{ path: path.slice(folder?.length ?? 0), url: addressOf(destination, path), ...fileAt(path) },
        // Asked without `?v=` as well: a cache or a proxy may have something else for people.
        ...(nth < SITE.plainProbes && { earlier: [] }),
      })),
      ...{ written: false, notes: [], unknown: [] },
    };
    return { file: fileAt(page), placement };
  };
  return {
    place,
    unknown: [
      ...(isRendered
        ? [`what the build of the site makes of ${page}: only the file itself was compared`]
        : []),
      ...(left > 0 ? [`whether a cache answers otherwise without ?v= for ${left} more files`] : []),
    ],
  };
}

/** The page of a folder first; of a file it is the file, whose place is given with an empty `entry`. */
export function sortPaths(paths: readonly string[], place: string, entry: string): readonly string[] {
  const isPage = (path: string): boolean => /\.html?$/i.test(path);
  const first = [`${place}index.html`, place + entry].find((path) => paths.includes(path));
  const page = first ?? paths.find(isPage) ?? paths[0];
  return page === undefined ? [] : [page, ...paths.filter((path) => path !== page)];
}
