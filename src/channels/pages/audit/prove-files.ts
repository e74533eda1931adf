import { SITE } from '../../../protocol/limits.ts';
import type { GitBlob } from '../../../rules/fingerprint.ts';
import { MARKDOWN } from '../../../rules/jekyll.ts';
import { getBrowserDisplay } from '../../../rules/media-type.ts';
import { entryUrl } from '../../../rules/naming.ts';
import type { AuditedDelivery, KnownRefusal, Placement } from '../../channel.ts';
import { addressOf, type PagesDestination } from '../destination.ts';

/** What every placement of an audit has. */
export const ON_SITE = {
  ...{ bypassCache: true, hostMayChangeBytes: false, mustBeExternal: false, written: false, notes: [] },
} as const;

/** Where something else is served than what was delivered. */
export const ALTERED_HINT =
  'something else is served there: find out who or what changed it, a build, a proxy or a person, or deliver it again';

const whenLost = (hint: string): readonly KnownRefusal[] => [
  { httpCodes: [404], text: /^/, hint, isFinal: false },
  { httpCodes: [200], text: /^/, hint: ALTERED_HINT, isFinal: false },
];

/** What is on the branch and not served. */
export const NOT_SHOWN = whenLost(
  'the branch has it and the site does not show it: look at Settings → Pages, and at the newest build of the site',
);

/** What a site without a branch says that it has, and does not serve. */
export const NOT_SERVED = whenLost(
  'the receipt of the site names it: look at Settings → Pages, or deliver it again',
);

/** What was removed and is served all the same. */
export const STILL_SERVED: readonly KnownRefusal[] = [
  {
    httpCodes: [200],
    text: /^/,
    hint: 'the branch does not have it any more and the site still shows it: look at the newest build of the site',
    isFinal: false,
  },
];

export const SITE_IS_OFF: readonly KnownRefusal[] = [
  {
    httpCodes: [404],
    text: /^/,
    hint: 'the repository has no Pages site any more: switch it on again under Settings → Pages',
    isFinal: true,
  },
];

/** Files of one delivery that are to be fetched again. */
export interface FilesToProve {
  /** From the root of the branch or the site; the page whose address is handed over is the first. */
  readonly paths: readonly string[];
  /** What each of them must be. */
  readonly files: ReadonlyMap<string, Partial<GitBlob>>;
  /** The folder that was delivered; `null` for a file. */
  readonly folder: string | null;
  readonly destination: PagesDestination;
  readonly evidence: string;
  readonly commitSha?: string | undefined;
  readonly refusals: readonly KnownRefusal[];
  /** Whether the host shows the page as another one: then the file itself is asked for. */
  readonly isRendered: boolean;
}

/** Every file, by git's id of its bytes. */
export function proveFiles(given: FilesToProve): Required<Pick<AuditedDelivery, 'place' | 'unknown'>> {
  const [page = '', ...others] = given.paths;
  const rendered = `what the build of the site makes of ${page}: only the file itself was compared`;
  const left = others.length - SITE.plainProbes;
  const unasked = `whether a cache answers otherwise without ?v= for ${left} more files`;
  return {
    place: () => placeFiles(given),
    unknown: [...(given.isRendered ? [rendered] : []), ...(left > 0 ? [unasked] : [])],
  };
}

function placeFiles({ paths, files, folder, destination, isRendered, commitSha, ...more }: FilesToProve) {
  const [page = '', ...others] = paths;
  const fileAt = (path: string) => {
    const { sha = '', size = 0 } = files.get(path) ?? {};
    return { size, sha256: null, blobSha: sha };
  };
  const pageUrl = addressOf(destination, page);
  const url = isRendered ? destination.rawUrl : folder === null ? pageUrl : entryUrl(pageUrl);
  const placement: Placement = {
    ...ON_SITE,
    evidence: more.evidence,
    url,
    ...(commitSha !== undefined && { commitSha }),
    ...(!isRendered && { display: getBrowserDisplay(pageUrl.pathname) }),
    parts: others.map((path, nth) => ({
      ...{ path: path.slice(folder?.length ?? 0), url: addressOf(destination, path), ...fileAt(path) },
      // Asked without `?v=` as well: a cache or a proxy may have something else for people.
      ...(nth < SITE.plainProbes && { earlier: [] }),
    })),
    refusals: more.refusals,
    unknown: [],
  };
  return { file: fileAt(page), placement };
}

/** Jekyll shows such a file as a page, with other bytes. */
export const rendersMarkdown = (
  path: string,
  { builtBy, siteRoot }: PagesDestination,
  entries: ReadonlyMap<string, unknown>,
): boolean => MARKDOWN.test(path) && builtBy === 'branch' && !entries.has(`${siteRoot}.nojekyll`);

/** The page of a folder first; of a file it is the file, whose place is given with an empty `entry`. */
export function sortPaths(paths: readonly string[], place: string, entry: string): readonly string[] {
  const isPage = (path: string): boolean => /\.html?$/i.test(path);
  const first = [`${place}index.html`, place + entry].find((path) => paths.includes(path));
  const page = first ?? paths.find(isPage) ?? paths[0];
  return page === undefined ? [] : [page, ...paths.filter((path) => path !== page)];
}
