import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { drawn } from '../rules/secrets/fake-secrets.ts';
import { collectOutput, expectNotReady, expectReady } from './expect-report.ts';
import { type DeliveredStep, MARKER, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();

/** Shapes in which a secret could still be read. */
function expectNeverSaid(delivered: DeliveredStep, secret: string): void {
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  for (const form of [secret, base64, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) {
    expect(collectOutput(delivered).includes(form)).toBe(false);
  }
}

test('a secret in the file stops the step, unless its fingerprint is allowed', async () => {
  const secret = `ghp_${drawn(36)}`;
  const repository = await scenario.repository();
  const bytes = `<!doctype html>\n<p>${MARKER}</p>\n<pre>${secret}</pre>\n`;
  const step = { repository, files: { 'page.html': bytes } };
  const refused = await scenario.deliver({ ...step, inputs: { channel: 'K1+K3' } });
  const found = `what looks like a secret: GitHub token in line 3 column \\d+ \\(fingerprint [0-9a-f]{16}\\)$`;
  expectNotReady(refused, 'check', new RegExp(`^the file page\\.html contains ${found}`), {
    httpCode: null,
    hint: /revoke it.*`allow-secret: [0-9a-f]{16}`/,
  });
  expectNeverSaid(refused, secret);
  expect(scenario.world.traffic.lines()).toEqual([]);
  const [, fingerprint = ''] = /fingerprint ([0-9a-f]{16})/.exec(refused.outputs.report ?? '') ?? [];
  expect(refused.summary).toContain(fingerprint);
  const allowing = { channel: 'K1', 'allow-secret': fingerprint };
  const allowed = await scenario.deliver({ ...step, inputs: allowing });
  const unknown = /^whether allowed findings that look like secrets are harmless: page\.html$/;
  await expectReady(scenario, allowed, { channel: 'K1', shows: bytes, unknown });
  expectNeverSaid(allowed, secret);
});

test("the job's own credentials, in a file or in an input that is published, stop the step", async () => {
  const names = [
    ...['ACTIONS_ID_TOKEN_REQUEST_TOKEN', 'ACTIONS_RUNTIME_TOKEN', 'DB_SECRET', 'DEPLOY_PASSWORD'],
    ...['GH_TOKEN', 'GITHUB_TOKEN'],
  ];
  const env = Object.fromEntries(names.map((name) => [name, drawn(60, undefined, name.length)]));
  const page = (text: string) => `<p>${MARKER}</p><p>${text}</p>`;
  const leaks = names.map((name): [string, string] => [`out/${name}.html`, page(env[name] ?? '')]);
  const files = { 'page.html': page('text'), ...Object.fromEntries(leaks) };
  const found = await scenario.deliver({ files, env, inputs: { channel: 'K1+K3', file: 'out/*.html' } });
  const why = found.reports.map(({ notReady }) => notReady?.reason);
  expect(why).toEqual(
    names.map((name) => expect.stringContaining(`a credential of this environment (${name})`)),
  );
  for (const name of names) {
    const inputs = { channel: 'K1+K3', message: `by ${env[name]}` };
    const refused = await scenario.deliver({ files, env, inputs });
    expectNotReady(refused, 'check', /input `message` contains/, { httpCode: null });
    for (const delivered of [found, refused]) expectNeverSaid(delivered, env[name] ?? '');
  }
  expect(scenario.world.traffic.lines()).toEqual([]);
});

describe('a file that is not where it seems to be', () => {
  const SECRET = drawn(50);

  /** A workspace with links in it, beside a folder that must stay private. */
  async function workspaceWithLinks(): Promise<{ workspace: string; outside: string }> {
    const root = await mkdtemp(join(scenario.world.folder, 'links-'));
    const [workspace, outside] = [join(root, 'workspace'), join(root, 'outside')];
    for (const folder of [workspace, outside]) await mkdir(folder);
    await writeFile(join(outside, 'page.html'), `<p>${SECRET}</p>`);
    await symlink(outside, join(workspace, 'folder'));
    await symlink('/proc/self/environ', join(workspace, 'environ.html'));
    return { workspace, outside };
  }

  test("in the runner's temp folder is delivered", async () => {
    const { workspace, outside } = await workspaceWithLinks();
    const inputs = { file: join(outside, 'page.html'), channel: 'K1' };
    const env = { RUNNER_TEMP: outside };
    const delivered = await scenario.deliver({ workspace, env, inputs });
    await expectReady(scenario, delivered, { channel: 'K1', shows: `<p>${SECRET}</p>` });
  });
});
