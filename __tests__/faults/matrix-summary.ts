import { expect } from '@jest/globals';
import type { GitHubWorld } from '../world/world.ts';
import type { DeliveryRun, InjectedFault, MatrixCell } from './fault-runner.ts';
import { listFlaws } from './list-flaws.ts';

/** Counts the results of a matrix. */
export class MatrixSummary {
  #delivered = 0;
  #refused = 0;
  #wrong = 0;

  get cells(): number {
    return this.#delivered + this.#refused + this.#wrong;
  }

  /** Runs a cell and lists its flaws, one line each. */
  async checkCell<F extends InjectedFault>(
    cell: MatrixCell<F>,
    world: GitHubWorld,
    play: () => Promise<DeliveryRun>,
    /** A finding that is allowed in this cell. */
    isAllowed: (flaw: string) => boolean = () => false,
  ): Promise<string[]> {
    let ready = false;
    let flaws: string[];
    try {
      const run = await play();
      ({ ready } = run.report);
      flaws = await listFlaws(world, run, cell);
      if (!ready && cell.fault.isTransient && !cell.isPermanent) {
        flaws.push(`not delivered: ${run.report.lines.RESULT}`);
      }
    } catch (thrown) {
      flaws = [`it crashed: ${thrown}`];
    }
    flaws = flaws.filter((flaw) => !isAllowed(flaw));
    if (flaws.length > 0) this.#wrong += 1;
    else if (ready) this.#delivered += 1;
    else this.#refused += 1;
    return flaws.map((flaw) => `${formatCell(cell)}: ${flaw}`);
  }

  /** Prints the counts, and expects at least so many cells without flaws. */
  expectNoFlaws(title: string, atLeast: number): void {
    const parts = [
      `${this.#delivered} delivered`,
      `${this.#refused} honestly refused`,
      `${this.#wrong} wrong`,
    ];
    console.log(`${title}: ${this.cells} cells, ${parts.join(', ')}`);
    expect(this.cells).toBeGreaterThanOrEqual(atLeast);
    expect(this.#wrong).toBe(0);
  }
}

const formatCell = ({ request: { name, nth }, fault, isPermanent }: MatrixCell): string =>
  `${name}${nth === 0 ? '' : ` (${nth + 1})`}: ${fault.name}, ${isPermanent ? 'for ever' : 'once'}`;
