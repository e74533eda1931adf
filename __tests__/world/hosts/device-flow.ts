import { randomBytes } from 'node:crypto';
import { collectBytes, type HostReply, type HostRequest, replyJson } from '../server/messages.ts';
import { LOGINS, type TokenStore } from '../tokens.ts';

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';

/** The user's actions, one a poll; the last one is repeated. */
export type UserDecision = 'pending' | 'slow_down' | 'grant' | 'refuse' | 'expire';

const REFUSALS = {
  pending: ['authorization_pending', 'The authorization request is still pending.'],
  slow_down: ['slow_down', 'Too many requests have been made.'],
  refuse: ['access_denied', 'The authorization request was denied.'],
  expire: ['expired_token', 'The device_code has expired.'],
} as const;

/** Simulates the two device-flow operations of github.com, and their user. */
export class FakeDeviceFlow {
  /** The answer to each poll: by default one `pending`, then `grant`. */
  script: UserDecision[] = ['pending', 'grant'];
  /** The seconds between polls that the flow requires. */
  interval = 5;
  expiresIn = 899;
  /** Other apps get 404; null accepts every app. */
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

  async handle({ path, host, body }: HostRequest): Promise<HostReply> {
    const form = new URLSearchParams((await collectBytes(body)).toString());
    const id = form.get('client_id') ?? '';
    const isKnown = id !== '' && (this.clientIds?.includes(id) ?? true);
    if (path !== '/login/device/code') return replyJson(200, this.#poll(form, isKnown));
    if (!isKnown) return replyJson(404, { error: 'Not Found' });
    if (!this.disabledClientIds.includes(id)) return replyJson(200, this.#start(host));
    const says = 'Device Flow must be explicitly enabled for this App';
    return replyJson(400, createRefusal('device_flow_disabled', says));
  }

  #start(host: string): object {
    const code = randomBytes(20).toString('hex');
    this.#intervals.set(code, this.interval);
    const half = () => randomBytes(4).toString('latin1').replace(/./gs, toLetter);
    return {
      device_code: code,
      user_code: `${half()}-${half()}`,
      verification_uri: `https://${host}/login/device`,
      expires_in: this.expiresIn,
      interval: this.interval,
    };
  }

  #poll(form: URLSearchParams, isKnown: boolean): object {
    const code = form.get('device_code') ?? '';
    const interval = this.#intervals.get(code);
    if (!isKnown || interval === undefined || form.get('grant_type') !== GRANT_TYPE) {
      return createRefusal('incorrect_device_code', 'The device_code provided is not valid.');
    }
    const [act = 'pending', ...rest] = this.script;
    if (rest.length > 0) this.script = rest;
    if (act !== 'grant') {
      const slower = act === 'slow_down' ? interval + 5 : interval;
      this.#intervals.set(code, slower);
      return {
        ...createRefusal(REFUSALS[act][0], REFUSALS[act][1]),
        ...(slower > interval && { interval: slower }),
      };
    }
    const token = this.#issue.issue({ issues: 'write', deployments: 'write' }, LOGINS.human, 'gho_');
    this.tokens.push(token);
    return { access_token: token, token_type: 'bearer', scope: 'repo' };
  }
}

const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const toLetter = (byte: string): string => LETTERS[byte.charCodeAt(0) % LETTERS.length] ?? '';

function createRefusal(error: string, description: string) {
  return { error, error_description: description, error_uri: 'https://docs.github.com' };
}
