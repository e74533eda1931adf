import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeFiles } from '../world/runner.ts';
import { replyHtml, replyText } from '../world/server/messages.ts';
import { type GitHubWorld, startWorld } from '../world/world.ts';
import { DELIVERY_FILES, DELIVERY_KINDS, PAGE_CONTENT, STYLE } from './delivery-kinds.ts';
import { FaultRunner, isTargetRequest } from './fault-runner.ts';
import { MatrixSummary } from './matrix-summary.ts';
import { createWorldHttp } from './recorded-http.ts';
import { SIMULATED_FAULTS, type SimulatedFault } from './simulated-faults.ts';

// Thousands of deliveries: the hosts are called without sockets and git, and faults are simulated in their
// place. sockets.test.ts shows that real sockets fail like this.
let world: GitHubWorld;
let runner: FaultRunner<SimulatedFault>;
const summary = new MatrixSummary();

beforeAll(async () => {
  world = await startWorld();
  world.host('preview.example.com', () => replyHtml(200, PAGE_CONTENT));
  world.host('cdn.octo.dev', () => replyText(200, STYLE, { 'content-type': 'text/css' }));
  await writeFiles(world.folder, DELIVERY_FILES);
  runner = new FaultRunner(world, ({ clock, repository, cell }) =>
    createWorldHttp(world, clock, (request) =>
      cell !== undefined && isTargetRequest(cell, request)
        ? (exchange) => cell.fault.respond(exchange, repository)
        : undefined,
    ),
  );
});
afterAll(() => world.stop());

// Jest fails a test with an unhandled rejection.
describe('the fault matrix', () => {
  test.each(DELIVERY_KINDS)(
    'a delivery is verified or correctly refused if any request fails: $name',
    async (deliveryKind) => {
      const wrong: string[] = [];
      for (const cell of await runner.listCells(deliveryKind, SIMULATED_FAULTS)) {
        wrong.push(...(await summary.checkCell(cell, world, () => runner.run(deliveryKind, cell))));
      }
      expect(wrong).toEqual([]);
    },
    600_000,
  );

  test('has at least 300 cells without flaws', () => {
    summary.expectNoFlaws('fault matrix', 300);
  });
});
