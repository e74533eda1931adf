import { OBJECT_TRAILER } from '../../protocol/words.ts';
import type { LocalFile } from '../../rules/inspect.ts';
import type { PagePictures, PlacedPictures } from '../channel.ts';

/** What the name of a page gets at its end for its picture, and for the picture of the delivery before. */
export const PICTURE_ENDINGS = { picture: '.png', before: '.before.png' } as const;

export type PictureKind = keyof typeof PICTURE_ENDINGS;

/** The pictures with the paths that they get. @param page path of the page */
export function listPictures(
  { picture, before }: PagePictures,
  page: string,
): readonly { readonly path: string; readonly file: LocalFile }[] {
  const shown = { path: page + PICTURE_ENDINGS.picture, file: picture };
  return before === null ? [shown] : [shown, { path: page + PICTURE_ENDINGS.before, file: before }];
}

/** The addresses of pictures. @param pageUrl that of the page's own file */
export function placePictures({ picture, before }: PagePictures, pageUrl: URL): PlacedPictures {
  return {
    url: pictureUrl(pageUrl, 'picture'),
    sha256: picture.sha256,
    before: before && pictureUrl(pageUrl, 'before'),
  };
}

export const pictureUrl = (pageUrl: URL, kind: PictureKind = 'picture'): URL =>
  new URL(pageUrl.href + PICTURE_ENDINGS[kind]);

/** Whether a path is that of a picture of the page. */
export const isPictureOf = (path: string, page: string): boolean =>
  Object.values(PICTURE_ENDINGS).some((ending) => path === page + ending);

/** The paths of the pictures that the commit of a page delivered with it. @param message its commit's message */
export function listDeliveredPictures(message: string, page: string): string[] {
  return message.split('\n').flatMap((line) => {
    const [, path = ''] = new RegExp(`^${OBJECT_TRAILER}: \\S+ (.+)$`).exec(line) ?? [];
    return isPictureOf(path, page) ? [path] : [];
  });
}
