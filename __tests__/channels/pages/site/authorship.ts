import type { HeldCommit, HeldFiles, MemoryBranch } from './memory-branch.ts';

/** Who wrote a path's content. `restored` content was delivered there once, and may be anybody's. */
type Author = 'person' | 'restored' | 'single file' | 'Jekyll switch' | `site ${string}`;

export type AskedRun =
  | {
      readonly kind: 'site';
      readonly folder: string;
      readonly wanted: HeldFiles;
      readonly prune: boolean;
      readonly keep: number | undefined;
      readonly overwrite: boolean;
      readonly nojekyll: boolean;
    }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'withdrawal'; readonly folder: string };

type SiteRun = Extract<AskedRun, { kind: 'site' }>;

/** Tracks who wrote each content without reading messages, and finds what a run must not have done. */
export class Authorship {
  readonly #authors = new Map<string, Author>();
  /** What was ever delivered at a path, and what no run has removed since. */
  readonly #ever = new Map<string, Set<string>>();
  readonly #current = new Map<string, Set<string>>();
  /** Our commits that delivered a site, by the site's folder. */
  readonly #deliveries = new Map<HeldCommit, string>();
  #seen: HeldCommit;
  readonly #branch: MemoryBranch;

  constructor(branch: MemoryBranch) {
    this.#branch = branch;
    this.#seen = branch.head;
    for (const path of branch.head.files.keys()) this.#authors.set(path, 'person');
  }

  seePerson(): void {
    const { head } = this.#branch;
    for (const path of changedPaths(this.#seen.files, head.files)) {
      const file = head.files.get(path);
      if (file === undefined) this.#authors.delete(path);
      else {
        const wasOurs = file.mode === '100644' && this.#current.get(path)?.has(file.sha) === true;
        this.#authors.set(path, wasOurs ? 'restored' : 'person');
      }
    }
    this.#seen = head;
  }

  /** A person rewrote the history or copied a message, so earlier deliveries need not be found. */
  seeRewriting(): void {
    this.seePerson();
    for (const [path, author] of this.#authors) {
      const sha = this.#branch.head.files.get(path)?.sha ?? '';
      if (author !== 'person' || this.#ever.get(path)?.has(sha)) this.#authors.set(path, 'restored');
    }
    // What removed it may not be found any more either.
    for (const [path, shas] of this.#ever) this.#current.set(path, new Set(shas));
  }

  /** What is wrong with the commits that a run has made since. */
  seeRun(run: AskedRun): string[] {
    const commits = this.#branch.history.slice(0, this.#branch.history.indexOf(this.#seen)).reverse();
    if (!this.#branch.history.includes(this.#seen)) return ['the history was rewritten'];
    // A takeover removes a file before it writes it again.
    const last = commits.filter(({ message }) => run.kind !== 'site' || !message.startsWith('REMOVE '));
    return last.flatMap((commit) => this.#seeCommit(commit, run));
  }

  #seeCommit(commit: HeldCommit, run: AskedRun): string[] {
    const before = this.#seen.files;
    const { files } = commit;
    this.#seen = commit;
    const problems: string[] = [];
    for (const path of changedPaths(before, files)) {
      const author = this.#authors.get(path);
      const now = files.get(path);
      if (author === 'person' && !mayOverwrite(run, path)) problems.push(`changed ${path} of a person`);
      if (now === undefined && author?.startsWith('site') && !mayRemove(run, path, author)) {
        problems.push(`removed ${path} of ${author}`);
      }
      if (now === undefined) this.#forget(path, run);
      else if (isAsked(run, path, now.sha)) this.#setOurs(path, now.sha, run);
      else problems.push(`wrote ${path}, which was not asked for`);
    }
    if (run.kind !== 'site') return problems;
    for (const [path, { sha }] of run.wanted) {
      const itemPath = run.folder + path;
      // A file that is taken over counts as delivered, even if its content stays.
      if (run.overwrite || this.#authors.get(itemPath) === 'single file') this.#setOurs(itemPath, sha, run);
    }
    this.#deliveries.set(commit, run.folder);
    return problems;
  }

  /** A file that was removed from its site belongs to the person who puts it back. */
  #forget(path: string, run: AskedRun): void {
    const author = this.#authors.get(path);
    const isOfSite =
      run.kind === 'withdrawal'
        ? author?.startsWith('site ')
        : run.kind === 'site' && author === `site ${run.folder}`;
    if (isOfSite) this.#current.delete(path);
    this.#authors.delete(path);
  }

  #setOurs(path: string, sha: string, run: AskedRun): void {
    for (const shas of [this.#ever, this.#current]) shas.set(path, (shas.get(path) ?? new Set()).add(sha));
    const isSwitch = run.kind === 'site' && path === '.nojekyll';
    const author = run.kind === 'site' ? (`site ${run.folder}` as const) : 'single file';
    this.#authors.set(path, isSwitch ? 'Jekyll switch' : author);
  }

  /** Whether no file of others blocks a site. */
  isFree({ folder, wanted, overwrite, prune }: SiteRun): boolean {
    const { files } = this.#branch.head;
    const leaves = (path: string): boolean =>
      prune && this.#authors.get(path) === `site ${folder}` && !wanted.has(path.slice(folder.length));
    return [...wanted].every(([path, file]) => {
      const itemPath = folder + path;
      const existing = files.get(itemPath);
      const author = this.#authors.get(itemPath);
      const isOurs = author === `site ${folder}` || author === 'single file';
      const isSame = existing?.sha === file.sha && existing.mode === file.mode;
      const clashes = [...files.keys()].some(
        (other) => (other.startsWith(`${itemPath}/`) || itemPath.startsWith(`${other}/`)) && !leaves(other),
      );
      return !clashes && (existing === undefined || isSame || isOurs || overwrite);
    });
  }

  /** What a run that succeeded has left undone. */
  findUndone(run: AskedRun): string[] {
    const { files } = this.#branch.head;
    const problems: string[] = [];
    if (run.kind === 'file') return problems;
    const { folder } = run;
    for (const [path, author] of this.#authors) {
      if (!path.startsWith(folder)) continue;
      const isLeft =
        run.kind === 'withdrawal'
          ? author === 'single file' || author.startsWith(`site ${folder}`)
          : author === `site ${folder}` && run.prune && !run.wanted.has(path.slice(folder.length));
      if (isLeft) problems.push(`left ${path} of ${author}`);
    }
    if (run.kind === 'withdrawal') return problems;
    for (const [path, file] of run.wanted) {
      const existing = files.get(folder + path);
      if (existing?.sha !== file.sha || existing.mode !== file.mode) problems.push(`did not write ${path}`);
    }
    if (run.nojekyll && !files.has('.nojekyll')) problems.push('did not switch Jekyll off');
    return [...problems, ...this.#findUnremoved(run)];
  }

  /** The sibling sites that `keep` should have removed. */
  #findUnremoved({ folder, keep }: SiteRun): string[] {
    if (keep === undefined || folder === '') return [];
    const parent = folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1);
    const paths = [...this.#branch.head.files.keys()];
    const siblings = new Set(
      paths.flatMap((path) => {
        const end = path.startsWith(parent) ? path.indexOf('/', parent.length) : -1;
        const sibling = path.slice(0, end + 1);
        return end === -1 || sibling === folder ? [] : [sibling];
      }),
    );
    const whole = [...siblings].filter((sibling) => {
      const [last] = this.#branch.touching(this.#branch.head.sha, sibling.slice(0, -1));
      const inside = paths.filter((path) => path.startsWith(sibling));
      return (
        last !== undefined &&
        this.#deliveries.get(last) === sibling &&
        inside.every((path) => this.#authors.get(path) === `site ${sibling}`)
      );
    });
    return whole.length > keep - 1 ? [`kept ${whole.join(', ')} with keep ${keep}`] : [];
  }
}

export function changedPaths(before: HeldFiles, after: HeldFiles): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((path) => {
    const [one, other] = [before.get(path), after.get(path)];
    return one?.sha !== other?.sha || one?.mode !== other?.mode;
  });
}

/** Only what `overwrite` names may be of a person. */
const mayOverwrite = (run: AskedRun, path: string): boolean =>
  run.kind === 'site' &&
  run.overwrite &&
  path.startsWith(run.folder) &&
  run.wanted.has(path.slice(run.folder.length));

/** A site is removed by its own delivery or withdrawal, by `keep`, and with the folder that it lies in. */
function mayRemove(run: AskedRun, path: string, author: Author): boolean {
  if (run.kind === 'file') return false;
  if (author === `site ${run.folder}`) return run.kind === 'withdrawal' || run.prune;
  if (run.kind === 'withdrawal') return path.startsWith(run.folder);
  return run.keep !== undefined && !path.startsWith(run.folder);
}

function isAsked(run: AskedRun, path: string, sha: string): boolean {
  if (run.kind === 'file') return path === run.path;
  if (run.kind === 'withdrawal') return false;
  if (run.nojekyll && path === '.nojekyll') return true;
  return path.startsWith(run.folder) && run.wanted.get(path.slice(run.folder.length))?.sha === sha;
}
