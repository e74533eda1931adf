/**
 * What the Pages host says of a file: each type, and the ends of the names that get it; `*` is the end itself.
 *
 * @see https://github.com/jshttp/mime-db
 */
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
  'application/*': 'xml pdf wasm',
  'application/*+xml': 'atom rss',
  'image/*': 'png apng jpeg gif webp avif bmp',
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'image/vnd.microsoft.icon': 'ico',
  'font/*': 'woff woff2 ttf otf',
  'video/*': 'mp4 webm',
  'video/x-m4v': 'm4v',
  'video/ogg': 'ogv',
  'video/x-matroska': 'mkv',
  'video/3gpp': '3gp',
  'audio/*': 'aac ogg wav',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/ogg': 'oga opus',
};

const MEDIA_TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries(ENDINGS).flatMap(([type, endings]) =>
    endings.split(' ').map((one) => [one, type.replace('*', one)]),
  ),
);

/** The content type with which a host of static pages serves a file. @param path separated by `/` */
export function getContentType(path: string): string {
  const [, ending = ''] = /\.([^./]+)$/.exec(path.toLowerCase()) ?? [];
  return MEDIA_TYPES.get(ending) ?? 'application/octet-stream';
}
