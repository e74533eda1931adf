import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import '../support/one-realm.ts';
import { EXIT, main } from '../../src/cli/main.ts';
import { usage } from '../../src/cli/usage.ts';
import { TOOL } from '../../src/protocol/words.ts';
import { toolContract } from '../../src/request/commands.ts';
import { temporaryFolder } from '../support/files.ts';
import { captureOutput } from './terminals.ts';

const output = captureOutput();
describe('main', () => {
  test.each<[string[], string]>([
    [['contract'], JSON.stringify(toolContract(), null, 2)],
    [['--version'], TOOL.version],
    [[], usage()],
  ])('with %j prints a result and returns the exit code 0', async (args, result) => {
    await expect(main(args, {})).resolves.toBe(EXIT.ready);
    expect(output).toEqual({ stdout: `${result}\n`, stderr: '' });
  });

  test.each([
    [['sent'], /^Error: there is no command sent\nTo fix: write `screen-delivery deliver FILE` .*--help`\n$/],
    [
      ['deliver', 'x', '--token-env', 'NONE'],
      /^Error: the environment variable .* is empty\nTo fix: set the variable, or name another one\n$/,
    ],
    [
      ['verify', 'https://preview.dev/'],
      /^Error: a link can't be verified without its content\nTo fix: set `--marker` to .* or `--file` to its content\n$/,
    ],
    [['mcp'], /^Error: --root is missing: .*\nTo fix: add `--root \/path\/to\/the\/pages` to `mcp`\n$/],
    [
      ['mcp', '--root', '.', '--timeout', 'soon'],
      /^Error: `--timeout` is soon, .*\nTo fix: set `--timeout 240`\n$/,
    ],
  ])('with %j says on stderr what to change, and returns the exit code 2', async (args, error) => {
    await expect(main(args, {})).resolves.toBe(EXIT.wrongUsage);
    expect(output).toEqual({ stdout: '', stderr: expect.stringMatching(error) });
  });

  test('calls a wrong token by the variable that has it', async () => {
    await expect(main(['deliver', 'x'], { GH_TOKEN: 'two words' })).resolves.toBe(EXIT.wrongUsage);
    expect(output.stderr).toMatch(
      /^Error: the token is too short .*\nTo fix: set GH_TOKEN to the whole token, or leave it empty\n$/,
    );
  });

  test.each(['${GITHUB_TOKEN}', '$GITHUB_TOKEN', '%GITHUB_TOKEN%'])(
    'starts no server with a token that is still %s',
    async (text) => {
      await expect(main(['mcp', '--root', '.'], { GITHUB_TOKEN: text })).resolves.toBe(EXIT.wrongUsage);
      expect(output.stderr).toMatch(
        /^Error: the token is the name of a variable, not its value\nTo fix: set GITHUB_TOKEN to the token itself\n$/,
      );
    },
  );

  test('returns the exit code 1 if a file can not be delivered', async () => {
    const file = join(await temporaryFolder(), 'page.html');
    await expect(main(['check', file], {})).resolves.toBe(EXIT.notReady);
    await writeFile(file, 'a page');
    await expect(main(['check', file, '--allow-public-bin'], {})).resolves.toBe(EXIT.ready);
  });

  test('prints an unexpected error to stderr and returns the exit code 1', async () => {
    const broken = {
      get GITHUB_TOKEN(): string {
        throw new Error('no environment');
      },
    };
    await expect(main(['deliver', 'x'], broken)).resolves.toBe(EXIT.notReady);
    expect(output).toEqual({
      stdout: '',
      stderr:
        'Error: unexpected error: no environment\nTo fix: report it as a bug in screen-delivery, together with the log\n',
    });
  });

  test.each(['stdout', 'stderr'] as const)('ends only after %s has taken everything', async (name) => {
    const reader = Promise.withResolvers<void>();
    const { write } = process[name];
    process[name].write = ((text: string, onWritten?: () => void) => {
      if (onWritten !== undefined) void reader.promise.then(onWritten);
      return write.call(process[name], text);
    }) as typeof write;
    let hasEnded = false;
    const ending = main(['--version'], {}).then(() => {
      hasEnded = true;
    });
    await new Promise(setImmediate);
    expect({ hasEnded, stdout: output.stdout }).toEqual({ hasEnded: false, stdout: `${TOOL.version}\n` });
    reader.resolve();
    await ending;
  });
});

test('a secret of a page is in nothing that is said of the page', async () => {
  const secret = `ghp_${'x7Kq2mZ9'.repeat(4)}aBcD`;
  const file = join(await temporaryFolder(), 'page.html');
  const long = `https://cdn.example.com/${'a/'.repeat(30)}${secret}.js`;
  await writeFile(file, `<script src="${secret}.js"></script><script src="${long}"></script>`);
  await expect(main(['check', file, '--json'], {})).resolves.toBe(EXIT.notReady);
  expect(output.stdout).toContain('script ***.js');
  expect(output.stdout + output.stderr).not.toContain(secret.slice(0, 8));
});

test('no listener of a signal is left', async () => {
  const count = () => process.listenerCount('SIGINT') + process.listenerCount('SIGTERM');
  const before = count();
  await main(['--version'], {});
  expect(count()).toBe(before);
});
