/** The content type on Pages by file ending; `*` stands for the ending. @see https://github.com/jshttp/mime-db */
const ENDINGS: Readonly<Record<string, string>> = {
  'text/html; charset=utf-8': 'html htm shtml',
  'application/xhtml+xml; charset=utf-8': 'xhtml xht',
  'text/*; charset=utf-8': 'css csv vtt',
  'text/plain; charset=utf-8': 'txt text log conf ini list',
  'text/markdown; charset=utf-8': 'md markdown',
  'text/yaml': 'yaml yml',
  'text/x-c': 'c cc cpp h hh',
  'text/x-java-source': 'java',
  'application/javascript; charset=utf-8': 'js mjs',
  'application/json; charset=utf-8': 'json map',
  'application/manifest+json; charset=utf-8': 'webmanifest',
  'application/geo+json': 'geojson',
  'application/ld+json': 'jsonld',
  'application/*': 'xml pdf wasm zip',
  'application/gzip': 'gz',
  'application/*+xml': 'atom rss',
  'image/*': 'png apng jpeg gif webp avif bmp',
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'image/vnd.microsoft.icon': 'ico',
  'font/*': 'woff woff2 ttf otf',
  'application/vnd.ms-fontobject': 'eot',
  'video/*': 'mp4 webm',
  'video/x-m4v': 'm4v',
  'video/ogg': 'ogv',
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
  'video/3gpp': '3gp',
  'audio/*': 'aac ogg wav',
  'audio/mpeg': 'mp3',
  'audio/x-flac': 'flac',
  'audio/mp4': 'm4a',
  'audio/ogg': 'oga opus',
};

const MEDIA_TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries(ENDINGS).flatMap(([type, endings]) =>
    endings.split(' ').map((ending) => [ending, type.replace('*', ending)]),
  ),
);

/** The content type that GitHub Pages gives a file. @param path separated by `/` */
export function getContentType(path: string): string {
  const [, ending = ''] = /\.([^./]+)$/.exec(path.toLowerCase()) ?? [];
  return MEDIA_TYPES.get(ending) ?? 'application/octet-stream';
}

/** How a browser shows a file. `plain`: text or an image; `viewer`: not in every browser; `none`: it downloads it. */
export type BrowserDisplay = 'page' | 'plain' | 'viewer' | 'none';

/**
 * The types that Chromium shows, each tried there. It downloads all others.
 * @see https://chromium.googlesource.com/chromium/src/+/main/third_party/blink/common/mime_util/mime_util.cc
 */
const SHOWN_TYPES: readonly (readonly [RegExp, BrowserDisplay])[] = [
  [/^(?:text\/html|application\/xhtml\+xml)$/, 'page'],
  [
    /^text\/(?!(?:(?:x-)?(?:v?calendar|csv|qif|vcard)|x-vcf|directory|ldif|rtf|ofx|tsv|(?:comma|tab)-separated-values|vnd\.sun\.j2me\.app-descriptor|x-ms-(?:iqy|odc|rqy|contact))$)/,
    'plain',
  ],
  [/^image\/(?:a?png|jpeg|pjpeg|gif|webp|svg\+xml|avif|bmp|x-icon|vnd\.microsoft\.icon|x-xbitmap)$/, 'plain'],
  [/^application\/(?:[\w.-]+\+json|json|xml|(?:atom|rss)\+xml|(?:x-)?javascript|ecmascript)$/, 'plain'],
  [/^application\/(?:pdf|ogg|x-mpegurl|vnd\.apple\.mpegurl)$/, 'viewer'],
  [/^audio\/(?:aac|flac|mp4|x-m4a|mpeg|(?:x-)?(?:matroska|mp3|mpegurl|wav)|ogg|webm)$/, 'viewer'],
  [/^video\/(?:3gpp|(?:x-)?matroska|mp4|x-m4v|ogg|webm)$/, 'viewer'],
];

/** How a browser shows a content type. @param contentType with or without parameters */
export function getTypeDisplay(contentType: string): BrowserDisplay {
  const type = contentType.replace(/;.*/s, '').trim().toLowerCase();
  return SHOWN_TYPES.find(([pattern]) => pattern.test(type))?.[1] ?? 'none';
}

/** The class of types that a browser shows alike, such as `text` or `image`; empty if it downloads the type. */
export function getTypeClass(contentType: string): string {
  if (getTypeDisplay(contentType) === 'none') return '';
  const [found = 'text'] = /x?html\b|svg|image(?!\/svg)|audio|video|ogg|mpegurl|pdf/i.exec(contentType) ?? [];
  return found.toLowerCase().replace(/audio|video|ogg|mpegurl/, 'media');
}

/** How a browser shows a file on Pages. */
export function getBrowserDisplay(path: string): BrowserDisplay {
  // Whether a browser opens a compressed picture depends on a header of the host.
  return /\.svgz$/i.test(path) ? 'viewer' : getTypeDisplay(getContentType(path));
}

export const isImage = (path: string): boolean => getContentType(path).startsWith('image/');
