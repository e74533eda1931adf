import type { FileWrite } from '../../github/change.ts';
import type { LocalFile } from '../../rules/inspect.ts';

/** Pictures of a page that are delivered beside it. */
export interface PagePictures {
  readonly picture: LocalFile;
  /** The picture of the delivery before, where the page looked different. */
  readonly before: LocalFile | null;
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
export function listPictures({ picture, before }: PagePictures, page: string): FileWrite<LocalFile>[] {
  const shown = { path: page + PICTURE_ENDINGS.picture, file: picture };
  return before === null ? [shown] : [shown, { path: page + PICTURE_ENDINGS.before, file: before }];
}

/** The addresses of a page's pictures. @param pageUrl that of the page's own file */
export const listPictureUrls = ({ href }: URL): { readonly picture: URL; readonly before: URL } => ({
  picture: new URL(href + PICTURE_ENDINGS.picture),
  before: new URL(href + PICTURE_ENDINGS.before),
});

/** Where the pictures that are delivered will be. */
export function addressesOfPictures({ picture, before }: PagePictures, pageUrl: URL): PlacedPictures {
  const urls = listPictureUrls(pageUrl);
  return { url: urls.picture, sha256: picture.sha256, before: before && urls.before };
}

/** Whether a path is that of a picture of the page. */
export const isPictureOf = (path: string, page: string): boolean => listPicturePaths(page).includes(path);

/** Every path at which a page may have a picture. */
export const listPicturePaths = (page: string): readonly string[] =>
  Object.values(PICTURE_ENDINGS).map((ending) => page + ending);
