import type { DefaultTreeAdapterTypes as Dom } from 'parse5';
import { type FoundAddress, type ResourceKind, refreshAddress, srcsetAddresses } from './addresses.ts';
import { cssReferences } from './css-references.ts';
import { attribute, hasAttribute } from './page-tree.ts';
import { scriptReferences } from './script-references.ts';

/** Reads addresses out of an attribute's value. */
export type ReadAddresses = (value: string, element: Dom.Element) => readonly FoundAddress[];

const one =
  (kind: ResourceKind): ReadAddresses =>
  (address) => [{ offset: 0, address, kind }];

const many: ReadAddresses = (srcset) =>
  srcsetAddresses(srcset).map((address) => ({ offset: 0, address, kind: 'data' }));

const nothing: ReadAddresses = () => [];

/** Kinds of links that a browser fetches; others, such as `canonical` or `alternate`, only name. */
const FETCHING_LINKS: ReadonlyMap<string, ResourceKind> = new Map(
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

const link: ReadAddresses = (address, element) => {
  const kinds = words(attribute(element, 'rel')).flatMap((kind) => FETCHING_LINKS.get(kind) ?? []);
  const [kind] = kinds;
  return kind === undefined ? [] : [{ offset: 0, address, kind: kinds.includes('style') ? 'style' : kind }];
};

const animated: ReadAddresses = (values, element) =>
  /^(?:xlink:)?href$/i.test(attribute(element, 'attributeName').trim())
    ? values.split(';').map((address) => ({ offset: 0, address, kind: 'data' }))
    : [];

/**
 * Elements × attributes that a browser fetches. Attributes of plain links and forms are left out: they lead
 * elsewhere only when somebody follows them. Names are in lower case.
 *
 * @see https://html.spec.whatwg.org/multipage/indices.html#attributes-3
 */
export const FETCHING_ATTRIBUTES: Readonly<Record<string, Readonly<Record<string, ReadAddresses>>>> = {
  audio: { src: one('data') },
  base: { href: one('data') },
  body: { background: one('data') },
  embed: { src: one('document') },
  frame: { src: one('document') },
  html: { manifest: one('data') },
  // With a srcdoc the src is not looked at.
  iframe: { src: (src, frame) => (hasAttribute(frame, 'srcdoc') ? [] : one('document')(src, frame)) },
  img: { src: one('data'), srcset: many },
  input: { src: (src, input) => (isImageButton(input) ? one('data')(src, input) : []) },
  link: { href: link, imagesrcset: many },
  meta: { content: (content, meta) => (isRefresh(meta) ? one('data')(refreshAddress(content), meta) : []) },
  object: { data: one('document') },
  script: { src: one('script'), href: one('script'), 'xlink:href': one('script') },
  source: { src: one('data'), srcset: many },
  table: { background: one('data') },
  tbody: { background: one('data') },
  td: { background: one('data') },
  tfoot: { background: one('data') },
  th: { background: one('data') },
  thead: { background: one('data') },
  tr: { background: one('data') },
  track: { src: one('data') },
  video: { src: one('data'), poster: one('data') },
  // SVG
  animate: { from: animated, to: animated, by: animated, values: animated },
  cursor: { href: one('data'), 'xlink:href': one('data') },
  feimage: { href: one('data'), 'xlink:href': one('data') },
  filter: { href: one('data'), 'xlink:href': one('data') },
  'font-face-uri': { href: one('data'), 'xlink:href': one('data') },
  image: { href: one('data'), 'xlink:href': one('data') },
  lineargradient: { href: one('data'), 'xlink:href': one('data') },
  mpath: { href: one('data'), 'xlink:href': one('data') },
  pattern: { href: one('data'), 'xlink:href': one('data') },
  radialgradient: { href: one('data'), 'xlink:href': one('data') },
  set: { to: animated },
  textpath: { href: one('data'), 'xlink:href': one('data') },
  tref: { href: one('data'), 'xlink:href': one('data') },
  use: { href: one('data'), 'xlink:href': one('data') },
};

/** Attributes of any element whose value is CSS: the style, and what SVG presents by attributes. */
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

/** What reads the addresses out of an attribute; names in lower case. */
export const addressReaderFor = (element: string, name: string): ReadAddresses => {
  const own = Object.hasOwn(FETCHING_ATTRIBUTES, element) ? FETCHING_ATTRIBUTES[element] : undefined;
  if (own !== undefined && Object.hasOwn(own, name)) return own[name] as ReadAddresses;
  if (STYLE_ATTRIBUTES.has(name)) return cssReferences;
  return name.startsWith('on') ? scriptReferences : nothing;
};

const words = (text: string): string[] => text.toLowerCase().split(/\s+/);

const isImageButton = (input: Dom.Element): boolean => attribute(input, 'type').toLowerCase() === 'image';

const isRefresh = (meta: Dom.Element): boolean =>
  attribute(meta, 'http-equiv').trim().toLowerCase() === 'refresh';
