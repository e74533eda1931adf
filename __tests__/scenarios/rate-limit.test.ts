import { describe, expect, test } from '@jest/globals';
import { expectNotReady, expectReady } from './expect-report.ts';
import { createPage, listRequests, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const files = { 'page.html': createPage() };
const LATER = { reason: /API rate limit exceeded.*the limit is lifted at \d\d:\d\d UTC/, hint: /later/ };

describe('the 1,000 requests an hour of GITHUB_TOKEN', () => {
  test('used up before the first request end the delivery at once, and nothing was published', async () => {
    const repository = await scenario.repository();
    scenario.world.rateLimits.setLeft(repository, 0);
    const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K1' } });
    expectNotReady(delivered, { ...LATER, step: 'authorize', httpCode: 403 });
    expect(delivered.report.lines.UNKNOWN).toContain('nothing was published');
    expect(listRequests(scenario, /api\.github\.com/)).toHaveLength(1);
  });

  test('used up right before the write leave nothing behind', async () => {
    const repository = await scenario.repository();
    const limit = async <Answer>(real: Answer): Promise<Answer> => {
      scenario.world.rateLimits.setLeft(repository, 0);
      return real;
    };
    scenario.intercept({ method: 'GET', url: /\/contents\// }, { alter: limit });
    const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K1' } });
    expectNotReady(delivered, { ...LATER, step: 'place', httpCode: 403 });
    expect(delivered.report.lines.UNKNOWN).toContain('nothing was published');
    expect(await repository.log()).toHaveLength(1);
    expect(listRequests(scenario, /^PUT /)).toHaveLength(1);
  });

  test('used up right after the commit leave open only whether the branch still holds the page', async () => {
    const repository = await scenario.repository();
    const limit = async <Answer>(real: Answer): Promise<Answer> => {
      scenario.world.rateLimits.setLeft(repository, 0);
      return real;
    };
    scenario.intercept({ method: 'PUT', url: /\/contents\// }, { alter: limit });
    const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K1' } });
    expect(delivered.outputs.result).toBe('ready');
    expect(delivered.report.lines.UNKNOWN).toMatch(
      /whether the branch main still holds it after the proof: .*rate limit/i,
    );
  });

  test('used up while a release is filled leave a draft, which the report names', async () => {
    const repository = await scenario.repository();
    const limit = async <Answer>(real: Answer): Promise<Answer> => {
      scenario.world.rateLimits.setLeft(repository, 0);
      return real;
    };
    scenario.intercept({ method: 'POST', url: /uploads\.github\.com/ }, { alter: limit });
    const inputs = { channel: 'K2', tag: 'files-1' };
    const delivered = await scenario.deliver({ repository, files, inputs });
    expectNotReady(delivered, { ...LATER, step: 'place', httpCode: 403 });
    expect(repository.releases()).toMatchObject([{ draft: true }]);
    expect(delivered.report.lines.UNKNOWN).toMatch(/left behind: .*draft/);
    scenario.world.rateLimits.clear();
    const again = await scenario.deliver({ repository, files, inputs });
    await expectReady(scenario, again, { channel: 'K2', shows: createPage() });
    expect(repository.releases()).toMatchObject([{ draft: false, tag: 'files-1' }, { draft: true }]);
  });

  test('lifted within minutes are waited for', async () => {
    const repository = await scenario.repository();
    scenario.world.rateLimits.setLeft(repository, 0, 60);
    const lift = async <Answer>(real: Answer): Promise<Answer> => {
      scenario.world.rateLimits.clear();
      return real;
    };
    scenario.intercept({ method: 'GET', url: /\/pages$/ }, { alter: lift });
    const inputs = { channel: 'K1' };
    const delivered = await scenario.deliver({ repository, files, inputs, simulatedTime: true });
    await expectReady(scenario, delivered, { channel: 'K1', shows: createPage() });
    expect(delivered.stdout).toMatch(/trying again in 6\d(\.\d)? s/);
  });
});
