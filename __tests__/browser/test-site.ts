import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { createLocalCertificate } from '../../src/browser/local-certificate.ts';

/** Answers one request. */
export type TestAnswer = (message: IncomingMessage, response: ServerResponse) => void;

/** All https hosts of a test, behind a proxy with a certificate authority of its own. */
export interface TestSite {
  /** For the browser: the proxy and the certificate. */
  readonly environment: Readonly<Record<string, string>>;
  /** Hosts with ports to which the proxy was asked to connect. */
  readonly connections: string[];
  close(): Promise<void>;
}

/** Starts a proxy that leads every host and port to one function. */
export async function startTestSite(folder: string, answer: TestAnswer): Promise<TestSite> {
  const certificate = createLocalCertificate(Date.now());
  const site = createSecureServer(certificate, answer);
  const connections: string[] = [];
  const sockets = new Set<Duplex>();
  const proxy = createServer();
  proxy.on('connect', (message: IncomingMessage, socket: Duplex) => {
    connections.push(message.url ?? '');
    const inner = connect((site.address() as AddressInfo).port, '127.0.0.1');
    for (const one of [socket, inner]) {
      sockets.add(one);
      one.on('error', () => one.destroy()).on('close', () => sockets.delete(one));
    }
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    socket.pipe(inner).pipe(socket);
  });
  for (const server of [site, proxy]) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  }
  const authority = join(folder, 'authority.pem');
  await writeFile(authority, certificate.cert);
  return {
    environment: {
      https_proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      NODE_EXTRA_CA_CERTS: authority,
    },
    connections,
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all([site, proxy].map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
