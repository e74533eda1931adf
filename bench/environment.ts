import { type ChildProcess, fork } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerCommand, ServerMessage } from './server.ts';

/** The local hosts, and a folder for the files of the benchmark. */
export interface BenchEnvironment {
  readonly folder: string;
  /** What a client's environment needs so that it reaches the hosts. */
  readonly env: Readonly<Record<string, string>>;
  readonly proxy: string;
  readonly certFile: string;
  /** When the first tunnel since the last call of `reset` was asked for, in nanoseconds. */
  firstRequest(): bigint | undefined;
  cutAfter(bytes: number): void;
  /** Deletes what the hosts have received. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the hosts in a process of their own. */
export async function startBenchEnvironment(): Promise<BenchEnvironment> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  for (const name of ['hosts', 'temp', 'workspace']) await mkdir(join(folder, name));
  const server = fork(new URL('server.ts', import.meta.url), [join(folder, 'hosts')]);
  let first: bigint | undefined;
  server.on('message', (message: ServerMessage) => {
    if ('connectedAt' in message) first ??= BigInt(message.connectedAt);
  });
  const { listening } = await waitForMessage(server, 'listening');
  const proxy = `http://127.0.0.1:${listening.port}`;
  const { certFile } = listening;
  const sendCommand = (command: ServerCommand): boolean => server.send(command);
  return {
    folder,
    proxy,
    certFile,
    env: {
      PATH: process.env.PATH ?? '',
      HTTPS_PROXY: proxy,
      NODE_EXTRA_CA_CERTS: certFile,
      GIT_SSL_CAINFO: certFile,
    },
    firstRequest: () => first,
    cutAfter: (cutAfter) => void sendCommand({ cutAfter }),
    async reset() {
      const forgotten = waitForMessage(server, 'forgotten');
      sendCommand({ forget: true });
      await forgotten;
      first = undefined;
    },
    async close() {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.disconnect();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

type ServerAnswer<Key extends string> = Extract<ServerMessage, Record<Key, unknown>>;

/** The server's next message of a kind. */
function waitForMessage<Key extends string>(server: ChildProcess, key: Key): Promise<ServerAnswer<Key>> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(new Error('the local hosts ended'));
    server.once('exit', end);
    server.on('message', function listen(message: ServerMessage) {
      if (!(key in message)) return;
      server.off('message', listen).off('exit', end);
      // The key identifies the kind of message.
      resolve(message as ServerAnswer<Key>);
    });
  });
}
