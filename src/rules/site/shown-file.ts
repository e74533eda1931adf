import { text as joinText } from 'node:stream/consumers';
import { toOneLine } from '../../plain-text.ts';
import { MEGABYTE } from '../../protocol/limits.ts';
import type { LocalFile } from '../inspect.ts';
import { getBrowserDisplay, getContentType, isImage } from '../media-type.ts';
import { isCutPicture } from '../picture-form.ts';
import { BYTE_ORDER_MARK, createEncodingCheck, PARTLY_MISREAD } from '../text-encoding.ts';
import { isSvg } from './site-address.ts';

const LARGEST_TEXT = 8 * MEGABYTE;

/**
 * Judges a file that is neither a page nor code. @returns `null` for one that a browser shows as it is meant, or not at
 * all; `isOpen` if only its reader can tell whether it is wrong
 */
export async function judgeShownFile(path: string, file: Pick<LocalFile, 'size' | 'pieces'>) {
  const type = getContentType(path);
  if (getBrowserDisplay(path) !== 'plain' || isSvg(path) || /xml/.test(type)) return null;
  if (isImage(path)) return judgePicture(file);
  return file.size > LARGEST_TEXT ? null : judgeText(type, file);
}

async function judgePicture(file: Pick<LocalFile, 'pieces'>) {
  for await (const piece of file.pieces()) {
    const start = piece.toString('latin1', 0, 60);
    if (!/^\s*</.test(start)) break;
    const text = `the file is no picture: it begins with "${toOneLine(start).trim()}"`;
    return { kind: 'broken', line: 1, isOpen: false, text, hint: 'write the picture again' } as const;
  }
  if (!(await isCutPicture(file.pieces()))) return null;
  const text = 'the picture has no end';
  return { kind: 'cut', line: 0, isOpen: false, text, hint: 'write the picture again' } as const;
}

async function judgeText(type: string, file: Pick<LocalFile, 'pieces'>) {
  if (type.startsWith('text/') && !type.includes('charset') && !(await isReadAlike(file))) {
    const text = `Pages serves ${type} without a charset, so a browser may show letters beyond ASCII wrongly`;
    return { kind: 'encoding', line: 1, isOpen: true, text } as const;
  }
  const encoding = createEncodingCheck(() => null);
  for await (const piece of file.pieces()) encoding.add(piece);
  const misread = encoding.end();
  if (misread === null) return null;
  const { line, text, isUnreadable } = misread;
  return isUnreadable && (await isMostlyWrong(file))
    ? ({ kind: 'encoding', line, isOpen: false, text, hint: 'save it as UTF-8' } as const)
    : ({ kind: 'encoding', line, isOpen: true, text: PARTLY_MISREAD } as const);
}

/** Whether a browser reads the text alike in every encoding: it is in ASCII, or its byte order mark counts. */
async function isReadAlike(file: Pick<LocalFile, 'pieces'>): Promise<boolean> {
  for await (const piece of file.pieces()) {
    if (BYTE_ORDER_MARK.test(piece.toString('latin1', 0, 3))) return true;
    if (piece.some((byte) => byte > 127)) return false;
  }
  return true;
}

/** A few stray bytes leave a log readable. */
async function isMostlyWrong(file: Pick<LocalFile, 'pieces'>): Promise<boolean> {
  const text = await joinText(file.pieces());
  const countWithout = (others: RegExp): number => text.replace(others, '').length;
  const wrong = countWithout(/[^\ufffd]+/g);
  return wrong > countWithout(/[\0-\x7f]+/g) / 2 && wrong > text.length / 100;
}
