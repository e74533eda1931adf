import { expect } from '@jest/globals';
import type { World } from '../world/world.ts';
import type { Cell, Fault, Played } from './cells.ts';
import { allowing, type Exception } from './exceptions.ts';
import { judge } from './judgement.ts';

/** Counts how the cells of a matrix went. */
export class Reckoning {
  readonly #exceptions: readonly Exception[];
  readonly #needed = new Set<Exception>();
  #delivered = 0;
  #refused = 0;
  #wrong = 0;

  constructor(exceptions: readonly Exception[]) {
    this.#exceptions = exceptions;
  }

  get cells(): number {
    return this.#delivered + this.#refused + this.#wrong;
  }

  /** What is wrong with how a cell went, each flaw in a line; nothing where it went as it should. */
  async flawsOf<F extends Fault>(
    cell: Cell<F>,
    world: World,
    play: () => Promise<Played>,
  ): Promise<string[]> {
    let ready = false;
    let flaws: string[];
    try {
      const played = await play();
      ({ ready } = played.report);
      flaws = await judge(world, played, cell);
      if (!ready && cell.fault.passes && !cell.forEver) {
        flaws.push(`not delivered: ${played.report.lines.RESULT}`);
      }
    } catch (thrown) {
      flaws = [`it crashed: ${thrown}`];
    }
    const unexpected = flaws.filter((flaw) => {
      const row = allowing(this.#exceptions, cell, flaw);
      if (row !== undefined) this.#needed.add(row);
      return row === undefined;
    });
    if (unexpected.length > 0) this.#wrong += 1;
    else if (ready) this.#delivered += 1;
    else this.#refused += 1;
    return unexpected.map((flaw) => `${inWords(cell)}: ${flaw}`);
  }

  /** Prints the counts, and holds them to at least so many cells, none of them wrong. */
  close(title: string, atLeast: number): void {
    const parts = [
      `${this.#delivered} delivered`,
      `${this.#refused} honestly refused`,
      `${this.#wrong} wrong`,
    ];
    console.log(`${title}: ${this.cells} cells, ${parts.join(', ')}`);
    expect(this.cells).toBeGreaterThanOrEqual(atLeast);
    expect(this.#wrong).toBe(0);
  }

  /** The exceptions that no cell was in need of. */
  get idleExceptions(): readonly Exception[] {
    return this.#exceptions.filter((row) => !this.#needed.has(row));
  }
}

const inWords = ({ request: { name, nth }, fault, forEver }: Cell): string =>
  `${name}${nth === 0 ? '' : ` (${nth + 1})`}: ${fault.name}, ${forEver ? 'for ever' : 'once'}`;
