import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Placement } from '../../src/channels/channel.ts';
import { newAttempt } from '../../src/delivery/delivery.ts';
import { publishThroughChannel } from '../../src/delivery/publish-through-channel.ts';
import type { LocalFile } from '../../src/rules/inspect.ts';
import { localFile } from '../support/files.ts';
import { FakeHttp, fakePorts, NOON, type Scripted } from '../support/ports.ts';
import { FakeChannel, PAGE, placementOfFile, placementWith, RAW, taskWith } from './builders.ts';

const MARKER = 'build 7 is done';
const NEW = `<p>${MARKER}</p>`;
const OLD = `<p>${MARKER}, before</p>`;
const LIMITS = { interval: 5_000, timeout: 60_000 };

/** What a node of a host may answer. Only `new` is right; `old` is what the address showed before. */
const ANSWERS = {
  new: { body: NEW },
  old: { body: OLD },
  foreign: { body: `<title>Report</title>${MARKER} elsewhere` },
  missing: { status: 404, body: NEW },
  failing: { status: 503 },
  login: { status: 302, headers: { location: '/login?return_to=%2Fsite%2Fpage.html' } },
  parked: { status: 302, headers: { location: 'https://parked.example.org/' } },
  plainHttp: { status: 302, headers: { location: 'http://octo.github.io/site/page.html' } },
  loopback: { status: 302, headers: { location: 'https://127.0.0.1/page.html' } },
  encoded: { body: NEW, headers: { 'content-encoding': 'gzip' } },
  half: { body: NEW.slice(0, 9) },
  cookie: { status: 401, headers: { 'set-cookie': 'open=1' } },
} as const satisfies Record<string, Scripted>;
type AnswerKind = keyof typeof ANSWERS;

/** By what a host, or a cache with a copy for each encoding, tells a browser from a tool. */
const BROWSER_SIGNS = { 'user-agent': /Mozilla/, 'accept-encoding': /gzip/ } as const;

interface HostModel {
  /** The nodes of the address with `?v=`, of the one without, and of the raw one; they take turns. */
  readonly stamped: readonly AnswerKind[];
  readonly plain: readonly AnswerKind[];
  readonly raw: readonly AnswerKind[];
  /** Seconds until the host answers so; before, nothing is there. */
  readonly lateBy: number;
  /** Seconds after which nothing is there any more. */
  readonly endsAfter: number;
  readonly knowsOld: boolean;
  /** What browsers get in place of a right answer; hosts know them by a header. */
  readonly browsers: AnswerKind | null;
  readonly knownBy: keyof typeof BROWSER_SIGNS;
  readonly channel: 'K1' | 'K3' | 'K4';
}

/** Mostly right answers, so that many hosts come near a proof. */
const kind = fc.oneof(
  { weight: 3, arbitrary: fc.constant<AnswerKind>('new') },
  { weight: 1, arbitrary: fc.constantFrom(...(Object.keys(ANSWERS) as AnswerKind[])) },
);
/** Up to four nodes; of more, those that are wrong may be asked by others only. */
const nodes = fc.array(kind, { minLength: 1, maxLength: 4 });
const hosts: fc.Arbitrary<HostModel> = fc.record({
  stamped: nodes,
  plain: nodes,
  raw: nodes,
  lateBy: fc.constantFrom(0, 7, 20),
  endsAfter: fc.constantFrom(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 4, 1),
  knowsOld: fc.boolean(),
  browsers: fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(...(Object.keys(ANSWERS) as AnswerKind[])) },
  ),
  knownBy: fc.constantFrom(...(Object.keys(BROWSER_SIGNS) as (keyof typeof BROWSER_SIGNS)[])),
  channel: fc.constantFrom('K1', 'K3', 'K4'),
});

/** A file-bin counts what is downloaded, so it is asked seldom; it has one store behind it. */
const nodesOf = ({ plain, channel }: HostModel) => (channel === 'K3' ? plain.slice(0, 1) : plain);

/** The oracle: what anybody gets who opens the address that is handed over. It knows nothing of the proof. */
function mayBeReady(model: HostModel): boolean {
  const { stamped, knowsOld, browsers, channel } = model;
  const plain = nodesOf(model);
  const isForBrowsers = browsers === null || browsers === 'new';
  if (!isForBrowsers && !(browsers === 'old' && knowsOld && channel === 'K1')) return false;
  const isNew = plain.every((one) => one === 'new');
  // How long a link lives stays in UNKNOWN.
  if (channel !== 'K1') return isNew;
  return stamped.includes('new') && plain.every((one) => one === 'new' || (one === 'old' && knowsOld));
}

const placements: Readonly<Record<HostModel['channel'], (sha: string) => Placement>> = {
  K1: (sha) => placementWith({ expect: { is: 'bytes', before: [{ sha, size: OLD.length }] } }),
  K3: () => placementWith({ on: 'K3' }),
  K4: () => placementWith({ on: 'K4', expect: { is: 'bytes' } }),
};

/** A host that plays the model, by the seconds that have passed. */
function playHost(model: HostModel, seconds: () => number): FakeHttp {
  const turns = { stamped: 0, plain: 0, raw: 0 };
  return new FakeHttp(({ url, headers }) => {
    const { origin, pathname } = new URL(url);
    const isRaw = url === RAW.href;
    if (!isRaw && origin + pathname !== PAGE.href) return { body: `${MARKER}, sign in` };
    if (seconds() < model.lateBy || seconds() >= model.lateBy + model.endsAfter) return { status: 404 };
    const which = isRaw ? 'raw' : url.includes('?v=') ? 'stamped' : 'plain';
    const all = which === 'plain' ? nodesOf(model) : model[which];
    const chosen = all[turns[which] % all.length] ?? 'missing';
    turns[which] += 1;
    const isBrowser = BROWSER_SIGNS[model.knownBy].test(headers[model.knownBy] ?? '');
    if (isBrowser && model.browsers !== null && chosen === 'new') return ANSWERS[model.browsers];
    return chosen === 'cookie' && headers.cookie !== undefined ? ANSWERS.new : ANSWERS[chosen];
  });
}

interface Announced {
  readonly ready: boolean;
  /** Whether the raw address was handed over as well. */
  readonly raw: boolean;
}

async function deliverTo(model: HostModel, file: LocalFile, oldSha: string): Promise<Announced> {
  const host: FakeHttp = playHost(model, () => (ports.clock.now() - NOON) / 1_000);
  const ports = fakePorts(host.http);
  const placement = placementOfFile(placements[model.channel](model.knowsOld ? oldSha : 'unknown'), file);
  const task = taskWith(placement);
  const [attempt] = await publishThroughChannel(
    new FakeChannel(task),
    [newAttempt(task, MARKER)],
    LIMITS,
    ports,
  );
  const ready = attempt?.failure === null && attempt.proof !== null;
  return { ready, raw: ready && attempt.proof?.rawUrl !== null };
}

test('No random host gets a false result of ready, and a right one is ready.', async () => {
  const [file, old] = [await localFile(NEW), await localFile(OLD)];
  const counted = { ready: 0, notReady: 0 };
  await fc.assert(
    fc.asyncProperty(hosts, async (model) => {
      const { ready, raw } = await deliverTo(model, file, old.blobSha);
      counted[ready ? 'ready' : 'notReady'] += 1;
      if (ready) expect([model, mayBeReady(model)]).toEqual([model, true]);
      if (raw) expect([model, model.raw.includes('new')]).toEqual([model, true]);
      const isPlainHost =
        [...model.stamped, ...model.plain].every((one) => one === 'new') &&
        model.browsers === null &&
        model.endsAfter > 60;
      if (isPlainHost) expect([model, ready]).toEqual([model, true]);
    }),
    { numRuns: 1_500, seed: 20_260_102 },
  );
  expect(counted.ready).toBeGreaterThan(50);
  expect(counted.notReady).toBeGreaterThan(50);
});
