import { OBJECT_TRAILER } from '../../protocol/words.ts';

/** What the name of a page gets at its end for its picture, and for the picture of the delivery before. */
export const PICTURE_ENDINGS = { picture: '.png', before: '.before.png' } as const;

export type PictureKind = keyof typeof PICTURE_ENDINGS;

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
