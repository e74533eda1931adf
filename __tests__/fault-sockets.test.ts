import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createHttpClient } from '../src/http/client.ts';
import { type Cell, hits, Stage } from './faults/cells.ts';
import { FILES, KINDS } from './faults/deliveries.ts';
import { type Doorway, nameOf, watchDoor } from './faults/doorway.ts';
import { EXCEPTIONS } from './faults/exceptions.ts';
import { type Gate, startGate } from './faults/gate.ts';
import { Reckoning } from './faults/reckoning.ts';
import { SOCKET_FAULTS, type SocketFault } from './faults/socket-faults.ts';
import type { Interception } from './world/front/interceptions.ts';
import { startWorld, type World } from './world/world.ts';

// A slice of the fault matrix over the product's own door, real sockets and TLS: they fail as the played
// faults of the whole matrix say.
let world: World;
let gate: Gate;
let stage: Stage<SocketFault>;
let interception: Interception | undefined;
const trusted = tls.getCACertificates('default');
const reckoning = new Reckoning(EXCEPTIONS);

beforeAll(async () => {
  // The proxy tells of every connection that was cut.
  const { error } = console;
  jest.spyOn(console, 'error').mockImplementation((...said: unknown[]) => {
    if (!String(said[0]).startsWith('Failed to handle request')) error(...said);
  });
  world = await startWorld();
  gate = await startGate(world.proxyUrl);
  process.env.HTTPS_PROXY = gate.url;
  tls.setDefaultCACertificates([...trusted, world.ca]);
  for (const [name, bytes] of Object.entries(FILES)) await writeFile(join(world.folder, name), bytes);
  stage = new Stage(world, ({ clock, cell }) => {
    const doorway: Doorway = watchDoor(createHttpClient());
    const fault = cell?.fault;
    gate.passage = passageOf(cell);
    if (cell !== undefined && fault?.answer !== undefined) {
      const { method } = partsOf(cell);
      let nth = -1;
      const isMeant = (address: string): boolean => {
        const name = nameOf(method, new URL(address));
        if (name === cell.request.name) nth += 1;
        return hits(cell, { name, nth });
      };
      const underWay = () => {
        const last = doorway.asked.at(-1);
        return last !== undefined && hits(cell, last) ? last.request : undefined;
      };
      const answer = fault.answer({ clock, underWay });
      interception = world.intercept({ method, url: isMeant, times: cell.forEver ? 1_000 : 1 }, answer);
    }
    return doorway;
  });
});
afterEach(() => interception?.remove());
afterAll(async () => {
  tls.setDefaultCACertificates(trusted);
  delete process.env.HTTPS_PROXY;
  await gate.close();
  await world.stop();
});

function partsOf({ request }: Cell): { method: string; host: string } {
  const [, method = '', host = ''] = /^(\w+) ([^/]+)/.exec(request.name) ?? [];
  return { method, host };
}

/** The first connection to the cell's host fails, or all of them do. */
function passageOf(cell: Cell<SocketFault> | undefined): Gate['passage'] {
  const { passage } = cell?.fault ?? {};
  if (cell === undefined || passage === undefined) return () => 'through';
  let failing = cell.forEver ? Number.POSITIVE_INFINITY : 1;
  return (host) => {
    if (host !== partsOf(cell).host || failing === 0) return 'through';
    failing -= 1;
    return passage;
  };
}

/** Without those that fail for ever by the request, which are much like those that fail once; a connection fails for its host. */
function slice(cells: readonly Cell<SocketFault>[]): Cell<SocketFault>[] {
  const hosts = new Set<string>();
  return cells.filter((cell) => {
    if (cell.fault.passage === undefined) return !cell.forEver;
    const key = `${partsOf(cell).host} ${cell.fault.name} ${cell.forEver}`;
    return !hosts.has(key) && hosts.add(key);
  });
}

describe('over real sockets', () => {
  test.each(KINDS.filter(({ name }) => /^(K1, method A, a new file|K2, a new asset|K3)$/.test(name)))(
    '$name',
    async (kind) => {
      const wrong: string[] = [];
      for (const cell of slice(await stage.cellsOf(kind, SOCKET_FAULTS))) {
        wrong.push(...(await reckoning.flawsOf(cell, world, () => stage.play(kind, cell))));
        interception?.remove();
      }
      expect(wrong).toEqual([]);
    },
    120_000,
  );

  test('the counts', () => {
    reckoning.close('fault matrix over sockets', 100);
  });
});
