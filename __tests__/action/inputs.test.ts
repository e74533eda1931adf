import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readInputs, readRunContext } from '../../src/action/inputs.ts';
import { INPUTS } from '../../src/request/inputs.ts';
import { temporaryFolder } from '../support/files.ts';
import { FakeClock, NOON } from '../support/ports.ts';

const RUNNER = {
  GITHUB_REPOSITORY: 'octo/site',
  GITHUB_API_URL: 'https://api.github.com',
  GITHUB_SERVER_URL: 'https://github.com',
};

describe('the inputs', () => {
  test('are read by their names in upper case, hyphens kept, and trimmed', () => {
    const raw = readInputs({ ...RUNNER, INPUT_FILE: ' page.html\n', 'INPUT_FAIL-ON-NOT-READY': 'false' });
    expect(raw).toMatchObject({ file: 'page.html', 'fail-on-not-ready': 'false' });
  });

  test('that are left empty take their defaults, and the runner’s values for expressions', () => {
    const raw = readInputs({ ...RUNNER, INPUT_TIMEOUT: '  ' });
    expect(raw).toMatchObject({
      timeout: '240',
      channel: 'auto',
      repository: 'octo/site',
      'api-url': 'https://api.github.com',
      'auth-url': 'https://github.com',
    });
    expect(Object.keys(raw)).toEqual(Object.keys(INPUTS));
  });

  test('have no token when none is given: the runner’s own is not looked for', () => {
    expect(readInputs({ ...RUNNER, INPUT_TOKEN: '', GITHUB_TOKEN: 'ghs_x' }).token).toBe('');
  });

  test('are empty where the runner says nothing', () => {
    expect(readInputs({})).toMatchObject({ repository: '', 'api-url': '' });
  });
});

describe('the surroundings', () => {
  const ports = { clock: new FakeClock(), random: () => 0.5 };

  test("name the job's own credentials, and the folders that a file may lie in", () => {
    const env = {
      GITHUB_WORKSPACE: '/ws',
      RUNNER_TEMP: '/tmp/r',
      GITHUB_TOKEN: '',
      ACTIONS_RUNTIME_TOKEN: 'rt',
    };
    expect(readRunContext(env, ports)).toMatchObject({ secrets: ['rt'], allowedRoots: ['/ws', '/tmp/r'] });
  });

  test('are what the runner tells of the job', () => {
    const env = { GITHUB_WORKSPACE: '/ws', GITHUB_RUN_NUMBER: '7', GITHUB_WORKFLOW: 'Deliver' };
    expect(readRunContext(env, ports)).toEqual({
      folder: '/ws',
      secrets: [],
      allowedRoots: ['/ws'],
      origin: 'from run 7 of Deliver',
      now: NOON,
      random: ports.random,
      sourceIsPrivate: null,
    });
  });

  test('outside a job are the present folder and no run', () => {
    expect(readRunContext({ GITHUB_WORKSPACE: '' }, ports)).toMatchObject({
      folder: process.cwd(),
      origin: 'from run ? of a workflow',
    });
  });

  test.each<[string, boolean | null]>([
    ['{"repository":{"private":true}}', true],
    ['{"repository":{"private":false}}', false],
    ['{"repository":{"private":"false"}}', null],
    ['{"repository":null}', null],
    ['{}', null],
    ['null', null],
    ['{"repository":', null],
  ])('read from the event %s whether the repository is private: %s', async (event, sourceIsPrivate) => {
    const path = join(await temporaryFolder(), 'event.json');
    await writeFile(path, event);
    expect(readRunContext({ GITHUB_EVENT_PATH: path }, ports).sourceIsPrivate).toBe(sourceIsPrivate);
  });

  test('take nothing for public on the word of an event that is missing', () => {
    expect(readRunContext({ GITHUB_EVENT_PATH: '/nowhere/event.json' }, ports).sourceIsPrivate).toBeNull();
  });
});
