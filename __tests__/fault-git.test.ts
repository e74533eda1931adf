import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { type Cell, hits, Stage } from './faults/cells.ts';
import { FILES, type Kind } from './faults/deliveries.ts';
import { type Asked, nameOf, openDoorway, type Play, response } from './faults/doorway.ts';
import { GIT_EXCEPTIONS } from './faults/exceptions.ts';
import { Reckoning } from './faults/reckoning.ts';
import { GIT_FAULTS, type SocketFault } from './faults/socket-faults.ts';
import type { Interception } from './world/front/interceptions.ts';
import { startWorld, type World } from './world/world.ts';

// Method C's slice of the fault matrix: git speaks to the hosts by itself, over real sockets, and waits by a
// clock of its own. It runs a dozen processes a delivery, so each fault is met only once.
const METHOD_C: Kind = {
  name: 'K1, method C',
  file: 'large.bin',
  inputs: { channel: 'K1' },
  spec: { inMemory: false },
  only: /^\w+ github\.com/,
};
const tooLarge: Play = async () =>
  response({
    status: 422,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ message: 'Sorry, your input was too large to process.' })),
  });

let world: World;
let stage: Stage<SocketFault>;
let interception: Interception | undefined;
const environment = { ...process.env };
const reckoning = new Reckoning(GIT_EXCEPTIONS);

beforeAll(async () => {
  // The proxy tells of every connection that was cut.
  jest.spyOn(console, 'error').mockImplementation(() => undefined);
  world = await startWorld();
  Object.assign(process.env, world.env);
  for (const [name, bytes] of Object.entries(FILES)) await writeFile(join(world.folder, name), bytes);
  stage = new Stage(world, ({ clock, repository, cell }) => {
    if (cell !== undefined) interception = intercept(cell, { clock, underWay: () => undefined });
    const { http, asked, shown } = openDoorway(world, clock, ({ name }) =>
      name.endsWith('/git/blobs') ? tooLarge : undefined,
    );
    return {
      http,
      shown,
      get asked() {
        return [...asked, ...askedByGit(repository.fullName)];
      },
    };
  });
});
afterAll(async () => {
  process.env = environment;
  await world.stop();
});

function intercept(cell: Cell<SocketFault>, waiting: Parameters<NonNullable<SocketFault['answer']>>[0]) {
  const [method = ''] = cell.request.name.split(' ');
  let nth = -1;
  const isMeant = (address: string): boolean => {
    const name = nameOf(method, new URL(address));
    if (name === cell.request.name) nth += 1;
    return hits(cell, { name, nth });
  };
  const answer = cell.fault.answer?.(waiting) ?? { fault: 'reset-before' };
  return world.intercept({ method, url: isMeant }, answer);
}

function askedByGit(repository: string): Asked[] {
  const counts = new Map<string, number>();
  return world.wire
    .exchanges()
    .filter(({ url }) => url.startsWith(`https://github.com/${repository}.git/`))
    .map(({ method, url, headers }) => {
      const address = new URL(url);
      const name = nameOf(method, address);
      const nth = counts.get(name) ?? 0;
      counts.set(name, nth + 1);
      return { name, nth, request: { method, url: address }, sent: `${url}\n${JSON.stringify(headers)}` };
    });
}

test('whatever happens to a request of git, the delivery is proven or honestly refused', async () => {
  const wrong: string[] = [];
  const cells = await stage.cellsOf(METHOD_C, GIT_FAULTS);
  for (const cell of cells.filter(({ forEver }) => !forEver)) {
    wrong.push(...(await reckoning.flawsOf(cell, world, () => stage.play(METHOD_C, cell))));
    interception?.remove();
  }
  expect(wrong).toEqual([]);
  expect(reckoning.idleExceptions).toEqual([]);
  reckoning.close('fault matrix of git', 25);
}, 240_000);
