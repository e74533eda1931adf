import MarkdownIt from 'markdown-it';
import { faultError } from '../../errors.ts';
import { MEGABYTE } from '../../protocol/limits.ts';
import type { InlinedFile } from '../resources.ts';

/** A picture as a `data:` URL, or why it is missing. */
export type Picture = { readonly data: string; readonly file?: InlinedFile } | { readonly reason: string };

/** A text file with what its renderer may ask for. */
export interface Source {
  readonly name: string;
  readonly text: string;
  /** Links and pictures are relative to it. */
  readonly url: URL;
  /** Each picture is read once. A renderer runs again after all were read. */
  readonly pictureOf: (address: string) => Picture;
}

/** The HTML of a page's content. Everything in it that comes from the source is escaped. */
export interface Rendered {
  readonly html: string;
  /** Absent for the name of the file. */
  readonly title?: string | undefined;
  readonly notes?: readonly string[];
  /** What the page lacks. */
  readonly missing?: readonly string[];
}

export type Render = (source: Source) => Rendered;

/** Characters of a page that are parsed. The libraries need some hundred times the memory of a text. */
export const READ_LIMIT = 500_000;

/** A text in one piece takes far less memory than the pieces that a library joins. */
export const flatten = (text: string): string => Buffer.from(text).toString();

const LARGEST_PAGE = 30 * MEGABYTE;

/** @throws {DeliveryError} `BAD_FILE` for a larger page. @param size in bytes */
export function refuseLargePage(size: number): void {
  if (size > LARGEST_PAGE)
    throw faultError(`the page is larger than ${LARGEST_PAGE / MEGABYTE} MB`, 'render a smaller file');
}

/** Returns a function that each part of a page passes through, and that refuses the part after the largest page. */
export function createPageLimit(): (part: string) => string {
  let size = 0;
  return (part) => {
    size += Buffer.byteLength(part);
    refuseLargePage(size);
    return flatten(part);
  };
}

export const { escapeHtml } = new MarkdownIt().utils;

/** Such as `1 row` and `1,200 rows`. */
export const countOf = (count: number, one: string): string =>
  `${count.toLocaleString('en-US')} ${one}${count === 1 ? '' : 's'}`;

/** Says what a page leaves out; nothing if all is shown. */
export const formatRest = (count: number, one: string): string =>
  count > 0 ? `<p class="rest">${countOf(count, `more ${one}`)} in the source</p>` : '';

/** Lists what a page leaves out. Only `formatRest` makes this element: text from the source has no tags. */
export const listRests = (html: string): readonly string[] =>
  [...html.matchAll(/<p class="rest">(.*?)<\/p>/g)].map(([, rest = '']) => rest);
