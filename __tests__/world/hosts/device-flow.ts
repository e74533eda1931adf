import { randomBytes, randomInt } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { collectBytes, type HostReply, type HostRequest, replyJson, replyText } from '../server/messages.ts';
import { LOGINS, type TokenStore } from '../tokens.ts';

const ERROR_PAGE =
  'https://docs.github.com/developers/apps/authorizing-oauth-apps#error-codes-for-the-device-flow';
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';

/** What the user does, one entry per poll; the last entry is repeated. */
export type UserDecision = 'pending' | 'slow_down' | 'grant' | 'refuse' | 'expire';

const REFUSALS = {
  pending: ['authorization_pending', 'The authorization request is still pending.'],
  refuse: ['access_denied', 'The authorization request was denied.'],
  expire: ['expired_token', 'The device_code has expired.'],
} as const;

/** Simulates the two device-flow operations of github.com, and their user. */
export class FakeDeviceFlow {
  /** The answer to each poll: by default one `pending`, then `grant`. */
  script: UserDecision[] = ['pending', 'grant'];
  /** The seconds between polls that the flow asks for. */
  interval = 5;
  expiresIn = 899;
  /** Others are unknown apps, which are answered 404; null knows every app. */
  clientIds: string[] | null = null;
  /** Apps that are known, but have the device flow switched off. */
  disabledClientIds: string[] = [];
  readonly tokens: string[] = [];
  readonly #issue: TokenStore;
  /** The issued codes, each with its poll interval. */
  readonly #intervals = new Map<string, number>();

  constructor(tokens: TokenStore) {
    this.#issue = tokens;
  }

  isDeviceFlowRequest({ method, path }: HostRequest): boolean {
    return method === 'POST' && (path === '/login/device/code' || path === '/login/oauth/access_token');
  }

  async handle(request: HostRequest): Promise<HostReply> {
    const form = await readFields(request);
    const { path, host, headers } = request;
    const starts = path === '/login/device/code';
    if (starts && !this.#knows(form)) return replyForm(headers, 404, { error: 'Not Found' });
    if (starts && this.disabledClientIds.includes(form.get('client_id') ?? '')) {
      const disabled = 'Device Flow must be explicitly enabled for this App';
      const error_uri = 'https://docs.github.com';
      const body = { error: 'device_flow_disabled', error_description: disabled, error_uri };
      return replyForm(headers, 400, body);
    }
    return replyForm(headers, 200, starts ? this.#start(host) : this.#poll(form));
  }

  #start(host: string): object {
    const code = randomBytes(20).toString('hex');
    this.#intervals.set(code, this.interval);
    const half = () => Array.from({ length: 4 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
    return {
      device_code: code,
      user_code: `${half()}-${half()}`,
      verification_uri: `https://${host}/login/device`,
      expires_in: this.expiresIn,
      interval: this.interval,
    };
  }

  #poll(form: URLSearchParams): object {
    if (!this.#knows(form))
      return createRefusal('incorrect_client_credentials', 'The client_id is not correct.');
    if (form.get('grant_type') !== GRANT_TYPE) {
      return createRefusal('unsupported_grant_type', 'The grant type is not supported.');
    }
    const code = form.get('device_code') ?? '';
    if (!this.#intervals.has(code)) {
      return createRefusal('incorrect_device_code', 'The device_code provided is not valid.');
    }
    const act = this.#nextAct();
    if (act === 'grant') {
      const token = this.#issue.issue({ issues: 'write', deployments: 'write' }, LOGINS.human, 'gho_');
      this.tokens.push(token);
      return { access_token: token, token_type: 'bearer', scope: 'repo' };
    }
    if (act !== 'slow_down') return createRefusal(REFUSALS[act][0], REFUSALS[act][1]);
    const interval = (this.#intervals.get(code) ?? this.interval) + 5;
    this.#intervals.set(code, interval);
    return { ...createRefusal('slow_down', 'Too many requests have been made.'), interval };
  }

  #nextAct(): UserDecision {
    const [act = 'pending', ...rest] = this.script;
    if (rest.length > 0) this.script = rest;
    return act;
  }

  #knows(form: URLSearchParams): boolean {
    const id = form.get('client_id') ?? '';
    return id !== '' && (this.clientIds === null || this.clientIds.includes(id));
  }
}

/** An answer as JSON where the client accepts it, otherwise as a form. */
function replyForm({ accept = '' }: IncomingHttpHeaders, status: number, answer: object): HostReply {
  if (/json/.test(accept)) return replyJson(status, answer);
  const fields = Object.entries(answer).map(([name, value]): [string, string] => [name, String(value)]);
  return replyText(status, new URLSearchParams(fields).toString(), {
    'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
  });
}

/** Form fields, or the same as a JSON object: the real host takes both. */
async function readFields({ headers, body, query }: HostRequest): Promise<URLSearchParams> {
  const sent = (await collectBytes(body)).toString();
  if (/json/.test(headers['content-type'] ?? '')) return new URLSearchParams(JSON.parse(sent));
  return sent === '' ? query : new URLSearchParams(sent);
}

function createRefusal(error: string, description: string) {
  return { error, error_description: description, error_uri: ERROR_PAGE };
}
