import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DeliveryError } from '../errors.ts';
import { MEGABYTE, SITE } from '../protocol/limits.ts';
import type { Text } from '../words.ts';
import type { LocalFile } from './inspect.ts';
import { DEPLOY_RECORD_PATH } from './special-files.ts';
import { type FoundProblem, refuseProblems, type WalkLimits, walkFolder } from './walk-folder.ts';

/** A checked folder or file that is delivered as one unit. */
export interface LocalSite {
  readonly isFolder: boolean;
  /** The page whose URL is handed over, or the single file. */
  readonly entry: LocalFile;
  readonly files: readonly LocalFile[];
  /** The text that a single rendered page shows, with its name beside the page. */
  readonly source?: { readonly name: string; readonly file: LocalFile; readonly markerCount: number | null };
  readonly size: number;
  /** Hidden files and folders, and what `!` lines exclude. */
  readonly leftOut: readonly string[];
}

export const siteOfFile = (file: LocalFile): LocalSite => ({
  isFolder: false,
  entry: file,
  files: [file],
  size: file.size,
  leftOut: [],
});

/**
 * Lists the files of a folder to deliver, except hidden ones (but with `.well-known/`): they often contain credentials.
 *
 * @param refuseNames gets all names, even of files that can't be delivered
 * @throws {DeliveryError} `BAD_FILE` for files that can't be delivered, or no files; `TOO_LARGE` for too many
 */
export async function listSiteFiles(
  folder: string,
  given: string,
  limits: Pick<WalkLimits, 'isLeftOut' | 'refusesHidden'> = {},
  refuseNames: (names: readonly string[]) => Promise<void> = async () => undefined,
): Promise<{ readonly paths: readonly string[]; readonly leftOut: readonly string[] }> {
  const paths: string[] = [];
  const leftOut: string[] = [];
  const refused: FoundProblem[] = [];
  let entries = 0;
  const names = limits.refusesHidden ? [] : ['.well-known'];
  for await (const { path, isSkipped, problem } of walkFolder(folder, { ...limits, names })) {
    entries += 1;
    if (entries > SITE.entries) throw tooManyError(`${SITE.entries} files and folders`);
    if (isSkipped || path === DEPLOY_RECORD_PATH) leftOut.push(path);
    else if (problem !== null) refused.push({ path, problem });
    else if (!path.endsWith('/')) paths.push(path);
    if (paths.length > SITE.files) throw tooManyError(`${SITE.files} files`);
  }
  await refuseNames([...paths, ...leftOut, ...refused.map(({ path }) => path)]);
  refuseProblems(`the folder ${given} can't be delivered`, refused);
  if (paths.length === 0) {
    throw new DeliveryError('BAD_FILE', `the folder ${given} contains no files to deliver`, {
      // Agents have no such lines.
      hint: (w) =>
        `check the program that writes it; hidden files${w.list === undefined ? ' and what `!` lines name' : ''} are left out`,
    });
  }
  return { paths: paths.sort(), leftOut: leftOut.sort() };
}

const tooManyError = (count: string): DeliveryError =>
  new DeliveryError('TOO_LARGE', `the folder has more than ${count}`, {
    hint: (w) => `deliver a part of it, or pack it into an archive and ${w.use('K2')}`,
  });

/** @throws {DeliveryError} `TOO_LARGE` if the files are too large for a site. */
export function refuseLargeFolder(folder: string, given: string, paths: readonly string[]): void {
  let size = 0;
  for (const path of paths) size += statSync(join(folder, path)).size;
  refuseLargeSite(
    size,
    `the folder ${given} has`,
    (w) => `leave large files out, or pack it into an archive and ${w.use('K2')}`,
  );
}

/** @throws {DeliveryError} `TOO_LARGE` @see https://docs.github.com/pages/getting-started-with-github-pages/github-pages-limits */
export function refuseLargeSite(size: number, subject: string, hint: Text): void {
  if (size <= SITE.size) return;
  const message = `${subject} ${Math.round(size / MEGABYTE)} MB, and GitHub serves at most ${SITE.size / MEGABYTE}`;
  throw new DeliveryError('TOO_LARGE', message, { hint, leftBehind: [] });
}
