import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hasFailed } from '../../../../src/errors.ts';
import { temporaryFolder } from '../../../support/files.ts';
import { type AskedRun, Authorship } from './authorship.ts';
import { type HeldFile, held, heldFiles, MemoryBranch } from './memory-branch.ts';
import { deliverFile, deliverSite, withdrawFolder } from './site-runs.ts';

const RUNS = 200;
const { PATH } = process.env;

// Without git the commits are made by the object API, which the branch in memory answers.
beforeAll(async () => {
  process.env.PATH = await temporaryFolder();
});
afterAll(() => {
  process.env.PATH = PATH;
});

const name = fc.constantFrom('index.html', 'index.html', 'a', 'a', 'a/b', 'd d', 'p/1/a');
/** Few contents, so that a person often writes what this tool delivers. */
const content = fc.constantFrom('one', 'two', 'three');

const files = fc
  .tuple(content, fc.dictionary(name, content, { maxKeys: 4 }))
  .map(([page, others]) => ({ 'index.html': page, ...others }))
  .filter((one) => !('a' in one && 'a/b' in one));

const prune = fc.constantFrom(true, true, true, false);
const rarely = fc.nat(7).map((nth) => nth === 7);

const changeIn = (folder: fc.Arbitrary<string>) =>
  fc.record({
    folder,
    name,
    what: fc.constantFrom('write', 'write', 'remove', 'rename', 'make executable'),
    content: fc.oneof(
      content,
      fc.integer({ min: 0, max: 1_000 }).map((nth) => `theirs ${nth}`),
    ),
  });

interface EventSetting {
  readonly folder: fc.Arbitrary<string>;
  readonly keep: fc.Arbitrary<number | undefined>;
}

function eventWith({ folder, keep }: EventSetting) {
  const change = changeIn(folder);
  /** What a person commits while we deliver. */
  const meanwhile = fc.option(change, { freq: 6 });
  const how = fc.constantFrom('amend', 'reword', 'squash', 'copy', 'copy', 'quote');
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('site' as const),
        folder,
        files,
        prune,
        keep,
        overwrite: rarely,
        nojekyll: rarely,
        meanwhile,
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('file' as const), folder, name, content }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('withdrawal' as const), folder, meanwhile }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('change' as const), change }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('revert' as const) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('rewriting' as const), how, change }) },
  );
}

type HistoryEvent = ReturnType<typeof eventWith> extends fc.Arbitrary<infer Value> ? Value : never;
type PersonChange = ReturnType<typeof changeIn> extends fc.Arbitrary<infer Value> ? Value : never;

/** The files of the branch after a change; as in git, a name is a file or a folder. */
function applyChange(
  branch: MemoryBranch,
  { folder: itemPath, name: file, what, content: text }: PersonChange,
) {
  const path = itemPath + file;
  const result = new Map(branch.head.files);
  const put = (at: string, one: HeldFile): void => {
    for (const other of [...result.keys()]) {
      if (other.startsWith(`${at}/`) || at.startsWith(`${other}/`)) result.delete(other);
    }
    result.set(at, one);
  };
  const existing = result.get(path);
  if (what === 'write') put(path, held(text));
  else if (existing === undefined) return result;
  else if (what === 'make executable') put(path, { ...existing, mode: '100755' });
  else {
    result.delete(path);
    if (what === 'rename') put(`${path}.renamed`, existing);
  }
  return result;
}

/** One branch, the runs on it, and what was wrong with them. */
class History {
  readonly branch = new MemoryBranch(
    heldFiles({ 'README.md': 'theirs', 'p/1/mine/x': 'theirs', 'p/1/d d': 'one' }),
  );
  readonly authorship = new Authorship(this.branch);
  problems: string[] = [];

  async play(one: HistoryEvent): Promise<void> {
    if (one.kind === 'change') this.#change(one.change);
    else if (one.kind === 'revert') this.#revert();
    else if (one.kind === 'rewriting') this.#rewrite(one);
    else await this.#run(one);
  }

  #change(one: PersonChange): void {
    this.branch.commit(applyChange(this.branch, one), 'A change by a person');
    this.authorship.seePerson();
  }

  #revert(): void {
    const { parent, message } = this.branch.head;
    if (parent === null) return;
    this.branch.commit(parent.files, `Revert "${message.split('\n')[0]}"\n\nThis reverts a commit.`);
    this.authorship.seePerson();
  }

  #rewrite({ how, change: one }: Extract<HistoryEvent, { kind: 'rewriting' }>): void {
    const { head, history } = this.branch;
    const ours = history.find(({ message }) => /^Delivered-object: \w+ .*\/$/m.test(message))?.message;
    // The newest delivery's message is the one in use.
    const [, itemPath] = /^Delivered-object: \w+ (.*)$/m.exec(ours ?? '') ?? [];
    const after = applyChange(this.branch, { ...one, folder: itemPath?.replace(/^\.\/$/, '') ?? one.folder });
    const quoted = `Squashed\n\n* ${head.message}\n* ${head.parent?.message}`;
    if (how === 'amend') this.branch.commit(after, head.message, head.parent);
    if (how === 'reword') this.branch.commit(head.files, `Reworded: ${head.message}`, head.parent);
    if (how === 'squash') this.branch.commit(head.files, quoted, head.parent?.parent ?? null);
    if (how === 'copy') this.branch.commit(after, ours ?? 'nothing to copy');
    if (how === 'quote') this.branch.commit(after, `A note\n\n${ours}`);
    if (how === 'quote') this.authorship.seePerson();
    else this.authorship.seeRewriting();
  }

  async #run(one: Extract<HistoryEvent, { kind: 'site' | 'file' | 'withdrawal' }>): Promise<void> {
    const { branch, authorship } = this;
    const meanwhile = one.kind === 'file' ? null : one.meanwhile;
    branch.beforeMove = () => {
      branch.beforeMove = () => undefined;
      if (meanwhile !== null) this.#change(meanwhile);
    };
    const asked = toAskedRun(one);
    const isFree = asked.kind === 'site' && meanwhile === null && authorship.isFree(asked);
    const outcomes = [await this.#perform(one)];
    branch.beforeMove = () => undefined;
    const failures = outcomes.filter(hasFailed);
    const codes = failures.map(({ code, message }) => `${code}: ${message}`);
    this.problems.push(
      ...authorship.seeRun(asked),
      ...(failures.length === 0 ? authorship.findUndone(asked) : []),
      ...(isFree ? codes.map((code) => `refused without a reason: ${code}`) : []),
      ...codes.filter((code) => !code.startsWith('NOT_OURS') && !code.startsWith('BAD_INPUT')),
    );
  }

  #perform(one: Extract<HistoryEvent, { kind: 'site' | 'file' | 'withdrawal' }>) {
    if (one.kind === 'withdrawal') return withdrawFolder(this.branch, one.folder);
    return one.kind === 'site'
      ? deliverSite(this.branch, one.folder, one.files, one)
      : deliverFile(this.branch, one.folder + one.name, one.content);
  }
}

function toAskedRun(one: Extract<HistoryEvent, { kind: 'site' | 'file' | 'withdrawal' }>): AskedRun {
  if (one.kind === 'file') return { kind: 'file', path: one.folder + one.name };
  return one.kind === 'site' ? { ...one, wanted: heldFiles(one.files) } : one;
}

const SETTINGS: readonly (readonly [string, EventSetting])[] = [
  [
    'one folder, the root and their neighbors',
    { folder: fc.constantFrom('p/1/', 'p/1/', 'p/1/', 'p/2/', ''), keep: fc.constant(undefined) },
  ],
  [
    'folders of which few are kept',
    {
      folder: fc.constantFrom('p/1/', 'p/2/', 'p/2/', 'p/3/', 'p/3/'),
      keep: fc.constantFrom(1, 2, undefined),
    },
  ],
  [
    'folders in each other',
    { folder: fc.constantFrom('p/', 'p/1/', 'p/1/d/', 'p/2/a/b/', 'p/2/a/b/'), keep: fc.constant(undefined) },
  ],
];

test.each(SETTINGS)(
  'in no history of %s is a byte of a person lost, or something of ours left that should go',
  async (_, setting) => {
    const events = fc.array(eventWith(setting), { minLength: 2, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(events, async (all) => {
        const history = new History();
        for (const one of all) {
          await history.play(one);
          expect(history.problems).toEqual([]);
        }
      }),
      { numRuns: RUNS },
    );
  },
);
