import { expect, test } from '@jest/globals';
import { type DeliveredStep, listRequests, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const COUNT = 26;
const names = Array.from({ length: COUNT }, (_, nth) => `page-${nth}.html`);
const files = Object.fromEntries(names.map((name) => [`out/${name}`, `<p>${name}</p>`]));
const inputs = { channel: 'K1', file: 'out/*.html', path: 'reports/' };
/** The most API requests of a step, however many files it has: fewer than one a file. */
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
