/** The types of GitHub Pages by file ending; `*` stands for the ending. */
const ENDINGS: Readonly<Record<string, string>> = {
  'text/html; charset=utf-8': 'html htm shtml',
  'application/xhtml+xml; charset=utf-8': 'xhtml xht',
  'text/markdown; charset=utf-8': 'md',
  'text/plain; charset=utf-8': 'txt log',
  'text/*; charset=utf-8': 'css csv',
  'text/yaml': 'yaml yml',
  'application/javascript; charset=utf-8': 'js mjs',
  'application/json; charset=utf-8': 'json',
  'application/*': 'xml pdf wasm zip',
  'application/gzip': 'gz',
  'image/*': 'png gif webp avif bmp',
  'image/jpeg': 'jpg jpeg',
  'image/svg+xml': 'svg',
  'image/vnd.microsoft.icon': 'ico',
  'font/*': 'woff2',
  'audio/*': 'ogg',
  'video/*': 'mp4',
  'video/x-matroska': 'mkv',
  'video/3gpp': '3gp',
};

const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries(ENDINGS).flatMap(([type, endings]) =>
    endings.split(' ').map((ending) => [ending, type.replace('*', ending)]),
  ),
);

export function getMediaType(name: string): string {
  const [, ending = ''] = /\.([^./]+)$/.exec(name.toLowerCase()) ?? [];
  return TYPES.get(ending) ?? 'application/octet-stream';
}

export function isTextFile(name: string): boolean {
  return /^(text\/|application\/(javascript|json|xml)|image\/svg)/.test(getMediaType(name));
}
