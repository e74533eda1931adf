import { parseJson, toFields } from '../../json.ts';
import { createLineCounter, type FoundAddress, isExternal } from '../page/addresses.ts';
import { findCssReferences } from '../page/css-references.ts';
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
  const getLine = createLineCounter(text, 1);
  return findReferences(text, kind)
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

/** The icons and screenshots of a web app. @see https://www.w3.org/TR/appmanifest/ */
function findManifestReferences(json: string): readonly FoundAddress[] {
  const { icons, screenshots } = toFields(parseJson(json));
  return [icons, screenshots]
    .flat()
    .map((image) => toFields(image).src)
    .filter((src) => typeof src === 'string')
    .map((address): FoundAddress => {
      return { offset: Math.max(json.indexOf(address), 0), address, kind: 'data', grade: 'later' };
    })
    .sort((one, other) => one.offset - other.offset);
}
