import tls from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createHttpClient } from '../../src/http/client.ts';
import { writeFiles } from '../world/runner.ts';
import type { ActiveInterception } from '../world/server/interceptions.ts';
import { type GitHubWorld, startWorld } from '../world/world.ts';
import { DELIVERY_FILES, DELIVERY_KINDS } from './delivery-kinds.ts';
import { FaultRunner, isTargetRequest, type MatrixCell } from './fault-runner.ts';
import { MatrixSummary } from './matrix-summary.ts';
import { type RecordedHttp, recordHttp } from './recorded-http.ts';
import { interceptCell, SOCKET_FAULTS, type SocketFault } from './socket-faults.ts';

// A part of the fault matrix with the product's own HTTP client, real sockets and TLS: they fail as the
// simulated faults of the whole matrix do.
let world: GitHubWorld;
let runner: FaultRunner<SocketFault>;
let interception: ActiveInterception | undefined;
const trusted = tls.getCACertificates('default');
const summary = new MatrixSummary();

beforeAll(async () => {
  world = await startWorld();
  process.env.HTTPS_PROXY = world.proxyUrl;
  tls.setDefaultCACertificates([...trusted, world.ca]);
  await writeFiles(world.folder, DELIVERY_FILES);
  runner = new FaultRunner(world, ({ clock, cell }) => {
    const recordedHttp: RecordedHttp = recordHttp(createHttpClient());
    const fault = cell?.fault;
    world.proxy.chooseMode = createModeChooser(cell);
    if (cell !== undefined && fault?.createReply !== undefined) {
      const getRequest = () => {
        const last = recordedHttp.requests.at(-1);
        return last !== undefined && isTargetRequest(cell, last) ? last.request : undefined;
      };
      interception = interceptCell(world, cell, fault.createReply({ clock, getRequest }));
    }
    return recordedHttp;
  });
});
afterEach(() => interception?.remove());
afterAll(async () => {
  tls.setDefaultCACertificates(trusted);
  delete process.env.HTTPS_PROXY;
  await world.stop();
});

const getHost = ({ request }: MatrixCell): string => /^\w+ ([^/]+)/.exec(request.name)?.[1] ?? '';

/** The first connection to the cell's host fails, or all connections. */
function createModeChooser(cell: MatrixCell<SocketFault> | undefined): GitHubWorld['proxy']['chooseMode'] {
  const { connectionMode } = cell?.fault ?? {};
  if (cell === undefined || connectionMode === undefined) return () => 'through';
  let failing = cell.isPermanent ? Number.POSITIVE_INFINITY : 1;
  return (host) => {
    if (host !== getHost(cell) || failing === 0) return 'through';
    failing -= 1;
    return connectionMode;
  };
}

/** Leaves out permanent faults of a request, which are similar to single ones; a connection fails once per host. */
function selectCells(cells: readonly MatrixCell<SocketFault>[]): MatrixCell<SocketFault>[] {
  const hosts = new Set<string>();
  return cells.filter((cell) => {
    if (cell.fault.connectionMode === undefined) return !cell.isPermanent;
    const key = `${getHost(cell)} ${cell.fault.name} ${cell.isPermanent}`;
    return !hosts.has(key) && hosts.add(key);
  });
}

describe('the fault matrix over real sockets', () => {
  test.each(
    DELIVERY_KINDS.filter(({ name }) => /^(K1, method A, a new file|K2, a new asset|K3)$/.test(name)),
  )(
    'a delivery is verified or correctly refused if any request fails: $name',
    async (deliveryKind) => {
      const wrong: string[] = [];
      for (const cell of selectCells(await runner.listCells(deliveryKind, SOCKET_FAULTS))) {
        wrong.push(...(await summary.checkCell(cell, world, () => runner.run(deliveryKind, cell))));
        interception?.remove();
      }
      expect(wrong).toEqual([]);
    },
    600_000,
  );

  test('has at least 100 cells without flaws', () => {
    summary.expectNoFlaws('fault matrix over sockets', 100);
  });
});
