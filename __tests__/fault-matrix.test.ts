import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hits, Stage } from './faults/cells.ts';
import { FILES, KINDS, PAGE } from './faults/deliveries.ts';
import { openDoorway } from './faults/doorway.ts';
import { EXCEPTIONS } from './faults/exceptions.ts';
import { FAULTS, type PlayedFault } from './faults/faults.ts';
import { Reckoning } from './faults/reckoning.ts';
import { startWorld, type World } from './world/world.ts';

// Thousands of deliveries: the world's hosts are asked without sockets and git, faults are played in their
// place. That real sockets fail like this is shown beside, in fault-sockets.test.ts.
let world: World;
let stage: Stage<PlayedFault>;
const reckoning = new Reckoning(EXCEPTIONS);

beforeAll(async () => {
  world = await startWorld();
  world.host('preview.example.com', () => ({ status: 200, body: PAGE }));
  for (const [name, bytes] of Object.entries(FILES)) await writeFile(join(world.folder, name), bytes);
  stage = new Stage(world, ({ clock, repository, cell }) =>
    openDoorway(world, clock, (asked) =>
      cell !== undefined && hits(cell, asked)
        ? (exchange) => cell.fault.play(exchange, repository)
        : undefined,
    ),
  );
});
afterAll(() => world.stop());

// A promise that fails unheard ends its test by itself: jest sees to that.
describe('whatever happens to a request, the delivery is proven or honestly refused', () => {
  test.each(KINDS)(
    '$name',
    async (kind) => {
      const wrong: string[] = [];
      for (const cell of await stage.cellsOf(kind, FAULTS)) {
        wrong.push(...(await reckoning.flawsOf(cell, world, () => stage.play(kind, cell))));
      }
      expect(wrong).toEqual([]);
    },
    120_000,
  );

  test('every exception is still needed', () => {
    expect(reckoning.idleExceptions).toEqual([]);
  });

  test('the counts', () => {
    reckoning.close('fault matrix', 300);
  });
});
