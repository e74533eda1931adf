import { describe, expect, test } from '@jest/globals';
import {
  type Played,
  type PlayedDelivery,
  proven,
  refused,
  setUpPlay,
  writesOf,
} from '../../scenarios/play.ts';
import type { StoredRelease } from '../../world/release-store.ts';
import type { TestRepository } from '../../world/repository.ts';
import type { InterceptedReply, RequestMatch } from '../../world/server/interceptions.ts';
import { type HeldAsset, hold, QUIET } from './held-assets.ts';

const play = setUpPlay();
const DENIED: InterceptedReply = { status: 403, body: '{"message":"no"}' };
const LOST: InterceptedReply = { status: 502, body: '<html>' };
const UPLOAD: RequestMatch = { method: 'POST', url: /uploads\.github\.com/ };
const PUBLISH: RequestMatch = { method: 'PATCH', url: /releases\/\d+$/, times: 99 };
const DISCARD: RequestMatch = { method: 'DELETE', url: /releases\/\d+$/, times: 9 };
const TWO = ['a.zip', 'b.zip'];

/** Delivers files to the tag v1, each with its name as its content. */
function deliver(
  repository: TestRepository,
  names: readonly string[] = TWO,
  inputs: object = {},
  around: PlayedDelivery['around'] = {},
): Promise<Played> {
  const files = Object.fromEntries(names.map((name) => [name, name]));
  const given = { channel: 'K2', tag: 'v1', file: names.join('\n'), ...inputs };
  return play.deliver({ repository, files, inputs: given, around });
}
const newRepository = () => play.repository({ pages: false });

/** A repository with somebody's release v1 and these assets. */
async function repositoryWith(...held: readonly HeldAsset[]): Promise<TestRepository> {
  const repository = await newRepository();
  const about = { target: 'main', name: 'v1', body: null, draft: false, prerelease: false };
  hold(repository, repository.releaseStore.add({ tag: 'v1', ...about }), ...held);
  return repository;
}

const draftsOf = (repository: TestRepository) => repository.releases().filter(({ draft }) => draft);

describe('an upload to channel K2', () => {
  test.each<[string, string, string, object, RegExp]>([
    [
      'the tag is named like a branch',
      'a.zip',
      'main',
      {},
      /^place: the tag main has the same name as a branch/,
    ],
    [
      'the repository is private, whose assets nobody can read',
      'a.zip',
      'v1',
      { private: true },
      /^place: .*can't be read anonymously → .*K1 with a public site, or use channel: K3 /,
    ],
  ])('is refused before a write if %s', async (_, name, tag, spec, says) => {
    const repository = await play.repository({ pages: false, ...spec });
    expect(writesOf(await refused(deliver(repository, [name], { tag }), says))).toEqual([]);
  });

  test('notes a changed name, and lists a missing digest as unknown', async () => {
    const alter = (real: { body: Buffer }): { status: number; body: string } => {
      Object.assign(repository.releases()[0]?.assets[0] ?? {}, { digest: null });
      return { status: 201, body: JSON.stringify({ ...JSON.parse(String(real.body)), digest: null }) };
    };
    const repository = await newRepository();
    play.intercept(UPLOAD, { alter });
    const { report } = await proven(deliver(repository, ['ä.zip']));
    expect(report.lines.CLAIM).toContain('the asset is named ae.zip; its label is ä.zip (screen-delivery)');
    expect(report.unknown).toEqual([expect.stringContaining('no digest')]);
  });

  test('does not know what is left behind if the upload to an existing release broke off', async () => {
    play.intercept({ ...UPLOAD, times: 99 }, LOST);
    const { report } = await deliver(await repositoryWith(), ['a.zip']);
    expect(report.lines.UNKNOWN).toMatch(/^whether a part of the file has arrived/);
  });

  test.each<[string, readonly HeldAsset[] | null, object, RegExp]>([
    ['there is no release', null, {}, /v1 would be created as a draft, and published with all its files/],
    ['there is no such asset', [], {}, /the asset a\.zip would be added to the release v1/],
    ['other bytes are there, to overwrite', [{ name: 'a.zip' }], { overwrite: 'true' }, /would be replaced/],
    ['other bytes are there', [{ name: 'a.zip' }], {}, /already has an asset a\.zip/],
    ['another job uploads it', [{ name: 'a.zip', state: 'starter' }], {}, /another job has uploaded a\.zip/],
  ])('is described by a dry run if %s', async (_, held, inputs, says) => {
    const repository = held === null ? await newRepository() : await repositoryWith(...held);
    const planned = await deliver(repository, ['a.zip'], { 'dry-run': 'true', ...inputs });
    expect(`${planned.log}${planned.report.notReady?.reason}`).toMatch(says);
    expect(writesOf(planned)).toEqual([]);
  });
});

describe('a new release of channel K2', () => {
  const PUBLISHED = /^left behind: the release v1, which is published$/;
  const DRAFT_LEFT = /^left behind: the draft \d+ of the release v1, which is not public$/;
  const NOTHING = /^nothing was published$/;
  const only = (repository: TestRepository): StoredRelease => repository.releases()[0] as StoredRelease;
  /** Changes the draft after it has all files. */
  const onceFilled = (repository: TestRepository, act: (draft: StoredRelease) => unknown): void =>
    void play.meanwhile({ ...UPLOAD, skip: 1 }, () => act(only(repository)));
  const taken = JSON.stringify({ message: 'Validation Failed', errors: [{ code: 'already_exists' }] });

  test.each<[string, (repository: TestRepository) => unknown, RegExp, number, string?]>([
    ['a file fails', () => play.intercept({ ...UPLOAD, skip: 1 }, DENIED), NOTHING, 0],
    [
      'its draft can not be deleted',
      () => [play.intercept(UPLOAD, DENIED), play.intercept(DISCARD, DENIED)],
      DRAFT_LEFT,
      1,
    ],
    [
      'somebody has published it',
      (repository) => {
        onceFilled(repository, (draft) => repository.releaseStore.publish(draft));
        play.intercept({ url: /releases\/\d+$/ }, DENIED);
      },
      PUBLISHED,
      0,
    ],
    ['its tag is taken', () => play.intercept(PUBLISH, { status: 422, body: taken }), NOTHING, 0, 'CONFLICT'],
    ['it may not be published', () => play.intercept(PUBLISH, DENIED), NOTHING, 0],
    [
      'somebody deleted its draft while it was filled',
      (repository) => onceFilled(repository, (draft) => repository.releaseStore.remove(draft)),
      /^left behind: perhaps the draft \d+ of the release v1, which is not public$/,
      0,
      'NOT_FOUND',
    ],
    [
      'it may be published',
      () => play.intercept(PUBLISH, LOST),
      /the draft \d+ .*, which may be published$/,
      1,
      'HOST_ERROR',
    ],
  ])('reports what is left behind if %s', async (_, setUp, left, drafts, code = 'NO_PERMISSION') => {
    const repository = await newRepository();
    setUp(repository);
    const { reports } = await deliver(repository);
    expect(reports.map(({ notReady }) => notReady?.code)).toEqual([code, code]);
    for (const { lines } of reports) expect(lines.UNKNOWN).toMatch(left);
    expect(draftsOf(repository)).toHaveLength(drafts);
  });

  test('waits only for `timeout` if another job has its tag, and no list shows that release', async () => {
    play.intercept(PUBLISH, { status: 422, body: taken });
    const waited = deliver(await newRepository(), ['a.zip'], { timeout: '7' });
    const { took } = await refused(waited, /^place: another job is publishing the release v1/);
    expect(took).toBeLessThan(10_000);
  });

  const change = (more: Partial<StoredRelease>) => (draft: StoredRelease) => Object.assign(draft, more);
  const changeEach = (more: object) => (draft: StoredRelease) =>
    draft.assets.map((asset) => Object.assign(asset, more));
  type Act = (draft: StoredRelease, repository: TestRepository) => unknown;
  test.each<[string, Act, RegExp | null]>([
    ['changed its text', change({ body: 'Notes by hand.' }), DRAFT_LEFT],
    ['changed its title', change({ name: 'Version one' }), DRAFT_LEFT],
    ['changed its tag', change({ tag: 'v2' }), DRAFT_LEFT],
    ['added a file', (draft, repository) => hold(repository, draft, { name: 'notes.txt' }), DRAFT_LEFT],
    ['replaced a file', changeEach({ digest: 'theirs' }), null],
    ['removed a file', (draft) => draft.assets.shift(), null],
    ['began an upload that has not ended', changeEach({ state: 'open' }), null],
    [
      'published it under another tag',
      (draft, { releaseStore }) => [releaseStore.publish(draft), change({ tag: 'v2' })(draft)],
      /^left behind: the release v2, which is published$/,
    ],
  ])('is not published if somebody %s, and deleted only if nobody changed it', async (_, act, left) => {
    const repository = await newRepository();
    onceFilled(repository, (draft) => act(draft, repository));
    const says =
      left === null ? /does not have [ab]\.zip with the right bytes/ : /changed or published the draft/;
    const { report } = await refused(deliver(repository), says);
    expect(report.lines.UNKNOWN).toMatch(left ?? NOTHING);
    expect(repository.releases()).toHaveLength(left === null ? 0 : 1);
  });

  test('is handed over if somebody published the draft under the same tag, with their text', async () => {
    const repository = await newRepository();
    onceFilled(repository, (draft) => {
      repository.releaseStore.publish(draft);
      draft.body = 'Notes by hand.';
    });
    await proven(deliver(repository));
    expect(repository.releases()).toMatchObject([{ body: 'Notes by hand.', draft: false }]);
  });

  test('is published with the name that GitHub gave to a file', async () => {
    const repository = await newRepository();
    const alter = (real: { body: Buffer }): { status: number; body: string } => {
      Object.assign(only(repository).assets[0] ?? {}, { name: 'default.zip' });
      return { status: 201, body: String(real.body).replaceAll('a.zip', 'default.zip') };
    };
    play.intercept(UPLOAD, { alter });
    const { report } = await proven(deliver(repository, ['a.zip']));
    expect(report.lines.CLAIM).toContain('the asset is named default.zip');
  });

  /** An abandoned draft with one of two files. */
  async function leaveDraft(): Promise<{ repository: TestRepository; left: StoredRelease }> {
    const repository = await newRepository();
    const rules = [play.intercept({ ...UPLOAD, skip: 1, times: 9 }, DENIED), play.intercept(DISCARD, DENIED)];
    await deliver(repository);
    for (const rule of rules) rule.remove();
    const left = only(repository);
    for (const time of [left.createdAt, ...left.assets.map((one) => one.updatedAt)]) {
      time.setTime(QUIET.getTime());
    }
    return { repository, left };
  }

  const recent = new Date(QUIET.getTime() + 3_600_000);
  const KEPT = /^v1 false, (v1|v2) true$/;
  test.each<[string, Act, readonly string[], string, RegExp]>([
    ['nobody has touched: it is deleted', () => undefined, TWO, 'Deliver', /^v1 false$/],
    ['whose tag somebody changed', change({ tag: 'v2', name: 'v2' }), TWO, 'Deliver', KEPT],
    [
      'with a file that somebody added',
      (draft, repository) => hold(repository, draft, { name: 'notes.txt', updatedAt: QUIET }),
      TWO,
      'Deliver',
      KEPT,
    ],
    ['that was created a while ago', change({ createdAt: recent, assets: [] }), TWO, 'Deliver', KEPT],
    ['whose file is not old', changeEach({ updatedAt: recent }), TWO, 'Deliver', KEPT],
    ['of another job', () => undefined, TWO, 'Deliver/other', KEPT],
    ['of a delivery with other names: it is deleted', () => undefined, ['c.zip'], 'Deliver', /^v1 false$/],
  ])('leaves the draft of a killed run alone: %s', async (_, act, names, job, releases) => {
    const { repository, left } = await leaveDraft();
    act(left, repository);
    const about = job === 'Deliver' ? {} : { job };
    const planned = await deliver(repository, names, { 'dry-run': 'true' }, about);
    const told = `the draft ${left.id} of an earlier run would be deleted`;
    expect(planned.log.includes(told)).toBe(releases !== KEPT);
    await proven(deliver(repository, names, {}, about));
    const shown = repository.releases().map(({ tag, draft }) => `${tag} ${draft}`);
    expect(shown.join(', ')).toMatch(releases);
  });

  test.each(['deliver', 'withdraw'])('is not needed to delete abandoned drafts: %s', async (operation) => {
    const { repository, left } = await leaveDraft();
    const about = { target: 'main', name: 'v2', body: null, draft: false, prerelease: false };
    hold(repository, repository.releaseStore.add({ tag: 'v2', ...about }));
    const planned = await deliver(repository, ['a.zip'], { tag: 'v2', 'dry-run': 'true' });
    expect(planned.log).toContain(`; the draft ${left.id} of an earlier run would be deleted`);
    await proven(deliver(repository, ['a.zip'], { tag: 'v2', operation }));
    expect(draftsOf(repository)).toEqual([]);
  });

  test("is created even if a killed run's draft can't be deleted", async () => {
    const { repository, left } = await leaveDraft();
    play.intercept(DISCARD, DENIED);
    const { log } = await proven(deliver(repository));
    expect(log).toContain(`warning: could not delete the draft ${left.id}: `);
  });

  test.each<[string, Act]>([
    ['wrote its text', change({ body: 'Version 1' })],
    ['wrote nothing yet', change({ body: null })],
    ['added to its text', (draft) => change({ body: `${draft.body} ` })(draft)],
    [
      'saved its text in a browser',
      (draft) => change({ body: draft.body?.replaceAll('\n', '\r\n') ?? null })(draft),
    ],
    ['changed its title', change({ name: 'Version one' })],
  ])('is not created if somebody prepares a release for the tag, who %s', async (_, act) => {
    const { repository, left } = await leaveDraft();
    act(left, repository);
    for (const dryRun of ['true', 'false']) {
      const played = deliver(repository, TWO, { 'dry-run': dryRun });
      expect(writesOf(await refused(played, /prepares a release for the tag v1/))).toEqual([]);
    }
  });
});
