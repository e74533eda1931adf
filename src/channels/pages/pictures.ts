import { DeliveryError } from '../../errors.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import type { LocalSite } from '../../rules/local-site.ts';
import type { SiteChanges } from '../site-changes.ts';

/** Pictures of a page that are delivered beside it. */
export interface PagePictures {
  readonly picture: LocalFile;
  /** The picture of the delivery before, where the page looked different. */
  readonly before: LocalFile | null;
  /** Of a folder: with these pictures among its files. */
  readonly site?: LocalSite | null;
}

/** Where the pictures of a page are. */
export interface PlacedPictures {
  readonly url: URL;
  /** Of the picture, lowercase hex. */
  readonly sha256: string;
  readonly before: URL | null;
}

/** What the name of a page gets at its end for its picture, and for the picture of the delivery before. */
const PICTURE_ENDINGS = { picture: '.png', before: '.before.png' } as const;

/** The pictures with the paths that they get. @param page path of the page */
export function listPictures(
  { picture, before }: PagePictures,
  page: string,
): readonly { readonly path: string; readonly file: LocalFile }[] {
  const shown = { path: page + PICTURE_ENDINGS.picture, file: picture };
  return before === null ? [shown] : [shown, { path: page + PICTURE_ENDINGS.before, file: before }];
}

/** The addresses of a page's pictures. @param pageUrl that of the page's own file */
export const listPictureUrls = ({ href }: URL): { readonly picture: URL; readonly before: URL } => ({
  picture: new URL(href + PICTURE_ENDINGS.picture),
  before: new URL(href + PICTURE_ENDINGS.before),
});

/** Where the pictures that are delivered will be. */
export function placePictures({ picture, before }: PagePictures, pageUrl: URL): PlacedPictures {
  const urls = listPictureUrls(pageUrl);
  return { url: urls.picture, sha256: picture.sha256, before: before && urls.before };
}

/**
 * The folder with the pictures of its entry.
 *
 * @throws {DeliveryError} `BAD_INPUT` where a file of the folder has such a name already
 */
export function addPictures(site: LocalSite, pictures: PagePictures): LocalSite {
  const added = listPictures(pictures, site.entry);
  const names = new Set(added.map(({ path }) => path));
  const taken = site.files.find(({ path }) => names.has(path));
  if (taken !== undefined) {
    throw new DeliveryError('BAD_INPUT', `the folder has a file ${taken.path}, where the picture goes`, {
      step: 'check',
      hint: (w) => `give that file another name, or set ${w.input('picture', 'false')}`,
      leftBehind: [],
    });
  }
  const files = [...site.files, ...added].sort((one, other) => (one.path < other.path ? -1 : 1));
  const size = files.reduce((sum, { file }) => sum + file.size, 0);
  return { ...site, files, size, pictures: [...names] };
}

/** Whether a path is that of a picture of the page. */
export const isPictureOf = (path: string, page: string): boolean => listPicturePaths(page).includes(path);

/** Files that changed in a folder: pictures are no files of the user. */
export function withoutPictures(changes: ChangedFiles, { entry, pictures }: LocalSite): ChangedFiles {
  if (pictures === undefined) return changes;
  const leaveOut = (paths: readonly string[]) => paths.filter((path) => !isPictureOf(path, entry));
  const { added, changed, removed } = changes;
  return { added: leaveOut(added), changed: leaveOut(changed), removed: leaveOut(removed) };
}

type ChangedFiles = Pick<SiteChanges, 'added' | 'changed' | 'removed'>;

/** Every path at which a page may have a picture. */
export const listPicturePaths = (page: string): readonly string[] =>
  Object.values(PICTURE_ENDINGS).map((ending) => page + ending);
