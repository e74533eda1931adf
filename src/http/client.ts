import { setFlagsFromString } from 'node:v8';
import { EnvHttpProxyAgent, errors, request } from 'undici';
import { untilAborted } from '../async.ts';
import { DeliveryError } from '../errors.ts';
import type { HttpRequest, SendHttp } from '../ports.ts';
import { EXCHANGE } from '../protocol/limits.ts';
import { TOOL } from '../protocol/words.ts';
import { publicLookup } from './public-lookup.ts';

/**
 * Network errors that mean: this request never reached a host.
 * Codes are those of Node's sockets and resolver, and undici's own.
 */
const UNREACHED = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ENETDOWN',
  'UND_ERR_CONNECT_TIMEOUT',
  // The proxy answered, and let nobody through.
  'UND_ERR_ABORTED',
]);

/** What a person is told about the commonest network errors. */
const IN_WORDS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its name could not be resolved',
  EAI_AGAIN: 'its name could not be resolved',
  ECONNREFUSED: 'it refused the connection',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection broke while sending',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: `no connection within ${EXCHANGE.connect / 1000} s`,
  UND_ERR_HEADERS_TIMEOUT: `no answer within ${EXCHANGE.headers / 1000} s`,
  ABORT_ERR: `the answer was not complete within ${EXCHANGE.api / 1000} s`,
  UND_ERR_BODY_TIMEOUT: `the answer stalled for ${EXCHANGE.stall / 1000} s`,
  UND_ERR_SOCKET: 'the connection was closed early',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer was shorter than announced',
};

/**
 * Makes the one door to the network: https only, through the proxy that the environment names
 * (`https_proxy`, `no_proxy`), with a bound on every wait. Redirects are answers like any other.
 */
export function createHttpClient(): SendHttp {
  // Each chunk of a body is garbage at once, and V8 looks for it only when its young generation is full: kept
  // small, that is swept often, and any body takes 50 MB less.
  setFlagsFromString('--scavenger-max-new-space-capacity-mb=1');
  const bounds = { headersTimeout: EXCHANGE.headers, bodyTimeout: EXCHANGE.stall };
  const timeout = EXCHANGE.connect;
  const anywhere = new EnvHttpProxyAgent({ ...bounds, connect: { timeout } });
  const publicOnly = new EnvHttpProxyAgent({ ...bounds, connect: { timeout, lookup: publicLookup() } });
  return async (asked) => {
    if (asked.url.protocol !== 'https:') {
      throw new DeliveryError(
        'NOT_EXTERNAL',
        `${asked.url.host} was to be asked over ${asked.url.protocol}//, not https`,
      );
    }
    try {
      // undici looks at the signal only once it has a connection.
      const answer = await untilAborted(
        asked.signal,
        request(asked.url, {
          method: asked.method,
          headers: { 'user-agent': `${TOOL.name}/${TOOL.version}`, ...asked.headers },
          body: asked.body?.() ?? null,
          signal: asked.signal ?? null,
          dispatcher: asked.publicOnly ? publicOnly : anywhere,
        }),
      );
      return { status: answer.statusCode, headers: answer.headers, body: answer.body };
    } catch (thrown) {
      throw connectionError(thrown, asked);
    }
  };
}

/**
 * A network error as a failure of the delivery. An abort passes through as it is.
 *
 * @see protocol 7 (no network)
 */
export function connectionError(thrown: unknown, asked: Pick<HttpRequest, 'url' | 'signal'>): unknown {
  if (asked.signal?.aborted) return asked.signal.reason;
  if (thrown instanceof DeliveryError) return thrown;
  const code = networkCode(thrown);
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  const reason = IN_WORDS[code] ?? (code === '' || code === 'UND_ERR_ABORTED' ? words : code);
  if (UNREACHED.has(code)) {
    return new DeliveryError('NO_NETWORK', `${asked.url.host} can't be reached: ${reason}`, {
      hint: 'check the network of the job, and its https_proxy and no_proxy variables',
      retryable: true,
      cause: thrown,
    });
  }
  return new DeliveryError('CONNECTION', `the exchange with ${asked.url.host} broke off: ${reason}`, {
    retryable: !isCertificateError(code),
    hint: isCertificateError(code)
      ? "add the proxy's certificate to NODE_EXTRA_CA_CERTS"
      : 'run the step again, or use another channel',
    cause: thrown,
  });
}

/** The error's own code, or that of its first cause (undici wraps, and happy eyeballs bundles). */
function networkCode(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return networkCode(thrown.errors[0]);
  if (!(thrown instanceof Error)) return '';
  // The bound on a whole call; other aborts have passed by.
  if (thrown.name === 'TimeoutError') return 'ABORT_ERR';
  const own = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';
  const inner = thrown.cause === undefined ? '' : networkCode(thrown.cause);
  return inner !== '' && (own === '' || thrown instanceof errors.UndiciError) ? inner : own;
}

const isCertificateError = (code: string): boolean => /CERT|SIGNED|SIGNATURE|ERR_TLS|ERR_SSL/.test(code);
