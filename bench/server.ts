import { writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAuthority } from '../__tests__/world/server/certificates.ts';
import { createHosts } from './hosts/hosts.ts';

/** A message of the server to the benchmark. */
export type ServerMessage =
  | { readonly listening: { readonly port: number; readonly certFile: string } }
  /** A client asked for a tunnel; time in nanoseconds of the monotonic clock. */
  | { readonly connectedAt: string }
  | { readonly forgotten: true };

/** A command of the benchmark to the server. */
export type ServerCommand =
  /** Reset the connection of the next upload after so many bytes. */
  { readonly cutAfter: number } | { readonly forget: true };

/**
 * All hosts behind a proxy, in a separate process, so that its memory and CPU are not measured.
 * A tunnel's socket goes straight to the https server, so that no byte is copied on the way.
 */
async function serve(folder: string): Promise<void> {
  const sendMessage = (message: ServerMessage): void => void process.send?.(message);
  const hosts = await createHosts(folder);
  const { ca, contextFor } = await createAuthority('Local hosts of the benchmark');
  const certFile = join(folder, 'ca.pem');
  await writeFile(certFile, ca);
  const SNICallback: ServerOptions['SNICallback'] = (host, done) => {
    contextFor(host).then((context) => done(null, context), done);
  };
  const front = createHttpsServer({ SNICallback }, (request, response) => {
    hosts.serve(request, response).catch(() => request.socket.destroy());
  });
  front.requestTimeout = 0;
  const proxy = createHttpServer();
  proxy.on('connect', (_request, socket, head) => {
    sendMessage({ connectedAt: String(process.hrtime.bigint()) });
    socket.on('error', () => undefined);
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) socket.unshift(head);
    front.emit('connection', socket);
  });
  process.on('message', async (order: ServerCommand) => {
    if ('cutAfter' in order) return hosts.cutAfter(order.cutAfter);
    await hosts.forget();
    sendMessage({ forgotten: true });
  });
  process.on('disconnect', () => process.exit());
  proxy.listen(0, '127.0.0.1', () => {
    sendMessage({ listening: { port: (proxy.address() as AddressInfo).port, certFile } });
  });
}

await serve(process.argv[2] ?? '.');
