import { getContentType } from './media-type.ts';
import { isHtml } from './page/page-file.ts';

/**
 * How a browser shows a file: as a page; as it is, such as text or a picture; with a viewer or a player, which not
 * every browser has; or not at all, because it is downloaded.
 */
export type BrowserDisplay = 'page' | 'plain' | 'viewer' | 'none';

/** Names that browsers open without a viewer of their own. */
const SHOWN_AS_IT_IS = /\.(?:md|txt|css|m?js|json|xml|svg|png|jpe?g|gif|webp|avif|bmp|ico)$/i;

/** Whether a browser opens a compressed picture (`.svgz`) depends on a header of the host. */
const NEEDS_VIEWER = /\.(?:pdf|svgz|mp4|webm|mp3|ogg|wav)$/i;

/** How a browser shows a file that Pages serves under this name. @param path separated by `/` */
export function getBrowserDisplay(path: string): BrowserDisplay {
  if (isHtml(path)) return 'page';
  if (SHOWN_AS_IT_IS.test(path)) return 'plain';
  return NEEDS_VIEWER.test(path) ? 'viewer' : 'none';
}

/** Whether Pages serves a file of this name as a picture. */
export const isImage = (path: string): boolean => getContentType(path).startsWith('image/');
