import { inspectSite } from '../../../src/rules/site/inspect-site.ts';
import type { SiteFile, SiteInspection, SiteOptions } from '../../../src/rules/site/site-files.ts';

/** A file with this text or these bytes, read in one piece. */
export function siteFile(text: string | Buffer): SiteFile {
  const bytes = Buffer.from(text as string);
  return {
    size: bytes.length,
    async *read() {
      yield bytes;
    },
  };
}

/** Inspects a folder below a project site of which nothing else is there. */
export function inspect(
  texts: Readonly<Record<string, string>>,
  options: Partial<SiteOptions> = {},
): Promise<SiteInspection> {
  const files = new Map(Object.entries(texts).map(([path, text]) => [path, siteFile(text)]));
  return inspectSite(files, {
    entry: 'index.html',
    sitePath: '/repo/previews/pr-12/',
    rootPath: '/repo/',
    selfContained: 'enforce',
    ...options,
  });
}
