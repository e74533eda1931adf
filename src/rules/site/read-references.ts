import { type FoundAddress, isExternal } from '../page/addresses.ts';
import { findCssReferences } from '../page/css-references.ts';
import { parseJsonText, toFields } from '../page/json-fields.ts';
import { createLineCounter } from '../page/line-counter.ts';
import { findScriptReferences } from '../page/script-references.ts';

/** An address in a style sheet, script or manifest. */
export interface FileReference extends FoundAddress {
  /** From 1. */
  readonly line: number;
  readonly element: string;
}

/** The kinds of file, other than pages, that have references. */
export type TextKind = 'style' | 'script' | 'module' | 'manifest';

/** The references of a file that is no page. */
export function readFileReferences(text: string, kind: TextKind): readonly FileReference[] {
  const found = [...findReferences(text, kind), ...findSourceMap(text, kind)];
  const getLine = createLineCounter(text, 1);
  return found
    .filter(({ address }) => isExternal(address))
    .map((reference) => ({
      ...reference,
      line: getLine(reference.offset),
      element: getElement(kind, reference),
    }));
}

function findReferences(text: string, kind: TextKind): readonly FoundAddress[] {
  if (kind === 'style') return findCssReferences(text);
  return kind === 'manifest' ? findManifestReferences(text) : findScriptReferences(text, kind === 'module');
}

function getElement(kind: TextKind, { kind: target, isSpecifier }: FoundAddress): string {
  if (kind === 'manifest') return 'manifest';
  if (kind === 'style') return target === 'style' ? '@import' : 'url()';
  return isSpecifier ? 'import' : 'script';
}

/** How much of the end of a file is searched for the address of its source map, in characters. */
const TAIL = 2_000;

/** @see https://tc39.es/ecma426/ */
function findSourceMap(text: string, kind: TextKind): readonly FoundAddress[] {
  if (kind === 'manifest') return [];
  const start = Math.max(text.length - TAIL, 0);
  const [found, address = ''] = /[#@]\s*sourceMappingURL=([^\s'"*]+)/.exec(text.slice(start)) ?? [];
  if (found === undefined) return [];
  return [{ offset: text.length, address, kind: 'data', grade: 'later' }];
}

/** The icons and screenshots of a web app. @see https://www.w3.org/TR/appmanifest/ */
function findManifestReferences(json: string): readonly FoundAddress[] {
  const { icons, screenshots } = toFields(parseJsonText(json));
  return [icons, screenshots]
    .flat()
    .map((image) => toFields(image).src)
    .filter((src) => typeof src === 'string')
    .map((address): FoundAddress => {
      return { offset: Math.max(json.indexOf(address), 0), address, kind: 'data', grade: 'later' };
    })
    .sort((one, other) => one.offset - other.offset);
}
