import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { type Dispatcher, EnvHttpProxyAgent, errors, Pool } from 'undici';
import { keepRecent } from '../async.ts';
import { DeliveryError, isShortage, localError, toMessage } from '../errors.ts';
import type { HttpRequest, SendHttp } from '../ports.ts';
import { AGREEING_ANSWERS, EXCHANGE, SECOND } from '../protocol/limits.ts';
import { TOOL } from '../protocol/words.ts';
import { addressRange, isMachineRange, refuseMachineAddress } from '../rules/external-address.ts';
import { keepYoungHeapSmall } from '../system.ts';
import { exchange } from './exchange.ts';

const UNREACHABLE =
  /^(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ENETDOWN|UND_ERR_CONNECT_TIMEOUT)$/;

export const NETWORK_HINT = 'check the network and the `https_proxy` and `no_proxy` variables';
export const CERTIFICATE_HINT = "set `NODE_EXTRA_CA_CERTS` to a file with the proxy's certificate";

/** For a certificate of other hosts. A new Pages domain has one until GitHub has created its own. */
const OTHER_CERTIFICATE_HINT =
  'wait until the host has a certificate for this name (for a Pages domain: until Settings → Pages offers "Enforce HTTPS"; choose it), then try again';

const certificateHint = (code: string): string =>
  code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? OTHER_CERTIFICATE_HINT : CERTIFICATE_HINT;

export type ResolveHost = (
  host: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Creates the client for all requests: https only, with a limit for every wait, and without redirects. */
export function createHttpClient(resolve?: ResolveHost): SendHttp {
  keepYoungHeapSmall();
  const selectAgent = createAgents(resolve);
  return async (httpRequest) => {
    const { url, headers, publicOnly } = httpRequest;
    if (url.protocol !== 'https:') {
      const message = `the request to ${url.host} uses ${url.protocol}// instead of https`;
      throw new DeliveryError('NOT_EXTERNAL', message);
    }
    try {
      // An IP address needs no lookup, so check it here. The user's settings name the host that gets the token.
      if (publicOnly || headers?.authorization === undefined) refuseMachineAddress(url);
      return await exchange(selectAgent(httpRequest), {
        ...httpRequest,
        headers: { 'user-agent': `${TOOL.name}/${TOOL.version}`, ...headers },
      });
    } catch (thrown) {
      throw connectionError(thrown, httpRequest);
    }
  };
}

/** One for each kind of request, and for each number of connections in the longest series of probes. */
const RECENT_AGENTS = 3 + AGREEING_ANSWERS.most;

/** The connections for each kind of request. Idle connections close by themselves. */
function createAgents(resolve?: ResolveHost): (httpRequest: HttpRequest) => EnvHttpProxyAgent {
  const getAgent = keepRecent(RECENT_AGENTS, (key) => {
    const [kind] = key.split(' ');
    const lookup = kind === 'api' ? {} : { lookup: checkedLookup(kind === 'public', resolve) };
    return createProxyAgent({
      bodyTimeout: EXCHANGE.stall,
      connect: { timeout: EXCHANGE.connect, ...lookup },
    });
  });
  return ({ publicOnly = false, headers, connections = 0 }) => {
    // The API's host comes from the settings and may even be this machine.
    const named = headers?.authorization === undefined ? 'any' : 'api';
    return getAgent(`${publicOnly ? 'public' : named} ${connections}`);
  };
}

/**
 * A DNS lookup that refuses private addresses. A second answer can't replace the checked one (DNS rebinding).
 * @param publicOnly otherwise private networks are allowed, but never this machine or a cloud's metadata service
 */
export function checkedLookup(publicOnly: boolean, resolve: ResolveHost = lookup): LookupFunction {
  return (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) return callback(error, '');
      const refused = addresses
        .map(({ address }) => addressRange(address))
        .find((range) => (publicOnly ? range !== 'unicast' : isMachineRange(range)));
      if (refused !== undefined) {
        const hint = 'use an https URL that the public internet can open';
        const message = `${host} resolves to a ${refused} address`;
        return callback(new DeliveryError('NOT_EXTERNAL', message, { hint }), '');
      }
      return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

/** The error can't quote the proxy's URL: it may contain a password. @throws {DeliveryError} `BAD_INPUT` */
function createProxyAgent(options: ConstructorParameters<typeof EnvHttpProxyAgent>[0]): EnvHttpProxyAgent {
  try {
    return new EnvHttpProxyAgent({ clientFactory: connectThroughProxy, ...options });
  } catch {
    const message = '`https_proxy` or `http_proxy` is not a URL';
    const hint = 'set it to a URL such as http://proxy.example:3128, or remove it';
    throw new DeliveryError('BAD_INPUT', message, { hint });
  }
}

/** Connections to a proxy, with our time limit: undici would wait five minutes for the proxy's answer. */
function connectThroughProxy(proxy: URL, options: object): Dispatcher {
  const pool = new Pool(proxy, { ...options, headersTimeout: EXCHANGE.connect });
  const connect = pool.connect.bind(pool);
  return Object.assign(pool, {
    connect: (tunnel: Dispatcher.ConnectOptions) =>
      connect(tunnel).catch((thrown: unknown) => {
        if (UNREACHABLE.test(codeOf(innerError(thrown)))) throw proxyUnreachedError(proxy, thrown);
        if (!(thrown instanceof errors.HeadersTimeoutError)) throw thrown;
        const message = `the proxy did not connect within ${EXCHANGE.connect / SECOND} s`;
        throw new errors.ConnectTimeoutError(message);
      }),
  });
}

/** `NO_NETWORK` if the host was not reached, otherwise `CONNECTION`; an abort keeps its reason. @see protocol 7 */
export function connectionError(
  thrown: unknown,
  { url, signal, headersTimeout = EXCHANGE.headers }: Pick<HttpRequest, 'url' | 'signal' | 'headersTimeout'>,
): unknown {
  if (thrown instanceof DeliveryError) return thrown;
  if (signal?.aborted) return signal.reason;
  const inner = innerError(thrown);
  if (isShortage(inner)) return localError(inner);
  const [code, message] = [codeOf(inner), toMessage(inner)];
  const [, refusal] = /^Proxy response \((\d+)\)/.exec(message) ?? [];
  if (refusal !== undefined) return refusedByProxyError(url, Number(refusal), thrown);
  const reason = {
    ABORT_ERR: 'it did not finish in time',
    UND_ERR_HEADERS_TIMEOUT: `no response within ${headersTimeout / SECOND} s`,
    UND_ERR_BODY_TIMEOUT: `no data received for ${EXCHANGE.stall / SECOND} s`,
  }[code];
  if (UNREACHABLE.test(code)) {
    return unreachedError(`${url.host} can't be reached: ${message}`, NETWORK_HINT, thrown);
  }
  const isUntrusted = /CERT|SIGNED|SIGNATURE|ERR_TLS|ERR_SSL/.test(code);
  return new DeliveryError('CONNECTION', `the request to ${url.host} failed: ${reason ?? message}`, {
    retryable: !isUntrusted,
    hint: isUntrusted ? certificateHint(code) : `try again, and check that ${url.host} is the right host`,
    cause: thrown,
  });
}

const unreachedError = (message: string, hint: string, cause: unknown, retryable = true): DeliveryError =>
  new DeliveryError('NO_NETWORK', message, { hint, retryable, cause });

function proxyUnreachedError({ host }: URL, cause: unknown): DeliveryError {
  const message = `the proxy ${host} can't be reached: ${toMessage(innerError(cause))}`;
  return unreachedError(message, 'correct `https_proxy`, or remove it if you need no proxy', cause);
}

/** The proxy refused the CONNECT request, so the host received nothing. */
function refusedByProxyError({ host }: URL, status: number, cause: unknown): DeliveryError {
  const isLogin = status === 407;
  const way = `allow ${host} in the proxy, or add it to \`no_proxy\``;
  const hint = isLogin ? 'add the user and password to the URL in `https_proxy`' : way;
  const message = `the proxy refused the connection to ${host} with HTTP ${status}`;
  return unreachedError(message, hint, cause, status >= 500);
}

function innerError(thrown: unknown): unknown {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return innerError(thrown.errors[0]);
  const isWrapper = thrown instanceof errors.UndiciError && thrown.cause !== undefined;
  return isWrapper ? innerError(thrown.cause) : thrown;
}

function codeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return '';
  if (['TimeoutError', 'AbortError'].includes(thrown.name)) return 'ABORT_ERR';
  return 'code' in thrown ? String(thrown.code) : '';
}
