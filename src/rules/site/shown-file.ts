import { MEGABYTE } from '../../protocol/limits.ts';
import type { LocalFile } from '../inspect.ts';
import { getBrowserDisplay, getContentType, isImage } from '../media-type.ts';
import { createEncodingCheck } from '../text-encoding.ts';
import type { FindingText, SiteFinding } from './findings.ts';
import { isSvg } from './site-address.ts';

/** What is wrong with a file that a browser shows as it is, such as a text or a picture. */
export interface ShownFileProblem extends FindingText {
  readonly kind: SiteFinding['kind'];
  readonly line: number;
  /** Whether only its reader can tell if it is wrong. */
  readonly isOpen: boolean;
}

/** How a picture ends, in Latin-1; a few bytes may follow. */
const PICTURE_ENDS: readonly (readonly [type: RegExp, end: RegExp])[] = [
  [/png$/, /IEND/],
  [/jpeg$/, /\xff\xd9/],
  [/gif$/, /\x3b/],
];
const TAIL = 1_024;
const LARGEST_TEXT = 8 * MEGABYTE;

/** Judges a file that is neither a page nor code. @returns `null` for one that a browser shows as it is meant, or not at all */
export async function judgeShownFile(
  path: string,
  file: Pick<LocalFile, 'size' | 'pieces'>,
): Promise<ShownFileProblem | null> {
  const type = getContentType(path);
  if (getBrowserDisplay(path) !== 'plain' || isSvg(path) || /xml/.test(type)) return null;
  if (isImage(path)) return judgePicture(type, file);
  return file.size > LARGEST_TEXT ? null : judgeText(type, file);
}

async function judgePicture(type: string, file: Pick<LocalFile, 'pieces'>) {
  const end = PICTURE_ENDS.find(([pattern]) => pattern.test(type))?.[1];
  if (end === undefined) return null;
  let tail = '';
  for await (const piece of file.pieces())
    tail = (tail + piece.toString('latin1', Math.max(0, piece.length - TAIL))).slice(-TAIL);
  const text = 'the picture has no end, so it was cut short';
  return end.test(tail)
    ? null
    : ({ kind: 'cut', line: 1, isOpen: false, text, hint: 'write the picture again' } as const);
}

async function judgeText(type: string, file: Pick<LocalFile, 'pieces'>) {
  const encoding = createEncodingCheck(() => null);
  let isAscii = true;
  for await (const piece of file.pieces()) {
    isAscii &&= piece.every((byte) => byte < 128);
    encoding.add(piece);
  }
  const misread = encoding.end();
  if (type.startsWith('text/') && !type.includes('charset')) {
    const text = `Pages serves ${type} without a charset, so a browser may show letters beyond ASCII wrongly`;
    return isAscii ? null : ({ kind: 'encoding', line: 1, isOpen: true, text } as const);
  }
  if (misread === null) return null;
  const { line, text, isUnreadable } = misread;
  return { kind: 'encoding', line, isOpen: !isUnreadable, text, hint: 'save it as UTF-8' } as const;
}
