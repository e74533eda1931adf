import { expect, test } from '@jest/globals';
import { type DeliveredStep, listRequests, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const COUNT = 26;
const names = Array.from({ length: COUNT }, (_, nth) => `page-${nth}.html`);
const files = Object.fromEntries(names.map((name) => [`out/${name}`, `<p>${name}</p>`]));
const inputs = { channel: 'K1', file: 'out/*.html', path: 'reports/' };
/** The most requests to the API that a step may need, however many files it has: fewer than one for each. */
const MOST_REQUESTS = 25;

const countApiRequests = (): number => listRequests(scenario, /^\w+ https:\/\/api\.github\.com/).length;

const listReasons = ({ reports }: DeliveredStep) => reports.flatMap(({ notReady }) => notReady ?? []);

test('delivering, delivering again and withdrawing many files need few API requests', async () => {
  const repository = await scenario.repository();
  const first = await scenario.deliver({ repository, files, inputs });
  expect(listReasons(first)).toEqual([]);
  const afterFirst = countApiRequests();
  expect(afterFirst).toBeLessThanOrEqual(MOST_REQUESTS);

  const again = await scenario.deliver({ repository, files, inputs });
  expect(listReasons(again)).toEqual([]);
  expect(await repository.log()).toHaveLength(COUNT + 1);
  const afterAgain = countApiRequests();
  expect(afterAgain - afterFirst).toBeLessThanOrEqual(MOST_REQUESTS);

  const withdrawal = { channel: 'K1', path: 'reports/', operation: 'withdraw' };
  const withdrawn = await scenario.deliver({ repository, inputs: withdrawal });
  expect(withdrawn.exitCode).toBe(0);
  expect(await repository.read(`reports/${names[0]}`)).toBeNull();
  expect(countApiRequests() - afterAgain).toBeLessThanOrEqual(MOST_REQUESTS);
});

test("many files with a person's file among them: the others are delivered, that one is refused", async () => {
  const repository = await scenario.repository({ files: { 'reports/page-7.html': 'theirs' } });
  const delivered = await scenario.deliver({ repository, files, inputs });
  expect(delivered.exitCode).toBe(1);
  const refused = delivered.reports.filter(({ ready }) => !ready);
  expect(refused.map(({ file }) => file?.path)).toEqual(['out/page-7.html']);
  expect((await repository.read('reports/page-7.html'))?.toString()).toBe('theirs');
  expect(refused[0]?.notReady).toMatchObject({
    step: 'place',
    code: 'NOT_OURS',
    reason: expect.stringMatching(/this tool did not deliver what it holds now$/),
  });
});
