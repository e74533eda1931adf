import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '../support/files.ts';

const RUNNER = {
  GITHUB_REPOSITORY: 'octo/site',
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_EVENT_NAME: 'push',
  GITHUB_SHA: 'c0ffee02',
  GITHUB_REF: 'refs/heads/main',
  GITHUB_RUN_ID: '4242',
  GITHUB_RUN_NUMBER: '7',
  GITHUB_WORKFLOW: 'Deliver',
};
const UNKNOWN = { repository: null, serverUrl: null, payload: {}, title: 'run ? of a workflow', url: null };

const SCRIPT = `
const { loadCurrentRun } = await import(process.env.MODULE);
const run = await loadCurrentRun();
process.stderr.write(JSON.stringify(run));
`;

/** The facts that a process of its own loads: the library reads its environment once, when it is imported. */
async function load(env: Readonly<Record<string, string>>): Promise<unknown> {
  const MODULE = new URL('../../src/action/current-run.ts', import.meta.url).href;
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', SCRIPT], {
    env: { ...env, MODULE, NODE_NO_WARNINGS: '1' },
  });
  return JSON.parse(stderr);
}

async function loadWithEvent(content: string): Promise<unknown> {
  const path = join(await temporaryFolder(), 'event.json');
  await writeFile(path, content);
  return load({ ...RUNNER, GITHUB_EVENT_PATH: path });
}

describe('loadCurrentRun', () => {
  test('loads the repository, the event and the address of the run', async () => {
    await expect(loadWithEvent('{"repository":{"private":true}}')).resolves.toEqual({
      number: [4242, 1],
      repository: { owner: 'octo', repo: 'site' },
      serverUrl: 'https://github.com/',
      eventName: 'push',
      sha: 'c0ffee02',
      ref: 'refs/heads/main',
      payload: { repository: { private: true } },
      title: 'run 7 of Deliver',
      url: 'https://github.com/octo/site/actions/runs/4242',
    });
  });

  test('knows nothing of an event that is null, and has no address or number without those of the run', async () => {
    const known = { payload: {}, title: 'run 7 of Deliver' };
    await expect(loadWithEvent('null')).resolves.toMatchObject(known);
    await expect(loadWithEvent('{"repository":')).resolves.toMatchObject(UNKNOWN);
    const run = load({ GITHUB_REPOSITORY: 'octo/site', GITHUB_EVENT_PATH: '/nowhere/event.json' });
    await expect(run).resolves.toMatchObject({ title: 'run ? of a workflow', url: null, payload: {} });
    await expect(load({})).resolves.toMatchObject(UNKNOWN);
  });
});
