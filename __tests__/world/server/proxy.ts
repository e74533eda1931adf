import { writeFile } from 'node:fs/promises';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { generateCACertificate, getLocal, type Mockttp } from 'mockttp';

/** Set by the proxy on requests without TLS, so that the traffic log has their real address. */
export const PLAIN_HTTP_HEADER = 'x-world-plain-http';

/** The intercepting proxy and its temporary certificate authority. */
export interface InterceptingProxy {
  readonly url: string;
  readonly ca: string;
  readonly env: Readonly<Record<string, string>>;
  /**
   * Opens a second port for a host: a direct connection to `https://localhost:<port>` reaches it.
   * `localhost` can't be reached through the proxy.
   */
  openDirectAddress(host: string): Promise<string>;
  close(): Promise<void>;
}

/**
 * Starts a proxy that terminates TLS and streams every request, with its Host header, to the host server.
 * Connection faults of the host server are passed on to the client.
 */
export async function startProxy(frontPort: number, folder: string): Promise<InterceptingProxy> {
  const authority = await generateCACertificate({ subject: { commonName: 'Local GitHub of the tests' } });
  const options = { https: authority, recordTraffic: false, suggestChanges: false, maxBodySize: 0 };
  const proxy = getLocal(options);
  const doors: Mockttp[] = [];
  listenOnLoopbackOnly(proxy);
  hideBrokenConnections();
  // Without a listener mockttp keeps each response body in memory to its end; with one it drops what
  // exceeds maxBodySize at once. A download of 1 GB: 1 GB of memory without, 30 MB with.
  await proxy.on('response', () => {});
  await proxy.start(0);
  const front = { targetHost: `127.0.0.1:${frontPort}`, updateHostHeader: false };
  await proxy
    .forAnyRequest()
    .withProtocol('https')
    .thenPassThrough({
      simulateConnectionErrors: true,
      transformRequest: { setProtocol: 'http', replaceHost: front },
    });
  await proxy
    .forAnyRequest()
    .withProtocol('http')
    .thenPassThrough({
      simulateConnectionErrors: true,
      transformRequest: { replaceHost: front, updateHeaders: { [PLAIN_HTTP_HEADER]: '1' } },
    });
  allowAnyClientPort(proxy);
  const url = `http://127.0.0.1:${proxy.port}`;
  const caFile = join(folder, 'ca.pem');
  await writeFile(caFile, authority.cert);
  return {
    url,
    ca: authority.cert,
    env: {
      HTTPS_PROXY: url,
      https_proxy: url,
      NODE_EXTRA_CA_CERTS: caFile,
      GIT_SSL_CAINFO: caFile,
      CURL_CA_BUNDLE: caFile,
      SSL_CERT_FILE: caFile,
    },
    async openDirectAddress(host) {
      const door = getLocal(options);
      doors.push(door);
      listenOnLoopbackOnly(door);
      await door.start(0);
      const targetHost = `127.0.0.1:${frontPort}`;
      await door.forAnyRequest().thenPassThrough({
        simulateConnectionErrors: true,
        transformRequest: { setProtocol: 'http', replaceHost: { targetHost, updateHostHeader: host } },
      });
      return `https://localhost:${door.port}`;
    },
    async close() {
      for (const server of [proxy, ...doors]) await server.stop();
    },
  };
}

const MOCKTTP_FAILURE = 'Failed to handle request:';
let isHidingBrokenConnections = false;

/**
 * Mockttp prints a line for each connection that a client or a simulated fault breaks, which is no failure of the
 * proxy. It has no setting for this.
 */
function hideBrokenConnections(): void {
  if (isHidingBrokenConnections) return;
  isHidingBrokenConnections = true;
  const { error } = console;
  console.error = (...parts: readonly unknown[]): void => {
    const isBroken = /aborted|socket hang up|ECONNRESET|EPIPE/.test(String(parts[1]));
    if (parts[0] !== MOCKTTP_FAILURE || !isBroken) error.apply(console, [...parts]);
  };
}

/** Mockttp has no setting for this: without it the server would accept connections from the network. */
function listenOnLoopbackOnly(proxy: Mockttp): void {
  let server: Server;
  Object.defineProperty(proxy, 'server', {
    get: () => server,
    set: (created: Server) => {
      const listen = created.listen.bind(created) as (port: number, host: string) => Server;
      created.listen = ((port: number) => listen(port, '127.0.0.1')) as Server['listen'];
      server = created;
    },
  });
}

/**
 * Mockttp refuses a client whose port is also one of its own ports towards the host server, as a loop. The system
 * gives the same port number to two connections with different ends, so under load that happens by chance;
 * a loop can't, since everything goes to the host server.
 */
function allowAnyClientPort(proxy: Mockttp): void {
  // There is no setting for this either, so the private steps of the rules are changed.
  const { requestRuleSets } = proxy as unknown as { requestRuleSets: Record<string, readonly MockttpRule[]> };
  const steps = Object.values(requestRuleSets).flatMap((rules) => rules.flatMap((rule) => rule.steps));
  for (const step of steps) step.outgoingSockets = new HiddenSet();
}

interface MockttpRule {
  readonly steps: readonly { outgoingSockets: Set<unknown> }[];
}

/** A set that does not show its members. */
class HiddenSet extends Set<unknown> {
  override [Symbol.iterator](): SetIterator<unknown> {
    return new Set<unknown>().values();
  }
}
