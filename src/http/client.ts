import { EnvHttpProxyAgent, errors } from 'undici';
import { DeliveryError, toMessage } from '../errors.ts';
import type { HttpRequest, SendHttp } from '../ports.ts';
import { EXCHANGE } from '../protocol/limits.ts';
import { TOOL } from '../protocol/words.ts';
import { refuseMachineAddress } from '../rules/external-address.ts';
import { keepYoungHeapSmall } from '../system.ts';
import { exchange } from './exchange.ts';
import { checkedLookup, type ResolveHost, refuseInternalName } from './lookup.ts';

/** Codes of Node and undici for errors after which the request certainly did not reach the host. */
const UNREACHABLE_CODES = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ENETDOWN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

export const NETWORK_HINT = 'check the network and the `https_proxy` and `no_proxy` variables';
export const CERTIFICATE_HINT = "set `NODE_EXTRA_CA_CERTS` to a file with the proxy's certificate";

const ERROR_DESCRIPTIONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its name could not be resolved',
  EAI_AGAIN: 'its name could not be resolved',
  ECONNREFUSED: 'it refused the connection',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed while sending',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: `no connection within ${EXCHANGE.connect / 1000} s`,
  ABORT_ERR: `the response was not complete within ${EXCHANGE.api / 1000} s`,
  UND_ERR_BODY_TIMEOUT: `no data received for ${EXCHANGE.stall / 1000} s`,
  UND_ERR_SOCKET: 'the connection was closed too early',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the response was shorter than its Content-Length',
};

/**
 * Creates the HTTP client for all requests: https only, through the proxy of the environment
 * (`https_proxy`, `no_proxy`), with a time limit on every wait. Redirects are not followed.
 *
 * @param resolve the resolver of the operating system
 */
export function createHttpClient(resolve?: ResolveHost): SendHttp {
  keepYoungHeapSmall();
  const selectAgent = createAgents(resolve);
  const refuseInternal = createHostCheck(resolve);
  return async (httpRequest) => {
    refusePlainHttp(httpRequest);
    try {
      await refuseInternal(httpRequest);
      return await exchange(selectAgent(httpRequest), {
        ...httpRequest,
        headers: { 'user-agent': `${TOOL.name}/${TOOL.version}`, ...httpRequest.headers },
      });
    } catch (thrown) {
      throw connectionError(thrown, httpRequest);
    }
  };
}

function refusePlainHttp({ url }: HttpRequest): void {
  if (url.protocol === 'https:') return;
  throw new DeliveryError(
    'NOT_EXTERNAL',
    `the request to ${url.host} uses ${url.protocol}// instead of https`,
  );
}

/** The connections of each kind of request, opened when the first one is sent. */
function createAgents(resolve?: ResolveHost): (httpRequest: HttpRequest) => EnvHttpProxyAgent {
  const agents = new Map<string, EnvHttpProxyAgent>();
  return ({ publicOnly = false, headers }) => {
    // The API, which the settings name and which receives the token, may even be on this machine.
    const isApi = !publicOnly && headers?.authorization !== undefined;
    const key = isApi ? 'api' : `lookup ${publicOnly}`;
    const agent =
      agents.get(key) ??
      createProxyAgent({
        bodyTimeout: EXCHANGE.stall,
        connect: {
          timeout: EXCHANGE.connect,
          ...(!isApi && { lookup: checkedLookup(publicOnly, resolve) }),
        },
      });
    agents.set(key, agent);
    return agent;
  };
}

/** Without a proxy for https, undici sends its requests through the one for http. */
const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

/**
 * Creates the check of hosts, but for those that receive the token, which the settings name. No connection looks up
 * an IP address, and none behind a proxy a name: each such name is looked up here, once.
 */
function createHostCheck(resolve?: ResolveHost): (httpRequest: HttpRequest) => Promise<void> {
  const checked = new Map<string, Promise<void>>();
  const check = async (url: URL, publicOnly: boolean): Promise<void> => {
    refuseMachineAddress(url);
    if (!PROXY_VARIABLES.some((name) => process.env[name])) return;
    await refuseInternalName(url.hostname, publicOnly, resolve);
  };
  return async ({ url, headers, publicOnly = false }) => {
    if (headers?.authorization !== undefined) return;
    const key = `${url.hostname} ${publicOnly}`;
    const known = checked.get(key) ?? check(url, publicOnly);
    checked.set(key, known);
    await known;
  };
}

/** @throws {DeliveryError} `BAD_INPUT` for a proxy's address that can't be read; it may contain a password. */
function createProxyAgent(options: ConstructorParameters<typeof EnvHttpProxyAgent>[0]): EnvHttpProxyAgent {
  try {
    return new EnvHttpProxyAgent(options);
  } catch {
    throw new DeliveryError(
      'BAD_INPUT',
      "the proxy's address in `https_proxy` or `http_proxy` is not a URL",
      {
        hint: 'set `https_proxy` to an address such as http://proxy.example:3128, or remove it',
      },
    );
  }
}

/** `NO_NETWORK` if the host was not reached, else `CONNECTION`; the reason of an abort is kept. @see protocol 7 */
export function connectionError(
  thrown: unknown,
  httpRequest: Pick<HttpRequest, 'url' | 'signal' | 'headersTimeout'>,
): unknown {
  if (httpRequest.signal?.aborted) return httpRequest.signal.reason;
  if (thrown instanceof DeliveryError) return thrown;
  const code = networkCode(thrown);
  const message = toMessage(thrown);
  const [, refusal] = /^Proxy response \((\d+)\)/.exec(message) ?? [];
  if (refusal !== undefined) return refusedByProxyError(httpRequest.url, Number(refusal), thrown);
  const reason =
    code === 'UND_ERR_HEADERS_TIMEOUT'
      ? `no response within ${(httpRequest.headersTimeout ?? EXCHANGE.headers) / 1000} s`
      : (ERROR_DESCRIPTIONS[code] ?? (code === '' ? message : code));
  if (UNREACHABLE_CODES.has(code)) {
    return new DeliveryError('NO_NETWORK', `${httpRequest.url.host} can't be reached: ${reason}`, {
      hint: NETWORK_HINT,
      retryable: true,
      cause: thrown,
    });
  }
  return new DeliveryError('CONNECTION', `the request to ${httpRequest.url.host} failed: ${reason}`, {
    retryable: !isCertificateError(code),
    hint: isCertificateError(code) ? CERTIFICATE_HINT : 'try again',
    cause: thrown,
  });
}

/** The proxy answered the CONNECT request, and nothing else has reached anybody. */
function refusedByProxyError({ host }: URL, status: number, cause: unknown): DeliveryError {
  return new DeliveryError('NO_NETWORK', `the proxy refused the connection to ${host} with HTTP ${status}`, {
    hint: `let the proxy of \`https_proxy\` connect to ${host}${status === 407 ? ', and put its user and password into the variable' : ''}, or set \`no_proxy\``,
    retryable: status >= 500,
    cause,
  });
}

/** The code of the error or of its first cause: undici wraps errors, and trying IPv4 and IPv6 bundles them. */
function networkCode(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return networkCode(thrown.errors[0]);
  if (!(thrown instanceof Error)) return '';
  // The time limit of a whole API call; other aborts were handled before.
  if (thrown.name === 'TimeoutError') return 'ABORT_ERR';
  const own = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
  const inner = thrown.cause === undefined ? '' : networkCode(thrown.cause);
  return inner !== '' && (own === '' || thrown instanceof errors.UndiciError) ? inner : own;
}

const isCertificateError = (code: string): boolean => /CERT|SIGNED|SIGNATURE|ERR_TLS|ERR_SSL/.test(code);
