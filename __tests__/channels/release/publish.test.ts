import { describe, expect, test } from '@jest/globals';
import type { Placement } from '../../../src/channels/channel.ts';
import { createReleasePublisher } from '../../../src/channels/release/publish.ts';
import type { ReleaseOptions } from '../../../src/channels/release/release-choice.ts';
import { type Asset, formatLabel } from '../../../src/github/api/releases.ts';
import type { RepositoryContext } from '../../../src/github/api/repository.ts';
import { type Answers, absent, FakeGitHub, failure } from '../../github/fake-github.ts';
import { localFile } from '../../support/files.ts';
import { FakeHttp, fakePorts, type Scripted } from '../../support/ports.ts';
import { assetWith, digestFor, QUIET, RELEASE } from '../fake-assets.ts';
import { prepareAll, prepareOne } from '../prepare-one.ts';
import { accessWith } from '../repository-context.ts';

const OPTIONS: ReleaseOptions = {
  tag: 'files-20260102',
  tagIsDefault: false,
  overwrite: false,
  job: 'Deliver/deliver',
};

const LOST = failure('CONNECTION', undefined, { retryable: true });

interface Setup {
  /** The answers to the first uploads; the others are stored. */
  readonly uploads?: readonly (Scripted | Error)[];
  readonly answers?: Answers;
  readonly options?: Partial<ReleaseOptions>;
}

const DRAFT = { ...RELEASE, draft: true };
type Draft = typeof DRAFT & { assets: readonly Asset[] };

/** A repository in which a draft is filled and published as scripted; `change` is made to the draft meanwhile. */
async function prepareNew(
  { answers = {}, uploads, options = {}, change = {} }: Setup & { change?: object } = {},
  names = ['a.zip', 'b.zip'],
) {
  const stored: Asset[] = [];
  const created: Draft[] = [];
  const listed = (Array.isArray(answers.list_releases) ? answers.list_releases : []) as Draft[];
  const github: FakeGitHub = new FakeGitHub({
    get_ref: absent,
    release_by_tag: absent,
    list_releases: [],
    create_release: ({ tag_name, body }: Record<string, string>) => {
      created.push({ ...DRAFT, tag_name, name: tag_name, body } as unknown as Draft);
      return created.at(-1);
    },
    get_release: ({ release_id }: { release_id: number }) =>
      listed.find(({ id }) => id === release_id) ?? { ...created.at(-1), ...change },
    list_assets: ({ release_id }: { release_id: number }) =>
      listed.find(({ id }) => id === release_id)?.assets ?? stored,
    publish_release: ({ tag_name }: { tag_name: string }) => ({ ...RELEASE, tag_name }),
    delete_draft: undefined,
    delete_asset: undefined,
    ...answers,
  });
  const host = new FakeHttp(({ url, body }, nth) => {
    const scripted = uploads?.[nth - 1];
    if (scripted !== undefined) return scripted;
    const name = new URL(url).searchParams.get('name') ?? '';
    stored.push(assetWith({ id: 20 + nth, name, label: formatLabel(name), digest: digestFor(body) }));
    return { status: 201, body: stored.at(-1) as Asset };
  });
  const ports = fakePorts(host.http);
  const action = createReleasePublisher({ ...OPTIONS, ...options }, accessWith(github), ports);
  const items = await Promise.all(names.map(async (name) => ({ file: await localFile(name), name })));
  const tasks = await prepareAll(action, items);
  const perform = async () => await action.perform(tasks);
  return { action, github, host, ports, perform, stored, tasks, preview: () => action.preview(tasks) };
}

/** One upload to a release that is there already. */
async function prepareUpload({ answers = {}, ...setup }: Setup, name = 'a.zip') {
  const existing = { release_by_tag: RELEASE, list_assets: [], ...answers };
  const { perform, preview, ...made } = await prepareNew({ answers: existing, ...setup }, [name]);
  const only = async <T>(results: Promise<readonly T[]>): Promise<T> => {
    const [result] = await results;
    if (result instanceof Error) throw result;
    return result as T;
  };
  return { ...made, perform: () => only(perform()), preview: () => only(preview()) };
}

test('preparing an upload to channel K2 plans the release and the asset without writing anything', async () => {
  const { github, host, tasks } = await prepareUpload({}, 'отчёт.zip');
  const destination = 'release files-20260102, asset otchyot.zip';
  expect(tasks).toMatchObject([{ plan: { channel: 'K2', destination, name: 'otchyot.zip' } }]);
  expect([github.calls, host.seen]).toEqual([[], []]);
});

test.each<[string, RepositoryContext, string | null, object]>([
  [
    'of a private repository, whose assets cannot be read anonymously',
    accessWith(new FakeGitHub(), { privateRepository: true }),
    'x',
    { code: 'NOT_EXTERNAL', hint: expect.stringMatching(/K1 with a public site, or use channel: K3 /) },
  ],
  ['without a token', accessWith(null), 'x', { code: 'NO_TOKEN' }],
  ['without a file', accessWith(new FakeGitHub()), null, { code: 'BAD_INPUT' }],
])('preparing an upload to channel K2 is refused %s', async (_, access, bytes, refusal) => {
  const action = createReleasePublisher(OPTIONS, access, fakePorts());
  const file = bytes === null ? null : await localFile(bytes);
  await expect(prepareOne(action, file, 'a.zip')).rejects.toMatchObject(refusal);
});

test('uploading an asset through channel K2 notes a changed name, and lists a missing digest as unknown', async () => {
  const { perform } = await prepareUpload(
    { uploads: [{ status: 201, body: assetWith({ size: 6 }) }] },
    'ä.zip',
  );
  const { notes, unknown } = (await perform()) as Placement;
  expect(notes).toContain('the asset is named a.zip; its label is ä.zip (screen-delivery)');
  expect(unknown).toEqual([expect.stringContaining('no digest')]);
});

test('uploading an asset through channel K2 does not touch a release whose tag has the name of a branch', async () => {
  const answers = { get_ref: { ref: 'refs/heads/main' } };
  const { github, host, perform } = await prepareUpload({ answers });
  await expect(perform()).rejects.toMatchObject({ code: 'BAD_INPUT', leftBehind: [] });
  expect([github.writes, host.seen]).toEqual([[], []]);
});

test('uploading an asset through channel K2 does not know what is left behind where the upload to an existing release broke off', async () => {
  const { perform } = await prepareUpload({ uploads: Array(9).fill(LOST) });
  await expect(perform()).rejects.toMatchObject({ code: 'CONNECTION', leftBehind: undefined });
});

describe('the preview of an upload to channel K2', () => {
  const other = assetWith({ digest: 'sha256:0ther' });
  test.each<[string, readonly Asset[] | null, boolean, string | null]>([
    ['there is no release', null, false, 'would be created as a draft, and published with all its files'],
    ['there is no such asset', [], false, 'the asset a.zip would be added to the release files-20260102'],
    ['it is there', [assetWith({ digest: digestFor('a.zip') })], false, 'asset 9 (a.zip) of the release'],
    ['other bytes are there, with overwrite', [other], true, 'the asset a.zip would be replaced'],
    ['other bytes are there', [other], false, null],
  ])('writes nothing where %s', async (_, assets, overwrite, words) => {
    const answers = {
      release_by_tag: assets === null ? absent : RELEASE,
      list_releases: [],
      list_assets: assets,
    };
    const { github, preview } = await prepareUpload({ answers, options: { overwrite } });
    if (words === null) await expect(preview()).rejects.toMatchObject({ code: 'NOT_OURS' });
    else await expect(preview()).resolves.toContain(words);
    expect(github.writes).toEqual([]);
  });
});

describe('a new release of channel K2', () => {
  const DRAFT_LEFT = 'the draft 3 of the release files-20260102, which is not public';
  const notOurs = (message: RegExp) => ({ code: 'NOT_OURS', message: expect.stringMatching(message) });
  const CHANGED = notOurs(/^somebody changed or published the draft of this delivery/);
  const BROKEN = { code: 'HOST_ERROR' };
  const changeEach = (more: object) => (stored: readonly Asset[]) =>
    stored.map((one) => ({ ...one, ...more }));
  const REFUSED: Setup = { uploads: [{ status: 403, body: { message: 'no' } }] };
  const DENIED = failure('NO_PERMISSION', 403);
  const TAKEN = failure('CONFLICT', 422);
  const PUBLISHED_LEFT = 'the release files-20260102, which is published';
  const MANY = Array(5).fill('publish_release');
  const gone = { get_release: absent };
  const taken = { get_release: { ...RELEASE, draft: false } };
  test.each<[string, Setup, string, readonly string[], readonly string[]]>([
    ['a file fails', REFUSED, 'NO_PERMISSION', [], ['delete_draft']],
    [
      'its draft can not be deleted',
      { ...REFUSED, answers: { delete_draft: DENIED } },
      'NO_PERMISSION',
      [DRAFT_LEFT],
      ['delete_draft'],
    ],
    ['somebody has published it', { ...REFUSED, answers: taken }, 'NO_PERMISSION', [PUBLISHED_LEFT], []],
    [
      'its tag is taken',
      { answers: { publish_release: TAKEN } },
      'CONFLICT',
      [],
      ['publish_release', 'delete_draft'],
    ],
    ['somebody deleted its draft while it was filled', { answers: gone }, 'NOT_FOUND', [], []],
    ['it may be published', { answers: { publish_release: LOST } }, 'CONNECTION', [DRAFT_LEFT], MANY],
  ])('says what is left behind where %s', async (_, setup, code, leftBehind, writes) => {
    const { github, perform } = await prepareNew(setup);
    const [first, second] = await perform();
    expect([first, second]).toMatchObject([{ code }, { code }]);
    expect([first, second]).toMatchObject([{ leftBehind }, { leftBehind }]);
    if (setup.uploads) {
      expect((second as Error).message).toMatch(/was not published, because a\.zip failed: /);
    }
    expect(github.writes).toEqual(['create_release', ...writes]);
  });

  const notes = assetWith({ id: 77, name: 'notes.txt' });
  const PUBLISHED = { draft: false, tag_name: 'v1', body: 'Notes by hand.' };
  const THEIRS = 'the release v1, which is published';
  type ChangeAssets = (stored: readonly Asset[]) => readonly Asset[];
  test.each<[string, Setup & { change?: object }, ChangeAssets | null, object, readonly string[]]>([
    ['changed its text', { change: { body: 'Notes by hand.' } }, null, CHANGED, [DRAFT_LEFT]],
    ['changed its title', { change: { name: 'Version one' } }, null, CHANGED, [DRAFT_LEFT]],
    ['changed its tag', { change: { tag_name: 'v1' } }, null, CHANGED, [DRAFT_LEFT]],
    ['added a file', {}, (stored) => [...stored, notes], CHANGED, [DRAFT_LEFT]],
    ['added a file before ours failed', REFUSED, () => [notes], { code: 'NO_PERMISSION' }, [DRAFT_LEFT]],
    ['replaced a file', {}, changeEach({ digest: 'sha256:0ther' }), BROKEN, []],
    ['removed a file', {}, (stored) => stored.slice(1), BROKEN, []],
    ['began an upload that has not ended', {}, changeEach({ state: 'open' }), BROKEN, []],
    ['published it under another tag', { change: PUBLISHED }, null, CHANGED, [THEIRS]],
  ])(
    'is not published where somebody %s, and deleted only if it is still ours',
    async (_, setup, change, refusal, left) => {
      const answers = change && { list_assets: () => change(made.stored) };
      const made = await prepareNew({ ...setup, answers: { ...answers } });
      const results = await made.perform();
      for (const one of results) expect(one).toMatchObject(refusal);
      expect((results[0] as { leftBehind?: string[] }).leftBehind).toEqual(left);
      expect(made.github.writes).toEqual(['create_release', ...(left.length === 0 ? ['delete_draft'] : [])]);
    },
  );

  test('is handed over as somebody published it under the same tag, with their text', async () => {
    const { github, perform } = await prepareNew({ change: { draft: false, body: 'Notes by hand.' } });
    expect(await perform()).toMatchObject([{ written: true }, { written: true }]);
    expect(github.writes).toEqual(['create_release']);
  });

  test('is published with the name that the host gave to a file', async () => {
    const label = formatLabel('a.zip');
    const renamed = assetWith({ id: 71, name: 'default.zip', label, digest: digestFor('a.zip') });
    const { perform } = await prepareNew(
      { uploads: [{ status: 201, body: renamed }], answers: { list_assets: [renamed] } },
      ['a.zip'],
    );
    expect(await perform()).toMatchObject([
      { written: true, notes: expect.arrayContaining([expect.stringMatching(/is named default\.zip/)]) },
    ]);
  });

  async function draftBodyOf(setup: Setup = {}, names?: string[]): Promise<string> {
    const { github, perform } = await prepareNew(setup, names);
    await perform();
    return String(github.sent('create_release')[0]?.body);
  }
  const draftWith = (id: number, body: string, more: object = {}) => ({
    ...DRAFT,
    id,
    body,
    updated_at: QUIET,
    assets: [assetWith({ label: formatLabel('a.zip'), digest: 'sha256:0ld', updated_at: QUIET })],
    ...more,
  });

  const JUST_NOW = '2026-01-02T03:00:00Z';
  const withAsset = (more: Partial<Asset>) => ({ assets: [assetWith({ updated_at: QUIET, ...more })] });
  const AB = ['a.zip', 'b.zip'];
  test.each<[string, Setup, string[], object]>([
    ['whose tag somebody changed', {}, AB, { tag_name: 'v1', name: 'v1' }],
    ['with a file that somebody added', {}, AB, withAsset({ name: 'notes.txt' })],
    ['with an upload of somebody that has not ended', {}, AB, withAsset({ name: 'c.txt', state: 'starter' })],
    ['that was created a while ago', {}, AB, { updated_at: JUST_NOW, assets: [] }],
    ['whose file is not old', {}, AB, withAsset({ label: formatLabel('a.zip'), updated_at: JUST_NOW })],
    ['whose age the host does not tell', {}, AB, { updated_at: undefined }],
    ['that is published', {}, AB, { draft: false }],
    ['of another job', { options: { job: 'Deliver/other' } }, AB, {}],
    ['of a delivery with other names', {}, ['a.zip', 'c.zip'], {}],
    ['of a delivery with fewer files', {}, ['a.zip'], {}],
  ])('leaves a draft alone %s', async (_, setup, names, more) => {
    const left = draftWith(8, await draftBodyOf(setup, names), more);
    const { github, perform } = await prepareNew({ answers: { list_releases: [left] } });
    expect(await perform()).toMatchObject([{ written: true }, { written: true }]);
    expect(github.writes).toEqual(['create_release', 'publish_release']);
  });

  test('is made although the draft of a killed run can not be deleted', async () => {
    const left = draftWith(8, await draftBodyOf());
    const answers = { list_releases: [left], delete_draft: DENIED };
    const { ports, perform } = await prepareNew({ answers });
    expect(await perform()).toMatchObject([{ written: true }, { written: true }]);
    expect(ports.logger.lines).toContainEqual(
      expect.stringMatching(/^warning: could not delete the draft 8: /),
    );
  });

  test.each<[string, (body: string) => object]>([
    ['wrote its text', () => ({ body: 'Version 1' })],
    ['wrote nothing yet', () => ({ body: null })],
    ['added to its text', (body) => ({ body: `${body} ` })],
    ['saved its text in a browser', (body) => ({ body: body.replaceAll('\n', '\r\n') })],
    ['changed its title', () => ({ name: 'Version one' })],
  ])('is not made where somebody prepares a release for the tag, who %s', async (_, change) => {
    const body = await draftBodyOf();
    const listed = [draftWith(1, body, change(body))];
    const { action, github, perform, tasks } = await prepareNew({ answers: { list_releases: listed } });
    const refusal = notOurs(/prepares a release for the tag files-20260102/);
    expect(await perform()).toMatchObject([refusal, refusal]);
    await expect(action.preview(tasks)).rejects.toMatchObject(refusal);
    expect(github.writes).toEqual([]);
  });

  test('says at the start how long many files take', async () => {
    const names = Array.from({ length: 61 }, (_, nth) => `${nth}.zip`);
    const { ports, perform } = await prepareNew({}, names);
    await perform();
    expect(ports.logger.lines[0]).toBe(
      '61 assets: at least 2 min, because GitHub limits how often a token may write',
    );
  });
});
