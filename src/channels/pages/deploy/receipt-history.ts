import { createHash } from 'node:crypto';
import { keepRecent } from '../../../async.ts';
import { type BranchEntry, type CommitEntries, findInTree } from '../../../github/api/branch.ts';
import { hashTree } from '../../../github/api/tree-id.ts';
import type { Change } from '../../../github/change.ts';
import type { Deliverer } from '../../../github/workflow-run.ts';
import type { Ports } from '../../../ports.ts';
import { RECEIPT } from '../../../protocol/limits.ts';
import type { GitBlob } from '../../../rules/fingerprint.ts';
import type { HistoryCommit, SiteHistory } from '../branch-reader.ts';
import { parseMessage } from '../commit-message.ts';
import { createOwnLookup, isWithin } from '../delivery-records.ts';

/** A delivery or removal of a site without a branch. It stands for a commit. */
export interface ReceiptDelivery {
  /** 40 hexadecimal digits, like a commit's. */
  readonly id: string;
  /** ISO 8601. */
  readonly time: string;
  /** As `formatCommitMessage` writes it. */
  readonly message: string;
  /** Its files that no newer delivery replaced or removed. The site is exactly the files of all deliveries. */
  readonly files: ReadonlyMap<string, GitBlob>;
  readonly removed: readonly string[];
}

/** The file in a deployed site that lists its content and who delivered it: the site's receipt. */
export interface DeployRecord {
  /** Tells one live site from another. Any commit of the same branch counts as equal. */
  readonly id: string;
  /** The ids of the site before, the newest first: a CDN may show an old receipt for a moment. */
  readonly before: readonly string[];
  /** `null` for a site without a branch: then its deliveries say who delivered what. */
  readonly branch: string | null;
  readonly commit: string;
  readonly deliverer?: Deliverer | undefined;
  readonly files: ReadonlyMap<string, GitBlob>;
  /** The newest first. */
  readonly deliveries: readonly ReceiptDelivery[];
}

const createId = (...parts: readonly unknown[]): string =>
  createHash('sha1').update(JSON.stringify(parts)).digest('hex');

/** The history of a site without a branch, from its receipt. Nothing is sent; a deployment writes it. */
export class ReceiptHistory implements SiteHistory {
  readonly method = 'D';
  place: string;
  /** The newest first. */
  #deliveries: readonly ReceiptDelivery[] = [];
  #treeAt = this.#createReader();
  #time = '';
  /** The id of the receipt that it builds. */
  own = '';
  /** Ids of what it may replace: the one that it was built on, and this run's earlier ones. */
  replaceable: readonly string[] = [];
  /** Ids of everything that it replaces, also of this run's earlier ones. */
  before: readonly string[] = [];

  /** @param live the site before; `null` if it can't be read */
  constructor(host: string, live: DeployRecord | null) {
    this.place = `the site ${host}`;
    this.before = live?.before ?? [];
    this.load(live?.deliveries ?? []);
  }

  /** Begins a new receipt on top of another one. */
  build(
    record: Pick<DeployRecord, 'id' | 'before' | 'deliveries'>,
    { clock, random }: Pick<Ports, 'clock' | 'random'>,
  ): void {
    const own = this.own === '' ? [] : [this.own];
    this.before = [record.id, ...own, ...record.before].slice(0, RECEIPT.before);
    this.replaceable = [record.id, ...own, ...this.replaceable.slice(1)];
    this.#time = new Date(clock.date()).toISOString();
    this.own = createId(this.#time, random(), record.id);
    this.load(record.deliveries);
  }

  /** The files of the whole site. */
  get files(): ReadonlyMap<string, GitBlob> {
    return new Map(this.#deliveries.flatMap(({ files }) => [...files]));
  }

  /** What a deployment of this commit would show. */
  describe(commit: string): DeployRecord {
    const { own: id, before, files } = this;
    return { id, before, branch: null, commit, files, deliveries: this.#deliveries };
  }

  /** Replaces everything by what a receipt has now. */
  load(deliveries: readonly ReceiptDelivery[]): void {
    this.#deliveries = deliveries;
    this.#treeAt = this.#createReader();
  }

  readHead = async (): Promise<string> => this.#deliveries[0]?.id ?? '';

  readEntries = async (head: string): Promise<CommitEntries> => this.#treeAt(head);

  readEntry = async (path: string): Promise<BranchEntry | null> =>
    this.#treeAt(await this.readHead()).get(path) ?? null;

  readBlobs: SiteHistory['readBlobs'] = async (head, paths) =>
    new Map(paths.map((path) => [path, findInTree(this.#treeAt(head), path)]));

  readLastCommits: SiteHistory['readLastCommits'] = async (head, paths) =>
    new Map(
      paths.map((path) => {
        const all = this.#list(head, path);
        const messages = all.map(({ message }) => message);
        const blobs = all.flatMap(({ files }) => files?.get(path) ?? []);
        return [path, all[0] === undefined ? null : { ...all[0], messages, blobs }];
      }),
    );

  listCommits = async (head: string, path: string) => ({ commits: this.#list(head, path), isLast: true });

  /** Adds a delivery for each change; the commit that a branch needs before it isn't needed here. */
  async write(changes: readonly Change[]): Promise<string[]> {
    return changes.map(({ message, writes, removals }) => {
      const site = new Map(this.files);
      for (const path of removals) site.delete(path);
      for (const { path, file } of writes) site.set(path, { sha: file.blobSha, size: file.size });
      const isOwn = createOwnLookup(parseMessage(message));
      const files = new Map([...site].filter(([path]) => isOwn(path)));
      const about = { time: this.#time, message, removed: removals.slice(0, RECEIPT.removed) };
      this.#add({ id: createId(this.#deliveries[0]?.id, about), ...about, files }, removals);
      // A delivery has no commit that a report could name.
      return '';
    });
  }

  /** Takes its paths from the older deliveries. Of those without a file, it keeps the newest, for audits. */
  #add(delivery: ReceiptDelivery, removals: readonly string[]): void {
    const taken = new Set([...delivery.files.keys(), ...removals]);
    const older = this.#deliveries.map((one) => {
      const files = [...one.files].filter(([path]) => !taken.has(path));
      return files.length === one.files.size ? one : { ...one, files: new Map(files) };
    });
    let ended = 0;
    const isKept = ({ files }: ReceiptDelivery): boolean => files.size > 0 || ++ended <= RECEIPT.ended;
    this.load([delivery, ...older].filter(isKept));
  }

  #upTo(head: string): readonly ReceiptDelivery[] {
    const from = this.#deliveries.findIndex(({ id }) => id === head);
    return from < 0 ? [] : this.#deliveries.slice(from);
  }

  #list(head: string, path: string): HistoryCommit[] {
    const reached = this.#upTo(head);
    return reached.flatMap((delivery, nth) => {
      const { id: sha, message, time: date, files, removed: removedPaths } = delivery;
      // Ended deliveries count only for the whole site.
      if (path !== '' && ![...files.keys(), ...removedPaths].some((touched) => isWithin(touched, path)))
        return [];
      return { sha, message, date, parent: reached[nth + 1]?.id, isFirst: false, files, removedPaths };
    });
  }

  #createReader(): (head: string) => CommitEntries {
    return keepRecent(2, (head) => {
      const files = this.#upTo(head).flatMap((delivery) => [...delivery.files]);
      const entries = new Map<string, BranchEntry>();
      for (const [path, blob] of files) entries.set(path, { type: 'blob', mode: '100644', ...blob });
      hashTree(
        files.map(([path, { sha }]) => ({ path, sha })),
        (folder, sha) => entries.set(folder, { type: 'tree', mode: '040000', sha, size: 0 }),
      );
      return entries;
    });
  }
}
