import net from 'node:net';
import tls from 'node:tls';
import { createAuthority } from '../world/server/certificates.ts';

/** What happens to a new connection to a host. */
export type ConnectionMode = 'through' | 'refused' | 'impostor';

/** A proxy in front of the world's proxy, for faults of the connection itself. */
export interface FaultyProxy {
  readonly url: string;
  /** Chooses the mode of each new connection; `through` by default. */
  chooseMode: (host: string) => ConnectionMode;
  close(): Promise<void>;
}

/** Starts the faulty proxy in front of a proxy, such as `http://127.0.0.1:8080`. */
export async function startFaultyProxy(proxyUrl: string): Promise<FaultyProxy> {
  const { port: behind } = new URL(proxyUrl);
  // A certificate authority that no client trusts.
  const impostor = await (await createAuthority('Nobody')).contextFor('nobody.example');
  const sockets = new Set<net.Socket>();
  const server = net.createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.once('data', (head: Buffer) => {
      const [, host = ''] = /^CONNECT ([^:\s]+)/.exec(head.toString('latin1')) ?? [];
      const connectionMode = faultyProxy.chooseMode(host);
      if (connectionMode === 'refused') {
        return void socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n');
      }
      if (connectionMode === 'through') return forwardConnection(socket, head, Number(behind));
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const masked = new tls.TLSSocket(socket, { isServer: true, secureContext: impostor });
      masked.on('error', () => undefined);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  const faultyProxy: FaultyProxy = {
    url: `http://127.0.0.1:${port}`,
    chooseMode: () => 'through',
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return faultyProxy;
}

function forwardConnection(socket: net.Socket, head: Buffer, port: number): void {
  const onward = net.connect({ port, host: '127.0.0.1', noDelay: true });
  onward.on('error', () => socket.destroy()).on('close', () => socket.destroy());
  socket.on('close', () => onward.destroy());
  onward.write(head);
  socket.pipe(onward).pipe(socket);
}
