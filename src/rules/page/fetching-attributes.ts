import type { DefaultTreeAdapterTypes as Dom } from 'parse5';
import {
  type FoundAddress,
  hasHost,
  laterGrade,
  parseRefresh,
  type ReferenceGrade,
  type ResourceKind,
} from './addresses.ts';
import { findCssReferences } from './css-references.ts';
import { readImage, readMediaSource, readPreloads, readSrcset } from './image-choice.ts';
import { gradeMedia } from './media-queries.ts';
import { getAttribute, hasAttribute } from './page-tree.ts';
import { findScriptReferences } from './script-references.ts';
import { isVisitCounter } from './visit-counters.ts';

/** Reads the addresses in the value of an attribute. */
type AddressReader = (value: string, element: Dom.Element) => readonly FoundAddress[];

/** One address that is used in one way; spaces at both ends do not count. */
const single =
  (kind: ResourceKind, grade: ReferenceGrade = 'start'): AddressReader =>
  (address) => [{ offset: 0, address, kind, grade }];

const image = single('data');
const anchor = single('document', 'link');
const later = single('data', 'later');

const none: AddressReader = () => [];

/**
 * Link types that cause a request. Only a style sheet changes what a page shows when it opens: without the hint of
 * a preload, what is really used is loaded anyway. Others, such as `canonical`, cause no request.
 */
const FETCHED_LINK_TYPES: ReadonlyMap<string, readonly [ResourceKind, ReferenceGrade]> = new Map(
  Object.entries<readonly [ResourceKind, ReferenceGrade]>({
    stylesheet: ['style', 'start'],
    modulepreload: ['module', 'later'],
    preload: ['data', 'later'],
    prefetch: ['data', 'later'],
    prerender: ['document', 'later'],
    manifest: ['manifest', 'later'],
    icon: ['data', 'later'],
    'mask-icon': ['data', 'later'],
    'apple-touch-icon': ['data', 'later'],
    'apple-touch-icon-precomposed': ['data', 'later'],
    'apple-touch-startup-image': ['data', 'later'],
    'compression-dictionary': ['data', 'later'],
  }),
);

/** Link types that connect to a host and load nothing. */
const CONNECTING_LINK_TYPES = new Set(['preconnect', 'dns-prefetch']);

/** What a page writes into a link to use its style sheet as soon as it is loaded, so that nothing waits for it. */
const SWITCH = /\b(?:media|rel)\b/;

const link: AddressReader = (address, element) => {
  const types = splitWords(getAttribute(element, 'rel'));
  const isStyle = types.includes('stylesheet') || getAttribute(element, 'as').toLowerCase() === 'style';
  if (isStyle && SWITCH.test(getAttribute(element, 'onload'))) return single('style')(address, element);
  const [first, ...others] = types
    .map((type) => FETCHED_LINK_TYPES.get(type))
    .filter((found) => found !== undefined);
  if (first === undefined) {
    return types.some((type) => CONNECTING_LINK_TYPES.has(type)) && hasHost(address)
      ? later(address, element)
      : [];
  }
  const [kind, grade] = [first, ...others].find(([found]) => found === 'style') ?? first;
  if (kind !== 'style') return single(kind, grade)(address, element);
  const isUnused = types.includes('alternate') || hasAttribute(element, 'disabled');
  const media = gradeMedia(getAttribute(element, 'media'));
  return single(kind, isUnused ? 'later' : laterGrade(grade, media))(address, element);
};

const script: AddressReader = (address, element) => {
  const type = getScriptType(element);
  if (type === null) return [];
  const isLater = hasAttribute(element, 'nomodule') || (runsAfterPage(element) && isVisitCounter(address));
  return single(type, isLater ? 'later' : 'start')(address, element);
};

/** Whether a page does not wait for its script. */
const runsAfterPage = (element: Dom.Element): boolean =>
  hasAttribute(element, 'async') || hasAttribute(element, 'defer');

/** How a browser runs a script element; `null` if its type makes it data. */
export function getScriptType(element: Dom.Element): 'script' | 'module' | null {
  const type = getAttribute(element, 'type').trim().toLowerCase();
  if (type === 'module') return 'module';
  return SCRIPT_TYPE.test(type) ? 'script' : null;
}

const SCRIPT_TYPE = /^(?:(?:text|application)\/(?:x-)?(?:java|ecma|j|live)script[\d.]*)?$/;

const media: AddressReader = (address, element) =>
  single('data', getAttribute(element, 'preload').toLowerCase() === 'none' ? 'later' : 'start')(
    address,
    element,
  );

const track: AddressReader = (address, element) =>
  single('data', hasAttribute(element, 'default') ? 'start' : 'later')(address, element);

const animated: AddressReader = (values, element) =>
  /^(?:xlink:)?href$/i.test(getAttribute(element, 'attributeName').trim())
    ? values.split(';').map((address) => ({ offset: 0, address, kind: 'data', grade: 'start' }))
    : [];

/** An address in SVG, with and without the prefix. */
const svgLink = (reader: AddressReader): Readonly<Record<string, AddressReader>> => ({
  href: reader,
  'xlink:href': reader,
});

/**
 * The attributes whose addresses a browser uses, by element; all names in lower case. Forms are not included:
 * they cause a request only when a person sends them. `base` is read on its own, because it loads nothing.
 *
 * @see https://html.spec.whatwg.org/multipage/indices.html#attributes-3
 */
export const FETCHING_ATTRIBUTES: Readonly<Record<string, Readonly<Record<string, AddressReader>>>> = {
  a: svgLink(anchor),
  area: { href: anchor },
  audio: { src: media },
  body: { background: image },
  embed: { src: single('document') },
  frame: { src: single('document') },
  // With a `srcdoc`, the `src` is ignored.
  iframe: { src: (src, frame) => (hasAttribute(frame, 'srcdoc') ? [] : single('document')(src, frame)) },
  img: { src: readImage, srcset: readSrcset },
  input: { src: (src, input) => (isImageButton(input) ? image(src, input) : []) },
  link: { href: link, imagesrcset: readPreloads },
  meta: {
    content: (content, meta) => (isRefresh(meta) ? single('document')(parseRefresh(content), meta) : []),
  },
  object: { data: single('document') },
  script: { src: script, ...svgLink(script) },
  source: { src: readMediaSource, srcset: readSrcset },
  table: { background: image },
  tbody: { background: image },
  td: { background: image },
  tfoot: { background: image },
  th: { background: image },
  thead: { background: image },
  tr: { background: image },
  track: { src: track },
  video: { src: media, poster: image },
  // SVG
  animate: { from: animated, to: animated, by: animated, values: animated },
  feimage: svgLink(image),
  filter: svgLink(image),
  image: svgLink(image),
  lineargradient: svgLink(image),
  pattern: svgLink(image),
  radialgradient: svgLink(image),
  set: { to: animated },
  use: svgLink(image),
  // No current browser loads these.
  cursor: svgLink(later),
  'font-face-uri': svgLink(later),
  html: { manifest: later },
  mpath: svgLink(later),
  textpath: svgLink(later),
  tref: svgLink(later),
};

/** Attributes of any element whose value is CSS: `style` and the presentation attributes of SVG. */
export const STYLE_ATTRIBUTES: ReadonlySet<string> = new Set([
  'style',
  'clip-path',
  'cursor',
  'fill',
  'filter',
  'marker',
  'marker-end',
  'marker-mid',
  'marker-start',
  'mask',
  'stroke',
]);

/** The function that reads the addresses of an attribute; names in lower case. */
export const getAddressReader = (element: string, name: string): AddressReader => {
  const attributes = Object.hasOwn(FETCHING_ATTRIBUTES, element) ? FETCHING_ATTRIBUTES[element] : undefined;
  if (attributes !== undefined && Object.hasOwn(attributes, name)) return attributes[name] as AddressReader;
  if (STYLE_ATTRIBUTES.has(name)) return findCssReferences;
  return name.startsWith('on') ? readHandler : none;
};

/** What an event handler loads is not loaded before the event. */
const readHandler: AddressReader = (code) =>
  findScriptReferences(code, false).map((found) => ({ ...found, grade: 'later' }));

const splitWords = (text: string): string[] => text.toLowerCase().split(/\s+/);

const isImageButton = (input: Dom.Element): boolean => getAttribute(input, 'type').toLowerCase() === 'image';

const isRefresh = (meta: Dom.Element): boolean =>
  getAttribute(meta, 'http-equiv').trim().toLowerCase() === 'refresh';
