import { beforeAll, expect, test } from '@jest/globals';
import { findChromium } from '../world/chromium.ts';
import { inFolder, readOutput } from './generator-outputs.ts';
import { type DeliveredStep, setUpScenario } from './scenario.ts';

const GENERATORS = ['c8', 'coverage-py', 'parcel', 'pdoc', 'sphinx', 'sveltekit', 'vite', 'webpack'];

const scenario = setUpScenario();
let delivered: DeliveredStep;

beforeAll(async () => {
  const { env, inputs } = await findChromium();
  delivered = await scenario.deliver({
    files: Object.assign({}, ...GENERATORS.map((name) => inFolder(name, readOutput(name)))),
    inputs: { channel: 'K1', file: GENERATORS.join('\n'), path: 'generated/', nojekyll: 'true', ...inputs },
    env,
  });
});

test.each(GENERATORS)(
  'a folder built by %s looks the same in a browser before and after, and no request fails',
  (name) => {
    const report = delivered.reports.find(({ file }) => file?.path === name);
    expect(report?.notReady).toBeNull();
    const nothing = { exceptions: [], failedRequests: [], blockedRequests: [], consoleErrors: [] };
    const screen = { verdict: 'shown', isPublished: true, isStable: true, agreement: 1, ...nothing };
    expect(report?.screen).toMatchObject(screen);
  },
);
