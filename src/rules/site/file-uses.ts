import { extname } from 'node:path';
import type { ReferenceGrade, ResourceKind } from '../page/addresses.ts';
import { isHtml } from '../page/page-file.ts';

/** Pages that a host shows for addresses without a page: their addresses are made for another place. */
const FALLBACK_PAGE = /^(?:200|404)\.html$/i;

/** Whether a person may open the page by its address. */
export function isOpenedPage(path: string): boolean {
  if (!isHtml(path) || FALLBACK_PAGE.test(path)) return false;
  return !path.includes('/') || path.endsWith('/index.html');
}

export const isSvg = (path: string): boolean => /\.svg$/i.test(path);

const KINDS_BY_ENDING: Readonly<Record<string, ResourceKind>> = {
  '.css': 'style',
  '.js': 'module',
  '.mjs': 'module',
  '.svg': 'document',
};

/** How a file without a known use is read. */
export const getKindOfName = (path: string): ResourceKind =>
  isHtml(path) ? 'document' : (KINDS_BY_ENDING[extname(path).toLowerCase()] ?? 'data');

/** A page that is opened has code of its own; in a style sheet nothing is code. */
export function gradeVisit(kind: ResourceKind, grade: ReferenceGrade): ReferenceGrade {
  if (kind === 'document') return 'code';
  return kind === 'style' ? 'content' : grade;
}

/** Whether a file that is used in this way has references that matter. */
export function hasReferences(kind: ResourceKind, path: string): boolean {
  if (kind === 'document') return isHtml(path) || isSvg(path);
  return kind === 'style' || (kind !== 'data' && !/\.(?:json|css|wasm)$/i.test(path));
}
