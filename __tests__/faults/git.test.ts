import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SECOND } from '../../src/protocol/limits.ts';
import { writeFiles } from '../world/runner.ts';
import type { ActiveInterception } from '../world/server/interceptions.ts';
import { type GitHubWorld, startWorld } from '../world/world.ts';
import { DELIVERY_FILES, type DeliveryKind } from './delivery-kinds.ts';
import { FaultRunner, type MatrixCell } from './fault-runner.ts';
import { MatrixSummary } from './matrix-summary.ts';
import {
  createResponse,
  createWorldHttp,
  type FaultHandler,
  formatRequestName,
  type RecordedRequest,
} from './recorded-http.ts';
import type { SimulatedClock } from './simulated-clock.ts';
import { GIT_FAULTS, interceptCell, type PendingRequest, type SocketFault } from './socket-faults.ts';

// The fault matrix for method C: git connects to the hosts over real sockets and has a
// clock of its own. A delivery runs a dozen processes, so each fault is tried only once.
const METHOD_C: DeliveryKind = {
  name: 'K1, method C',
  file: 'large.bin',
  inputs: { channel: 'K1' },
  requests: /^\w+ github\.com/,
};
const tooLarge: FaultHandler = async () =>
  createResponse({
    status: 422,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ message: 'Sorry, your input was too large to process.' })),
  });

let world: GitHubWorld;
let runner: FaultRunner<SocketFault>;
let interception: ActiveInterception | undefined;
let clock: SimulatedClock;
/** The processes that run; the hosts start some as well. One that has ended may leave a child that still holds its output. */
const processes = new Set<ChildProcess>();
const environment = { ...process.env };
const summary = new MatrixSummary();

const keepProcess = (message: unknown): void => {
  const { process: started } = message as { readonly process: ChildProcess };
  processes.add(started);
  started.once('close', () => processes.delete(started));
};

beforeAll(async () => {
  subscribe('child_process', keepProcess);
  world = await startWorld();
  Object.assign(process.env, world.env);
  await writeFiles(world.folder, DELIVERY_FILES);
  runner = new FaultRunner(world, ({ repository, cell, ...scene }) => {
    clock = scene.clock;
    if (cell !== undefined) {
      const reply = cell.fault.createReply?.({ clock, getRequest: createWaitingCheck() });
      interception = interceptCell(world, cell, reply ?? { fault: 'reset-before' });
    }
    const recordedHttp = createWorldHttp(world, clock, ({ name }) =>
      name.endsWith('/git/blobs') ? tooLarge : undefined,
    );
    return {
      ...recordedHttp,
      get requests() {
        return [...recordedHttp.requests, ...listGitRequests(repository.fullName)];
      },
    };
  });
});
afterAll(async () => {
  unsubscribe('child_process', keepProcess);
  process.env = environment;
  await world.stop();
});

/** Tells whether the push that ran when this was asked first has not ended. */
function createWaitingCheck(): PendingRequest['getRequest'] {
  let push: ChildProcess | undefined;
  return () => {
    push ??= [...processes].findLast(({ spawnargs }) => spawnargs.includes('push'));
    return push !== undefined && processes.has(push) ? {} : undefined;
  };
}

function listGitRequests(repository: string): RecordedRequest[] {
  const counts = new Map<string, number>();
  return world.traffic
    .exchanges()
    .filter(({ url }) => url.startsWith(`https://github.com/${repository}.git/`))
    .map(({ method, url, headers }) => {
      const address = new URL(url);
      const name = formatRequestName(method, address);
      const nth = counts.get(name) ?? 0;
      counts.set(name, nth + 1);
      return { name, nth, request: { method, url: address }, sent: `${url}\n${JSON.stringify(headers)}` };
    });
}

test('a delivery is proven or correctly refused when any request of git fails', async () => {
  const wrong: string[] = [];
  const cells = await runner.listCells(METHOD_C, GIT_FAULTS);
  // Git takes a page in place of its list of refs for a repository of the oldest kind, without the branch.
  const isOdd = ({ request, fault }: MatrixCell) =>
    /info\/refs/.test(request.name) && /HTML/.test(fault.name);
  for (const cell of cells.filter(({ isPermanent }) => !isPermanent)) {
    const isAllowed = (flaw: string) => isOdd(cell) && /^not delivered: .*find remote ref/.test(flaw);
    wrong.push(...(await summary.checkCell(cell, world, () => runner.run(METHOD_C, cell), isAllowed)));
    interception?.remove();
  }
  expect(wrong).toEqual([]);
  summary.expectNoFlaws('fault matrix of git', 25);
}, 600_000);

test.each(['git-upload-pack', 'git-receive-pack'])(
  'a host that drips its answer to %s holds a delivery for the time of one upload, if `timeout` is shorter',
  async (service) => {
    const match = { method: 'POST', url: new RegExp(`/${service}$`), times: 1_000 };
    const pause = async () => {
      await clock.advance(10 * SECOND);
      await sleep(1);
    };
    const dripping = world.intercept(match, { fault: 'drip', pause });
    const inputs = { ...METHOD_C.inputs, timeout: '5' };
    const { report, recordedHttp } = await runner.run({ ...METHOD_C, inputs });
    dripping.remove();
    expect(report.notReady?.reason).toMatch(/failed: git did not finish within 1[23]\d\.0 s$/);
    const asked = recordedHttp.requests.filter(({ request }) => request.url.search === `?service=${service}`);
    expect(asked).toHaveLength(1);
  },
);
