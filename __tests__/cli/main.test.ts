import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import '../support/one-realm.ts';
import { EXIT, main } from '../../src/cli/main.ts';
import { usage } from '../../src/cli/usage.ts';
import { machineContract } from '../../src/protocol/contract.ts';
import { TOOL } from '../../src/protocol/words.ts';
import { temporaryFolder } from '../support/files.ts';

const { stdout, stderr } = process;
const original = { out: stdout.write, err: stderr.write };
let out: string;
let err: string;
let silent: Server | undefined;
const callers: Socket[] = [];

beforeEach(() => {
  out = '';
  err = '';
  stdout.write = ((text: string) => {
    out += text;
    return true;
  }) as typeof stdout.write;
  stderr.write = ((text: string) => {
    err += text;
    return true;
  }) as typeof stderr.write;
});
afterEach(() => {
  stdout.write = original.out;
  stderr.write = original.err;
  silent?.close();
  for (const caller of callers.splice(0)) caller.destroy();
  silent = undefined;
});

/** A host that takes a connection and never says a word; resolves `called` once somebody is there. */
async function silentHost(): Promise<{ url: string; called: Promise<void> }> {
  const { promise: called, resolve } = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    callers.push(socket.on('error', () => undefined));
    resolve();
  });
  silent = server;
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, called };
}

describe('the exit code and the answer', () => {
  test.each<[string[], string]>([
    [['contract'], JSON.stringify(machineContract(), null, 2)],
    [['contract', '--json'], JSON.stringify(machineContract(), null, 2)],
    [['--version'], TOOL.version],
    [['--help'], usage()],
    [[], usage()],
  ])('%j answers and is ready', async (args, answer) => {
    await expect(main(args, {})).resolves.toBe(EXIT.ready);
    expect({ out, err }).toEqual({ out: `${answer}\n`, err: '' });
  });

  test.each([
    [['sent'], 'there is no command sent; see screen-delivery --help\n'],
    [
      ['deliver', 'x', '--token-env', 'NONE'],
      'the environment variable NONE holds no token; see screen-delivery --help\n',
    ],
  ])('%j is wrong usage, complained of on stderr', async (args, complaint) => {
    await expect(main(args, {})).resolves.toBe(EXIT.wrongUsage);
    expect({ out, err }).toEqual({ out: '', err: complaint });
  });

  test('a file that is not fit is not ready', async () => {
    const file = join(await temporaryFolder(), 'page.html');
    await expect(main(['check', file], {})).resolves.toBe(EXIT.notReady);
    await writeFile(file, 'a page');
    await expect(main(['check', file], {})).resolves.toBe(EXIT.ready);
  });

  test('an unexpected error is told on stderr, as not ready', async () => {
    const broken = {
      get GITHUB_TOKEN(): string {
        throw new Error('no environment');
      },
    };
    await expect(main(['deliver', 'x'], broken)).resolves.toBe(EXIT.notReady);
    expect({ out, err }).toEqual({ out: '', err: 'an unexpected error: no environment\n' });
  });

  test('are three different numbers', () => {
    expect(EXIT).toEqual({ ready: 0, notReady: 1, wrongUsage: 2 });
  });
});

describe('a signal', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)('%s ends a delivery with an honest report', async (name) => {
    const file = join(await temporaryFolder(), 'page.html');
    await writeFile(file, 'a page');
    const { url, called } = await silentHost();
    const args = ['deliver', file, '--channel', 'K3', '--bin', 'bin-00000001', '--bin-host-url', url];
    const code = main(args, {});
    await called;
    process.emit(name);
    await expect(code).resolves.toBe(EXIT.notReady);
    expect(out).toMatch(/^RESULT: НЕ ГОТОВО → the delivery was stopped before it was done \(step place\)/m);
    expect(out).toMatch(/^UNKNOWN: everything after the failed step; nothing was published$/m);
  });

  test('is listened to only during the run', async () => {
    const listeners = () => process.listenerCount('SIGINT') + process.listenerCount('SIGTERM');
    const before = listeners();
    await main(['--version'], {});
    await main(['sent'], {});
    expect(listeners()).toBe(before);
  });
});
