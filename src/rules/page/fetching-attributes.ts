import type { StartTag } from 'parse5-sax-parser';
import {
  type AddAddress,
  getAttribute,
  hasAttribute,
  parseRefresh,
  parseSrcset,
  type ReferenceGrade,
  type ResourceKind,
  trimAddress,
} from './addresses.ts';
import { findCssReferences, findScriptReferences } from './script-references.ts';

type AddressReader = (value: string, tag: StartTag, add: AddAddress) => void;

/** One address that is used in one way; spaces at both ends do not count. */
const single =
  (kind: ResourceKind, grade: ReferenceGrade = 'content'): AddressReader =>
  (address, _, add) =>
    add({ offset: 0, address, kind, grade });

const image = single('data');
const frame = single('document');
const anchor = single('document', 'link');

/**
 * Link types with which a browser loads something ahead, or beside the page; what is really used is loaded anyway.
 * Others, such as `canonical`, cause no request.
 */
const LATER_LINK_TYPES: ReadonlySet<string> = new Set([
  ...['modulepreload', 'preload', 'prefetch', 'prerender', 'compression-dictionary', 'manifest', 'icon'],
  ...['mask-icon', 'apple-touch-icon', 'apple-touch-icon-precomposed', 'apple-touch-startup-image'],
]);

const link: AddressReader = (address, tag, add) => {
  const types = getAttribute(tag, 'rel').toLowerCase().split(/\s+/);
  if (types.includes('stylesheet')) {
    const isUnused = types.includes('alternate') || hasAttribute(tag, 'disabled');
    single('style', isUnused ? 'later' : 'code')(address, tag, add);
  } else if (types.some((type) => LATER_LINK_TYPES.has(type))) single('data', 'later')(address, tag, add);
};

const script: AddressReader = (address, tag, add) => {
  const type = getScriptType(tag);
  if (type !== null) single(type, gradeScript(tag, address))(address, tag, add);
};

/** Whether a page needs the script of a tag. What only counts visits shows nothing. */
export function gradeScript(tag: StartTag, address = ''): ReferenceGrade {
  const [isAsync, isDeferred, isForOld] = ['async', 'defer', 'nomodule'].map((name) =>
    hasAttribute(tag, name),
  );
  const isCounter =
    (isAsync || isDeferred) && VISIT_COUNTERS.some((counter) => counter.test(trimAddress(address, 200)));
  if (isForOld || isCounter) return 'later';
  return isAsync ? 'async' : 'code';
}

/** Generators of reports and documentation put such scripts into pages that are complete without them. */
const VISIT_COUNTERS: readonly RegExp[] = [
  /^(?:https?:)?\/\/www\.googletagmanager\.com\/gtag\/js\?/,
  /^(?:https?:)?\/\/(?:www|ssl)\.google-analytics\.com\/(?:analytics|ga)\.js/,
  /^(?:https?:)?\/\/static\.cloudflareinsights\.com\/beacon\.min\.js/,
  /^(?:https?:)?\/\/(?:plausible\.io\/js\/|gc\.zgo\.at\/count)/,
];

/** How a browser runs a script element; `null` if its type makes it data. */
export function getScriptType(tag: StartTag): 'script' | 'module' | null {
  const type = getAttribute(tag, 'type').trim().toLowerCase();
  if (type === 'module') return 'module';
  return SCRIPT_TYPE.test(type) ? 'script' : null;
}

const SCRIPT_TYPE = /^(?:(?:text|application)\/(?:x-)?(?:java|ecma|j|live)script[\d.]*)?$/;

/** Whether an element says itself that it is not for every screen; for which one it is, is not guessed. */
export const isForSomeScreens = (tag: StartTag): boolean =>
  !getAttribute(tag, 'media')
    .split(',')
    .some((query) => /^\s*(?:all|screen)?\s*$/i.test(query));

const media: AddressReader = (address, tag, add) =>
  single('data', /^none$/i.test(getAttribute(tag, 'preload')) ? 'later' : 'content')(address, tag, add);

const track: AddressReader = (address, tag, add) =>
  single('data', hasAttribute(tag, 'default') ? 'content' : 'later')(address, tag, add);

/** The candidates of an image, of which a browser takes one. */
const candidates: AddressReader = (value, tag, add) => {
  const read = tag.tagName === 'link' ? single('data', 'later') : image;
  for (const address of parseSrcset(value)) read(address, tag, add);
};

// With a `srcdoc`, the `src` is ignored.
const inlineFrame: AddressReader = (src, tag, add) => hasAttribute(tag, 'srcdoc') || frame(src, tag, add);

const button: AddressReader = (src, tag, add) =>
  /^image$/i.test(getAttribute(tag, 'type')) && image(src, tag, add);

const refresh: AddressReader = (content, tag, add) => {
  if (/^\s*refresh\s*$/i.test(getAttribute(tag, 'http-equiv'))) frame(parseRefresh(content), tag, add);
};

/**
 * The attributes whose addresses a browser uses, with their elements; all names in lower case. Forms are not included:
 * they cause a request only when a person sends them. `base` is read on its own, because it loads nothing.
 *
 * @see https://html.spec.whatwg.org/multipage/indices.html#attributes-3
 */
const READERS: readonly (readonly [AddressReader, string])[] = [
  [anchor, 'a href, a xlink:href, area href'],
  [button, 'input src'],
  [candidates, 'img srcset, link imagesrcset, source srcset'],
  [frame, 'embed src, frame src, object data'],
  [image, 'body background, feimage href, image href, image xlink:href, img src, source src'],
  [image, 'table background, td background, use href, use xlink:href, video poster'],
  [inlineFrame, 'iframe src'],
  [link, 'link href'],
  [media, 'audio src, video src'],
  [refresh, 'meta content'],
  [script, 'script href, script src, script xlink:href'],
  [track, 'track src'],
];

export const FETCHING_ATTRIBUTES: ReadonlyMap<string, AddressReader> = new Map(
  READERS.flatMap(([read, names]) => names.split(', ').map((name) => [name, read] as const)),
);

/** Attributes of any element whose value is CSS: `style` and the presentation attributes of SVG. */
export const STYLE_ATTRIBUTES: ReadonlySet<string> = new Set([
  ...['style', 'clip-path', 'cursor', 'fill', 'filter', 'marker', 'marker-end', 'marker-mid', 'marker-start'],
  ...['mask', 'stroke'],
]);

/** The function that reads the addresses of an attribute, if it has any; names in lower case. */
export function getAddressReader(element: string, name: string): AddressReader | undefined {
  if (STYLE_ATTRIBUTES.has(name)) return (css, _, add) => findCssReferences(css, add);
  if (name.startsWith('on')) return (code, _, add) => findScriptReferences(code, false, add);
  return FETCHING_ATTRIBUTES.get(`${element} ${name}`);
}
