import type { LocalFile } from '../../../src/rules/inspect.ts';
import type { SiteFinding, SiteInspection, SiteOptions } from '../../../src/rules/site/findings.ts';
import { inspectSite } from '../../../src/rules/site/inspect-site.ts';

/** The texts or the bytes of files by their path. */
export type Files = Readonly<Record<string, string | Buffer>>;

/** A folder with a page, and with other files: their names, or `name: text`. */
export const site = (index: string | Buffer, ...others: readonly string[]): Files => ({
  'index.html': index,
  ...Object.fromEntries(
    others.map((one) => {
      const [name = '', text = ''] = one.split(/: (.*)/s);
      return [name, text];
    }),
  ),
});

/** A file with this text or these bytes, read in two pieces that may cut a letter. */
export function siteFile(text: string | Buffer): Pick<LocalFile, 'size' | 'pieces'> {
  const bytes = Buffer.from(text as string);
  const half = Math.ceil(bytes.length / 2);
  return {
    size: bytes.length,
    async *pieces() {
      yield bytes.subarray(0, half);
      yield bytes.subarray(half);
    },
  };
}

/** Inspects a folder below a project site of which nothing else is there. */
export function inspect(texts: Files, options: Partial<SiteOptions> = {}): Promise<SiteInspection> {
  const files = new Map(Object.entries(texts).map(([path, text]) => [path, siteFile(text)]));
  return inspectSite(files, {
    entry: 'index.html',
    isFolder: true,
    sitePath: '/repo/previews/pr-12/',
    selfContained: 'enforce',
    ...options,
  });
}

/** Inspects a page that is delivered alone. */
export const inspectPage = (
  page: string | Buffer,
  options: Partial<SiteOptions> = {},
  name = 'page.html',
): Promise<SiteInspection> => inspect({ [name]: page }, { entry: name, isFolder: false, ...options });

/** What becomes of findings, by their kinds: such as `refused missing, note base`. */
export function verdictOf({ refusals, unknown, notes }: SiteInspection): string {
  const list = (word: string, found: readonly SiteFinding[]): string[] =>
    found.length === 0 ? [] : [`${word} ${found.map(({ kind }) => kind).join(' ')}`];
  return [...list('refused', refusals), ...list('unknown', unknown), ...list('note', notes)].join(', ');
}
