import { lookup } from 'node:dns';
import { type RequestOptions, request as sendPlain } from 'node:http';
import { request as sendSecure } from 'node:https';
import { connect, type Socket } from 'node:net';
import { DeliveryError } from '../errors.ts';
import { networkLookup, publicLookup, type ResolveHost, refuseInternalName } from '../http/public-lookup.ts';
import { getReach } from '../rules/external-address.ts';
import type { EnvironmentVariables } from './find-browser.ts';
import { findUpstreamProxy } from './proxy-route.ts';

/** How hosts are reached. */
export interface HostConnector {
  readonly environment: EnvironmentVariables;
  /** The resolver of the operating system, unless another one is given. */
  readonly resolve?: ResolveHost | undefined;
  /** Scheme, host and port of a page inside a private network, which the settings name; all else must be public. */
  readonly privateOrigin?: string | undefined;
}

/** Milliseconds until a connection must be there. */
const CONNECT_TIME = 10_000;

/**
 * Connects to the host and port of an address, directly or through the proxy of the environment. Internal hosts
 * are refused by name and by address; the connection uses exactly the addresses that were checked.
 *
 * @throws {DeliveryError} `NOT_EXTERNAL` for an internal host
 */
export async function openConnection(target: URL, connector: HostConnector): Promise<Socket> {
  const { environment, resolve = lookup } = connector;
  const { reach, why } = getReach(target);
  const mayBePrivate = target.origin === connector.privateOrigin;
  if (reach === 'machine' || (reach === 'network' && !mayBePrivate)) {
    throw new DeliveryError('NOT_EXTERNAL', why);
  }
  const upstream = findUpstreamProxy(target, environment);
  const host = target.hostname.replace(/^\[|\]$/g, '');
  const port = Number(target.port || (target.protocol === 'http:' ? 80 : 443));
  if (upstream !== null) {
    await refuseInternalName(host, !mayBePrivate, resolve);
    return connectThrough(upstream, `${target.hostname}:${port}`);
  }
  const checkedLookup = (mayBePrivate ? networkLookup : publicLookup)(resolve);
  const socket = connect({ host, port, lookup: checkedLookup, timeout: CONNECT_TIME });
  return new Promise((done, fail) => {
    socket.once('error', fail).once('timeout', () => socket.destroy(new Error('no connection in time')));
    socket.once('connect', () => done(socket.off('error', fail).setTimeout(0)));
  });
}

/** Asks a proxy for a connection. @param authority host and port */
function connectThrough(proxy: URL, authority: string): Promise<Socket> {
  const { hostname, port, protocol, username, password } = proxy;
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const options: RequestOptions = {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port || (protocol === 'https:' ? 443 : 80),
    method: 'CONNECT',
    path: authority,
    agent: false,
    timeout: CONNECT_TIME,
    headers: {
      host: authority,
      ...(login === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
    },
  };
  const request = protocol === 'https:' ? sendSecure(options) : sendPlain(options);
  return new Promise((done, fail) => {
    request
      .once('error', fail)
      .once('timeout', () => request.destroy(new Error('no answer of the proxy in time')));
    request.once('response', ({ statusCode }) => fail(new Error(`the proxy answered ${statusCode}`)));
    request.once('connect', ({ statusCode }, socket, head) => {
      if (statusCode !== 200) {
        socket.destroy();
        return fail(new Error(`the proxy answered ${statusCode}`));
      }
      if (head.length > 0) socket.unshift(head);
      done(socket.setTimeout(0));
    });
    request.end();
  });
}
