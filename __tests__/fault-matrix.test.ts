import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Cell, Stage } from './faults/cells.ts';
import { FILES, KINDS, PAGE } from './faults/deliveries.ts';
import { allowed, EXCEPTIONS, type Exception } from './faults/exceptions.ts';
import { judge } from './faults/judgement.ts';
import { startWorld, type World } from './world/world.ts';

let world: World;
let stage: Stage;
const counts = { cells: 0, delivered: 0, refused: 0, wrong: 0 };
const needed = new Set<Exception>();

beforeAll(async () => {
  world = await startWorld();
  world.host('preview.example.com', () => ({ status: 200, body: PAGE }));
  for (const [name, bytes] of Object.entries(FILES)) await writeFile(join(world.folder, name), bytes);
  stage = new Stage(world, world.folder);
});
afterAll(() => world.stop());

/** How a cell ended, and what was wrong with that. */
async function outcomeOf(cell: Cell): Promise<{ ready: boolean; flaws: string[] }> {
  try {
    const played = await stage.play(cell.kind, cell);
    const { ready, lines } = played.report;
    const flaws = await judge(world, played, cell);
    if (!ready && cell.fault.passes && !cell.forEver) flaws.push(`not delivered: ${lines.RESULT}`);
    return { ready, flaws };
  } catch (thrown) {
    return { ready: false, flaws: [`it crashed: ${thrown}`] };
  }
}

function count(ready: boolean, flaws: readonly string[]): void {
  counts.cells += 1;
  if (flaws.length > 0) counts.wrong += 1;
  else if (ready) counts.delivered += 1;
  else counts.refused += 1;
}

const inWords = ({ request: { name, nth }, fault, forEver }: Cell): string =>
  `${name}${nth === 0 ? '' : ` (${nth + 1})`}: ${fault.name}, ${forEver ? 'for ever' : 'once'}`;

// A promise that fails unheard ends its test by itself: jest sees to that.
describe('whatever happens to a request, the delivery is proven or honestly refused', () => {
  test.each(KINDS)(
    '$name',
    async (kind) => {
      const wrong: string[] = [];
      for (const cell of await stage.cellsOf(kind)) {
        const { ready, flaws } = await outcomeOf(cell);
        const unexpected = flaws.filter((flaw) => {
          const row = allowed(cell, flaw);
          if (row !== undefined) needed.add(row);
          return row === undefined;
        });
        count(ready, unexpected);
        wrong.push(...unexpected.map((flaw) => `${inWords(cell)}: ${flaw}`));
      }
      expect(wrong).toEqual([]);
    },
    120_000,
  );

  test('every exception is still needed', () => {
    expect(EXCEPTIONS.filter((row) => !needed.has(row))).toEqual([]);
  });

  test('the counts', () => {
    const { cells, delivered, refused, wrong } = counts;
    console.log(
      `fault matrix: ${cells} cells, ${delivered} delivered, ${refused} honestly refused, ${wrong} wrong`,
    );
    expect(cells).toBeGreaterThanOrEqual(300);
    expect(wrong).toBe(0);
  });
});
