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
import { findCssReferences, findScriptReferences } from './script-references.ts';

/** Reads the addresses in the value of an attribute. */
type AddressReader = (value: string, tag: StartTag, add: AddAddress) => void;

/** One address that is used in one way; spaces at both ends do not count. */
const single =
  (kind: ResourceKind, grade: ReferenceGrade = 'content'): AddressReader =>
  (address, _, add) =>
    add({ offset: 0, address, kind, grade });

const image = single('data');
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

/**
 * Whether a page needs the script of a tag. With `async` it does too: many generators load all their code so. What only
 * counts visits shows nothing.
 */
export function gradeScript(tag: StartTag, address = ''): ReferenceGrade {
  const isCounter = ['async', 'defer'].some((name) => hasAttribute(tag, name)) && isVisitCounter(address);
  return hasAttribute(tag, 'nomodule') || isCounter ? 'later' : 'code';
}

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
const candidates =
  (grade: ReferenceGrade): AddressReader =>
  (value, tag, add) => {
    for (const address of parseSrcset(value)) single('data', grade)(address, tag, add);
  };

const animated: AddressReader = (values, tag, add) => {
  if (!/^(?:xlink:)?href$/i.test(getAttribute(tag, 'attributeName').trim())) return;
  for (const address of values.split(';')) image(address, tag, add);
};

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
  iframe: { src: (src, frame, add) => hasAttribute(frame, 'srcdoc') || single('document')(src, frame, add) },
  img: { src: image, srcset: candidates('content') },
  input: { src: (src, input, add) => isImageButton(input) && image(src, input, add) },
  link: { href: link, imagesrcset: candidates('later') },
  meta: {
    content: (content, meta, add) => isRefresh(meta) && single('document')(parseRefresh(content), meta, add),
  },
  object: { data: single('document') },
  script: { src: script, ...svgLink(script) },
  source: { src: image, srcset: candidates('content') },
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

/** The function that reads the addresses of an attribute, if it has any; names in lower case. */
export const getAddressReader = (element: string, name: string): AddressReader | undefined => {
  const attributes = Object.hasOwn(FETCHING_ATTRIBUTES, element) ? FETCHING_ATTRIBUTES[element] : undefined;
  if (attributes !== undefined && Object.hasOwn(attributes, name)) return attributes[name];
  if (STYLE_ATTRIBUTES.has(name)) return readStyle;
  return name.startsWith('on') ? readHandler : undefined;
};

const readStyle: AddressReader = (css, _, add) => findCssReferences(css, add);
const readHandler: AddressReader = (code, _, add) => findScriptReferences(code, false, add);

const isImageButton = (input: StartTag): boolean => getAttribute(input, 'type').toLowerCase() === 'image';

const isRefresh = (meta: StartTag): boolean =>
  getAttribute(meta, 'http-equiv').trim().toLowerCase() === 'refresh';

/**
 * Scripts that only count visits, without scheme: generators of reports and documentation put them into pages that
 * are complete without them. Each runs after the page and shows nothing.
 */
const VISIT_COUNTERS: readonly RegExp[] = [
  /^www\.googletagmanager\.com\/gtag\/js$/,
  /^(?:www|ssl)\.google-analytics\.com\/(?:analytics|ga)\.js$/,
  /^static\.cloudflareinsights\.com\/beacon\.min\.js(?:\/.*)?$/,
  /^plausible\.io\/js\/[\w.-]+\.js$/,
  /^cloud\.umami\.is\/script\.js$/,
  /^gc\.zgo\.at\/count(?:\.v\d+)?\.js$/,
  /^cdn\.usefathom\.com\/script\.js$/,
  /^scripts\.simpleanalyticscdn\.com\/(?:latest|auto-events)\.js$/,
  /^cdn\.matomo\.cloud\/[\w.-]+\/matomo\.js$/,
];

/** Whether an address is that of a script that only counts visits. */
function isVisitCounter(address: string): boolean {
  const url = URL.parse(address.trim(), 'https://page.invalid/');
  return url !== null && VISIT_COUNTERS.some((counter) => counter.test(`${url.host}${url.pathname}`));
}
