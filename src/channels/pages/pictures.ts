const PICTURE_ENDINGS = { picture: '.png', before: '.before.png' } as const;

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
