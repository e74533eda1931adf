import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority } from './authority.ts';
import { createHosts } from './hosts/hosts.ts';

/** What the server tells the benchmark. */
export type ServerMessage =
  | { readonly listening: { readonly port: number; readonly certFile: string } }
  /** A client asked for a tunnel, at this moment of the system's monotonic clock. */
  | { readonly connectedAt: string }
  | { readonly forgotten: true };

/** What the benchmark asks of it. */
export type ServerCommand =
  /** The next upload's connection is to die after so many bytes. */
  { readonly cutAfter: number } | { readonly forget: true };

/**
 * All hosts behind a proxy, in a process of its own: its memory and its CPU are nobody's figures.
 * A tunnel's socket goes straight to the https server, so that no byte is copied on the way.
 */
async function serve(folder: string): Promise<void> {
  const sendMessage = (told: ServerMessage): void => void process.send?.(told);
  const hosts = await createHosts(folder);
  const { key, cert, certFile } = await createAuthority(folder, hosts.names);
  const front = createHttpsServer({ key, cert }, (request, response) => {
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
