import { mkdir, mkdtemp, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { drawn } from '../rules/secrets/fake-secrets.ts';
import { collectOutput, expectNotReady, expectReady } from './expect-report.ts';
import { createPage, type DeliveredStep, listRequests, MARKER, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();

/** Shapes in which a secret could still be read. */
function expectNeverSaid(delivered: DeliveredStep, secret: string): void {
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  for (const form of [secret, base64, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) {
    expect(collectOutput(delivered).includes(form)).toBe(false);
  }
}

describe('a secret in the file', () => {
  const kinds: readonly (readonly [rule: string, before: string, secret: string])[] = [
    ['github', '', `ghp_${drawn(36)}`],
    ['cookie', 'Set-Cookie: sid=', `s%3A${drawn(32)}`],
    ['url-password', 'https://', `deploy:${drawn(14)}@git.acme.io`],
  ];

  test.each(kinds)(
    '(%s) stops the step; with its fingerprint allowed it goes out',
    async (rule, before, secret) => {
      const repository = await scenario.repository();
      const bytes = `<!doctype html>\n<p>${MARKER}</p>\n<pre>${before}${secret}</pre>\n`;
      const step = { repository, files: { 'page.html': bytes } };
      const refused = await scenario.deliver({ ...step, inputs: { channel: 'K1+K3' } });
      expectNotReady(refused, {
        step: 'check',
        httpCode: null,
        reason: new RegExp(
          `^the file page\\.html contains what looks like a secret: ${rule} in line 3 \\(fingerprint [0-9a-f]{16}\\)$`,
        ),
        hint: /revoke it.*`allow-secret: [0-9a-f]{16}`/,
      });
      expectNeverSaid(refused, secret);
      expect(scenario.world.traffic.lines()).toEqual([]);

      const [, fingerprint = ''] = /fingerprint ([0-9a-f]{16})/.exec(refused.outputs.report ?? '') ?? [];
      expect(refused.stdout).toContain(fingerprint);
      expect(refused.summary).toContain(fingerprint);

      const other = await scenario.deliver({ ...step, inputs: { 'allow-secret': 'f'.repeat(16) } });
      expectNotReady(other, { step: 'check', reason: /looks like a secret/ });

      const allowed = await scenario.deliver({
        ...step,
        inputs: { channel: 'K1', 'allow-secret': fingerprint },
      });
      await expectReady(scenario, allowed, { channel: 'K1', shows: bytes });
      expectNeverSaid(allowed, secret);
    },
  );
});

describe("the job's own credentials in the file", () => {
  test.each(['ACTIONS_RUNTIME_TOKEN', 'ACTIONS_ID_TOKEN_REQUEST_TOKEN', 'GITHUB_TOKEN', 'GH_TOKEN'])(
    '%s stops the step, whatever is allowed',
    async (name) => {
      const repository = await scenario.repository();
      const secret = `ghs_${drawn(36, undefined, name.length)}`;
      const files = { 'page.html': `<p>${MARKER}</p><p>${secret}</p>` };
      // Without the variable it is a secret like any other, and the refusal tells its fingerprint.
      const stranger = await scenario.deliver({ repository, files });
      const [, fingerprint = ''] = /fingerprint ([0-9a-f]{16})/.exec(stranger.outputs.report ?? '') ?? [];
      expect(fingerprint).not.toBe('');

      const delivered = await scenario.deliver({
        repository,
        files,
        env: { [name]: secret },
        inputs: { channel: 'K1+K3', 'allow-secret': fingerprint },
      });
      expectNotReady(delivered, {
        step: 'check',
        httpCode: null,
        reason: /^the file page\.html contains a credential of this environment$/,
        hint: /revoke/,
      });
      expectNeverSaid(delivered, secret);
      expect(scenario.world.traffic.lines()).toEqual([]);
    },
  );

  test('a token in an input that is published stops the step, too', async () => {
    const repository = await scenario.repository();
    const secret = drawn(60);
    const delivered = await scenario.deliver({
      repository,
      files: { 'page.html': `<p>${MARKER}</p>` },
      env: { ACTIONS_RUNTIME_TOKEN: secret },
      inputs: { channel: 'K1', message: `by ${secret}` },
    });
    expectNotReady(delivered, { step: 'check', httpCode: null, reason: /input `message` holds/ });
    expectNeverSaid(delivered, secret);
    expect(scenario.world.traffic.lines()).toEqual([]);
  });
});

describe('a page that loads from a CDN', () => {
  const bytes = [
    '<!doctype html>',
    `<p>${MARKER}</p>`,
    '<script src="https://cdn.jsdelivr.net/npm/chart.js"></script>',
    '<style>@import "//fonts.googleapis.com/css?family=Inter";</style>',
  ].join('\n');
  const NEEDS =
    /page\.html is not self-contained: line 3 script https:\/\/cdn\.jsdelivr\.net\/npm\/chart\.js, line 4 style \/\/fonts\.googleapis\.com\/css\?…/;
  const files = { 'page.html': bytes };

  test.each(['K1', 'K3+K1'])('is refused for %s, and nothing is written anywhere', async (channel) => {
    const repository = await scenario.repository();
    const head = await repository.head();
    const delivered = await scenario.deliver({ repository, files, inputs: { channel } });
    expectNotReady(delivered, { step: 'check', reason: NEEDS, hint: /`self-contained: warn`/ });
    expect(listRequests(scenario, /./).filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(await repository.head()).toBe(head);
  });

  test('is delivered by `self-contained: warn`, and UNKNOWN names what it needs', async () => {
    const repository = await scenario.repository();
    const inputs = { channel: 'K1', 'self-contained': 'warn' };
    const delivered = await scenario.deliver({ repository, files, inputs });
    await expectReady(scenario, delivered, { channel: 'K1', shows: bytes, unknown: NEEDS });
  });

  test('is delivered through K3 as it is', async () => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K3' } });
    await expectReady(scenario, delivered, { channel: 'K3', shows: bytes });
  });
});

describe('a file that is not where it seems to be', () => {
  const SECRET = drawn(50);

  /** A workspace with links in it, beside a folder that is nobody's business. */
  async function workspaceWithLinks(): Promise<{ workspace: string; outside: string }> {
    const root = await mkdtemp(join(scenario.world.folder, 'links-'));
    const [workspace, outside] = [join(root, 'workspace'), join(root, 'outside')];
    for (const folder of [workspace, outside]) await mkdir(folder);
    await writeFile(join(outside, 'page.html'), `<p>${SECRET}</p>`);
    await writeFile(join(workspace, 'real.html'), `<p>${SECRET}</p>`);
    await symlink(join(outside, 'page.html'), join(workspace, 'out.html'));
    await symlink(join(workspace, 'real.html'), join(workspace, 'in.html'));
    await symlink(outside, join(workspace, 'folder'));
    await symlink('/proc/self/environ', join(workspace, 'environ.html'));
    return { workspace, outside };
  }

  test.each([
    [
      'a symbolic link out of the workspace',
      'out.html',
      /out\.html is a symbolic link or is in a linked folder$/,
    ],
    [
      'a symbolic link within the workspace',
      'in.html',
      /in\.html is a symbolic link or is in a linked folder$/,
    ],
    ['behind a linked folder', 'folder/page.html', /page\.html is a symbolic link or is in a linked folder$/],
    [
      'a symbolic link to the environment',
      'environ.html',
      /environ\.html is a symbolic link or is in a linked folder$/,
    ],
    ['outside by ..', '../outside/page.html', /is outside the workspace$/],
    ['the environment itself', '/proc/self/environ', /is outside the workspace$/],
    ['a device', '/dev/zero', /is outside the workspace$/],
  ])('%s is refused before any host is asked', async (_what, file, reason) => {
    const repository = await scenario.repository();
    const { workspace } = await workspaceWithLinks();
    const delivered = await scenario.deliver({ repository, workspace, inputs: { file, channel: 'K1' } });
    expectNotReady(delivered, {
      step: 'check',
      httpCode: null,
      reason,
      hint: /workspace|`file:`|name the file itself/,
    });
    expect(delivered.report.notReady?.code).toBe('BAD_FILE');
    expectNeverSaid(delivered, SECRET);
    expect(scenario.world.traffic.lines()).toEqual([]);
  });

  test("a file in the runner's temp folder is delivered", async () => {
    const repository = await scenario.repository();
    const { workspace, outside } = await workspaceWithLinks();
    const file = join(outside, 'page.html');
    const delivered = await scenario.deliver({
      repository,
      workspace,
      env: { RUNNER_TEMP: outside },
      inputs: { file, channel: 'K1' },
    });
    await expectReady(scenario, delivered, { channel: 'K1', shows: `<p>${SECRET}</p>` });
  });
});

test('a file that changes after its check, with its size and time kept, is published nowhere', async () => {
  const repository = await scenario.repository();
  const workspace = await mkdtemp(join(scenario.world.folder, 'changing-'));
  const path = join(workspace, 'page.html');
  const alter = async <Answer>(real: Answer): Promise<Answer> => {
    const { atime, mtime } = await stat(path);
    await writeFile(path, createPage('other'));
    await utimes(path, atime, mtime);
    return real;
  };
  scenario.intercept({ method: 'GET', url: /git\/ref\/heads/ }, { alter });
  const files = { 'page.html': createPage('first') };
  const delivered = await scenario.deliver({ repository, workspace, files, inputs: { channel: 'K1' } });
  expectNotReady(delivered, { step: 'place', reason: /page\.html changed while it was delivered/ });
  expect(await repository.read('page.html')).toBeNull();
});
