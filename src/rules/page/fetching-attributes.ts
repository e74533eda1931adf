import type { StartTag } from 'parse5-sax-parser';
import {
  type AddAddress,
  getAttribute,
  hasAttribute,
  parseRefresh,
  parseSrcset,
  type ReferenceGrade,
  type ResourceKind,
} from './addresses.ts';
import { findCssReferences } from './script-references.ts';
import { VISIT_COUNTERS } from './visit-counters.ts';

type AddressReader = (value: string, tag: StartTag, add: AddAddress) => void;

const single =
  (kind: ResourceKind, grade: ReferenceGrade = 'content'): AddressReader =>
  (address, _, add) =>
    add({ offset: 0, end: address.length, address, kind, grade });

const media = single('data');
const frame = single('document');
const anchor = single('document', 'link');
const ahead = single('data', 'later');

/** Link types that load something now, or later. Others, such as `canonical`, cause no request. */
const PRELOAD = /^(?:module)?preload$/;
const LATER = /^(?:prefetch|prerender|manifest)$|icon|^apple-touch-/;

const hasLinkType = (tag: StartTag, types: RegExp): boolean =>
  getAttribute(tag, 'rel')
    .toLowerCase()
    .split(/\s+/)
    .some((type) => types.test(type));

/** Whether a link only prepares requests: a page looks the same without it. */
export const isNetworkHint = (tag: StartTag): boolean =>
  tag.tagName === 'link' &&
  hasLinkType(tag, /^(?:(?:module)?preload|prefetch|prerender|manifest|preconnect|dns-prefetch)$/) &&
  !hasLinkType(tag, /^stylesheet$|icon|^apple-touch-/);

const link: AddressReader = (address, tag, add) => {
  if (hasLinkType(tag, /^stylesheet$/)) {
    const isUnused = hasLinkType(tag, /^alternate$/) || hasAttribute(tag, 'disabled') || !isCss(tag);
    single('style', isUnused ? 'later' : 'code')(address, tag, add);
  } else if (hasLinkType(tag, PRELOAD)) media(address, tag, add);
  else if (hasLinkType(tag, LATER)) ahead(address, tag, add);
};

/** Whether a browser applies an element as CSS. Scripts may read other types. */
export const isCss = (tag: StartTag): boolean =>
  /^\s*(?:text\/css\s*)?(?:;.*)?$/is.test(getAttribute(tag, 'type'));

const script: AddressReader = (address, tag, add) => {
  const type = getScriptType(tag);
  const grade = VISIT_COUNTERS.script.test(address) ? 'later' : gradeScript(tag);
  if (type !== null) single(type, grade)(address, tag, add);
};

/** How much a page needs the script of a tag. */
export function gradeScript(tag: StartTag): ReferenceGrade {
  if (hasAttribute(tag, 'nomodule')) return 'later';
  return hasAttribute(tag, 'async') ? 'async' : 'code';
}

/** How a browser runs a script element; `null` for a data block. */
export function getScriptType(tag: StartTag): 'script' | 'module' | null {
  const type = getAttribute(tag, 'type').trim().toLowerCase();
  if (type === 'module') return 'module';
  return SCRIPT_TYPE.test(type) ? 'script' : null;
}

/** Whether a script element holds an import map. */
export const isImportMap = (tag: StartTag): boolean => /^\s*importmap\s*$/i.test(getAttribute(tag, 'type'));

const SCRIPT_TYPE = /^(?:(?:text|application)\/(?:x-)?(?:java|ecma|j|live)script[\d.]*)?$/;

const candidates: AddressReader = (value, tag, add) => {
  for (const { offset, address } of parseSrcset(value)) {
    media(address, tag, (found) => add({ ...found, offset, end: offset + address.length }));
  }
};

const refresh: AddressReader = (content, tag, add) => {
  if (/^\s*refresh\s*$/i.test(getAttribute(tag, 'http-equiv'))) frame(parseRefresh(content), tag, add);
};

const style: AddressReader = (css, _, add) => findCssReferences(css, add);

/**
 * The attributes with addresses that a browser uses, without forms, because only a person sends them.
 *
 * @see https://html.spec.whatwg.org/multipage/indices.html#attributes-3
 */
const READERS: readonly (readonly [AddressReader, string])[] = [
  [anchor, 'a href, a xlink:href, area href'],
  [candidates, 'img srcset, link imagesrcset, source srcset'],
  [frame, 'embed src, frame src, iframe src, object data'],
  [link, 'link href'],
  [media, 'audio src, body background, feImage href, image href, image xlink:href, img src, input src'],
  [media, 'source src, table background, td background, track src, use href, use xlink:href'],
  [media, 'video poster, video src'],
  [refresh, 'meta content'],
  [script, 'script href, script src, script xlink:href'],
];

const FETCHING_ATTRIBUTES: ReadonlyMap<string, AddressReader> = new Map(
  READERS.flatMap(([read, names]) => names.split(', ').map((name) => [name, read] as const)),
);

interface FetchingAttribute {
  /** As the page writes it, such as `xlink:href`. */
  readonly name: string;
  readonly value: string;
  /** Finds the addresses; `null` for the document of an `srcdoc`. */
  readonly find: ((add: AddAddress) => void) | null;
}

/** The attributes of a tag with addresses, or with a document. */
export function* listFetchingAttributes(tag: StartTag): Generator<FetchingAttribute, void, undefined> {
  // A browser ignores the `src` of a frame with a `srcdoc`.
  const hasDocument = tag.tagName === 'iframe' && hasAttribute(tag, 'srcdoc');
  for (const { name: ownName, prefix, value } of tag.attrs) {
    const name = prefix ? `${prefix}:${ownName}` : ownName;
    if (hasDocument && name === 'srcdoc') yield { name, value, find: null };
    const read = name === 'style' ? style : FETCHING_ATTRIBUTES.get(`${tag.tagName} ${name}`);
    if (!hasDocument && read !== undefined) yield { name, value, find: (add) => read(value, tag, add) };
  }
}
