import type { DefaultTreeAdapterTypes as Dom } from 'parse5';
import { type FoundAddress, parseRefresh, parseSrcset, type ResourceKind } from './addresses.ts';
import { findCssReferences } from './css-references.ts';
import { getAttribute, hasAttribute } from './page-tree.ts';
import { findScriptReferences } from './script-references.ts';

/** Reads the addresses in the value of an attribute. */
type AddressReader = (value: string, element: Dom.Element) => readonly FoundAddress[];

const single =
  (kind: ResourceKind): AddressReader =>
  (address) => [{ offset: 0, address, kind }];

const srcset: AddressReader = (value) =>
  parseSrcset(value).map((address) => ({ offset: 0, address, kind: 'data' }));

const none: AddressReader = () => [];

/** Link types that a browser fetches; others, such as `canonical` or `alternate`, cause no request. */
const FETCHED_LINK_TYPES: ReadonlyMap<string, ResourceKind> = new Map(
  Object.entries<ResourceKind>({
    stylesheet: 'style',
    modulepreload: 'script',
    preload: 'data',
    prefetch: 'data',
    prerender: 'data',
    manifest: 'data',
    icon: 'data',
    'mask-icon': 'data',
    'apple-touch-icon': 'data',
    'apple-touch-icon-precomposed': 'data',
    'apple-touch-startup-image': 'data',
    'compression-dictionary': 'data',
  }),
);

const link: AddressReader = (address, element) => {
  const kinds = splitWords(getAttribute(element, 'rel')).flatMap(
    (type) => FETCHED_LINK_TYPES.get(type) ?? [],
  );
  const [kind] = kinds;
  return kind === undefined ? [] : [{ offset: 0, address, kind: kinds.includes('style') ? 'style' : kind }];
};

const animated: AddressReader = (values, element) =>
  /^(?:xlink:)?href$/i.test(getAttribute(element, 'attributeName').trim())
    ? values.split(';').map((address) => ({ offset: 0, address, kind: 'data' }))
    : [];

/**
 * The attributes that a browser fetches, by element; all names in lower case. Attributes of plain links and
 * forms are not included: they cause a request only when a person follows them.
 *
 * @see https://html.spec.whatwg.org/multipage/indices.html#attributes-3
 */
export const FETCHING_ATTRIBUTES: Readonly<Record<string, Readonly<Record<string, AddressReader>>>> = {
  audio: { src: single('data') },
  base: { href: single('data') },
  body: { background: single('data') },
  embed: { src: single('document') },
  frame: { src: single('document') },
  html: { manifest: single('data') },
  // With a `srcdoc`, the `src` is ignored.
  iframe: { src: (src, frame) => (hasAttribute(frame, 'srcdoc') ? [] : single('document')(src, frame)) },
  img: { src: single('data'), srcset },
  input: { src: (src, input) => (isImageButton(input) ? single('data')(src, input) : []) },
  link: { href: link, imagesrcset: srcset },
  meta: { content: (content, meta) => (isRefresh(meta) ? single('data')(parseRefresh(content), meta) : []) },
  object: { data: single('document') },
  script: { src: single('script'), href: single('script'), 'xlink:href': single('script') },
  source: { src: single('data'), srcset },
  table: { background: single('data') },
  tbody: { background: single('data') },
  td: { background: single('data') },
  tfoot: { background: single('data') },
  th: { background: single('data') },
  thead: { background: single('data') },
  tr: { background: single('data') },
  track: { src: single('data') },
  video: { src: single('data'), poster: single('data') },
  // SVG
  animate: { from: animated, to: animated, by: animated, values: animated },
  cursor: { href: single('data'), 'xlink:href': single('data') },
  feimage: { href: single('data'), 'xlink:href': single('data') },
  filter: { href: single('data'), 'xlink:href': single('data') },
  'font-face-uri': { href: single('data'), 'xlink:href': single('data') },
  image: { href: single('data'), 'xlink:href': single('data') },
  lineargradient: { href: single('data'), 'xlink:href': single('data') },
  mpath: { href: single('data'), 'xlink:href': single('data') },
  pattern: { href: single('data'), 'xlink:href': single('data') },
  radialgradient: { href: single('data'), 'xlink:href': single('data') },
  set: { to: animated },
  textpath: { href: single('data'), 'xlink:href': single('data') },
  tref: { href: single('data'), 'xlink:href': single('data') },
  use: { href: single('data'), 'xlink:href': single('data') },
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
  return name.startsWith('on') ? findScriptReferences : none;
};

const splitWords = (text: string): string[] => text.toLowerCase().split(/\s+/);

const isImageButton = (input: Dom.Element): boolean => getAttribute(input, 'type').toLowerCase() === 'image';

const isRefresh = (meta: Dom.Element): boolean =>
  getAttribute(meta, 'http-equiv').trim().toLowerCase() === 'refresh';
