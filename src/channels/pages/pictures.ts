const PICTURE_ENDINGS = { picture: '.png', before: '.before.png' } as const;

export const listPictureUrls = ({ href }: URL): { readonly picture: URL; readonly before: URL } => ({
  picture: new URL(href + PICTURE_ENDINGS.picture),
  before: new URL(href + PICTURE_ENDINGS.before),
});

/** In a delivered folder: this tool's own folder for pictures of changed pages. */
export const COMPARED_FOLDER = 'screen-delivery-compare';

export const isComparedPicture = (path: string): boolean => COMPARED_PICTURE.test(path);

const COMPARED_PICTURE = new RegExp(`(^|/)${COMPARED_FOLDER}/[0-9]-(before|after)\\.png$`);

/** Every path that a picture of the page may have. */
export const listPicturePaths = (page: string): readonly string[] =>
  Object.values(PICTURE_ENDINGS).map((ending) => page + ending);
