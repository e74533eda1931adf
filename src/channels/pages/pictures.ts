import type { FileWrite } from '../../github/change.ts';
import type { LocalFile } from '../../rules/inspect.ts';

export interface PagePictures {
  readonly picture: LocalFile;
  /** The previous picture, if the page looked different. */
  readonly before: LocalFile | null;
}

const PICTURE_ENDINGS = { picture: '.png', before: '.before.png' } as const;

export function listPictures({ picture, before }: PagePictures, page: string): FileWrite<LocalFile>[] {
  const shown = { path: page + PICTURE_ENDINGS.picture, file: picture };
  return before === null ? [shown] : [shown, { path: page + PICTURE_ENDINGS.before, file: before }];
}

export const listPictureUrls = ({ href }: URL): { readonly picture: URL; readonly before: URL } => ({
  picture: new URL(href + PICTURE_ENDINGS.picture),
  before: new URL(href + PICTURE_ENDINGS.before),
});

/** What is added to the path of a page that `compare` finds changed. */
export const COMPARED_ENDINGS = { before: '.compare-before.png', after: '.compare-after.png' } as const;

export const isComparedPicture = (path: string): boolean =>
  Object.values(COMPARED_ENDINGS).some((ending) => path.endsWith(ending));

/** Every path that a picture of the page may have. */
export const listPicturePaths = (page: string): readonly string[] =>
  Object.values(PICTURE_ENDINGS).map((ending) => page + ending);
