import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import '../../support/one-realm.ts';
import { createGitRepository } from '../../../src/github/git/repository.ts';
import { MEGABYTE, SECOND } from '../../../src/protocol/limits.ts';
import { SimulatedClock } from '../../faults/simulated-clock.ts';
import { temporaryFolder } from '../../support/files.ts';
import { fakePorts, NOON } from '../../support/ports.ts';
import { writeGitScript } from './git-script.ts';

const TOKEN = 'ghs_0123456789abcdef';
const CREDENTIALS = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
const REMOTE = new URL('https://github.com/octo/site.git');
/** A `git` that writes its environment into a file named by its first argument. */
const RECORDER = 'env > "$HOME/$1.env"; echo "ran $*"';
const { env: original } = process;

beforeEach(() => {
  process.env = { PATH: original.PATH ?? '' };
});
afterEach(() => {
  process.env = original;
});

async function createRepository(script: string, { clock = new SimulatedClock(), deadline = NOON } = {}) {
  process.env.PATH = await writeGitScript(script);
  const folder = await temporaryFolder();
  const ports = { ...fakePorts(), clock };
  const git = await createGitRepository(folder, { remote: REMOTE, token: TOKEN, deadline }, ports);
  const readEnv = async (name: string): Promise<Record<string, string>> =>
    Object.fromEntries(
      (await readFile(join(folder, `${name}.env`), 'utf8')).split('\n').map((line) => {
        const [, key = '', value = ''] = /^([^=]*)=(.*)$/.exec(line) ?? [];
        return [key, value];
      }),
    );
  return { git, readEnv };
}

function getSettings(env: Record<string, string>): Record<string, string | undefined> {
  const indexes = Array.from({ length: Number(env.GIT_CONFIG_COUNT) }, (_, index) => index);
  return Object.fromEntries(
    indexes.map((index) => [env[`GIT_CONFIG_KEY_${index}`], env[`GIT_CONFIG_VALUE_${index}`]]),
  );
}

test('createGitRepository gives an offline command neither network nor token', async () => {
  const { git, readEnv } = await createRepository(RECORDER);
  await git({ args: ['ls-tree'], description: 'listing' });
  const env = await readEnv('ls-tree');
  expect(getSettings(env)).toMatchObject({ 'protocol.allow': 'never' });
  expect(JSON.stringify(env)).not.toContain(CREDENTIALS);
  expect(JSON.stringify(env)).not.toContain(TOKEN);
});

test.each([
  ['ignores a file that cannot be read', {}, `${rootCertificates.join('\n')}\n`],
  ['keeps the file of GIT_SSL_CAINFO', { GIT_SSL_CAINFO: '/some/bundle.pem' }, null],
])('createGitRepository %s', async (_, more, expected) => {
  Object.assign(process.env, { NODE_EXTRA_CA_CERTS: '/nowhere/extra.pem', ...more });
  const { readEnv } = await createRepository(RECORDER);
  const { GIT_SSL_CAINFO = '' } = await readEnv('init');
  if (expected === null) expect(GIT_SSL_CAINFO).toBe('/some/bundle.pem');
  else expect(await readFile(GIT_SSL_CAINFO, 'utf8')).toBe(expected);
});

const LINES = 'while :; do echo a line >&2; sleep 0.01; done';
test.each([
  ['an online command', { online: true }, 120, 'CONNECTION', true],
  ['an online command that sends 3 MB', { online: true, size: 3 * MEGABYTE }, 168, 'CONNECTION', false],
  ['an offline command', {}, 120, 'LOCAL', false],
])('createGitRepository ends %s that prints a line a second', async (_, more, limit, code, retryable) => {
  const clock = new SimulatedClock();
  const { git } = await createRepository(`[ "$1" = init ] || ${LINES}`, {
    clock,
    deadline: clock.now() + 150 * SECOND,
  });
  const command = {
    args: ['push'],
    description: 'pushing',
    onOutput: () => void clock.advance(SECOND),
    ...more,
  };
  const message = `pushing failed: git did not finish within ${limit}.0 s`;
  await expect(git(command)).rejects.toMatchObject({ code, retryable, message });
});
