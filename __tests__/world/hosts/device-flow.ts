import { randomBytes, randomInt } from 'node:crypto';
import { collect, type Incoming, json, type Reply, text } from '../front/http.ts';
import { PEOPLE, type Tokens } from '../tokens.ts';

const ERROR_PAGE =
  'https://docs.github.com/developers/apps/authorizing-oauth-apps#error-codes-for-the-device-flow';
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';

/** What the human in front of the code does, one entry a poll; the last one is repeated. */
export type HumanAct = 'pending' | 'slow_down' | 'grant' | 'refuse' | 'expire';

/** The script of the device flow's human, and what the flow handed out. */
export interface DeviceHuman {
  /** What each poll meets: by default, one `pending`, then `grant`. */
  script: HumanAct[];
  /** The seconds between polls that the flow asks for. */
  interval: number;
  expiresIn: number;
  /** Apps without the device flow, or unknown ones, are refused; null knows every app. */
  clientIds: string[] | null;
  readonly tokens: readonly string[];
}

/** Plays the two device-flow operations of github.com. */
export class DeviceFlow implements DeviceHuman {
  script: HumanAct[] = ['pending', 'grant'];
  interval = 5;
  expiresIn = 899;
  clientIds: string[] | null = null;
  readonly tokens: string[] = [];
  readonly #issue: Tokens;
  /** The codes handed out, and the pause that each one's poller must keep. */
  readonly #intervals = new Map<string, number>();

  constructor(tokens: Tokens) {
    this.#issue = tokens;
  }

  owns({ method, path }: Incoming): boolean {
    return method === 'POST' && (path === '/login/device/code' || path === '/login/oauth/access_token');
  }

  async handle(request: Incoming): Promise<Reply> {
    const form = await fields(request);
    const answer = request.path === '/login/device/code' ? this.#start(form, request.host) : this.#poll(form);
    if (/json/.test(request.headers.accept ?? '')) return json(200, answer);
    const plain = new URLSearchParams(
      Object.entries(answer).map(([name, value]): [string, string] => [name, String(value)]),
    );
    return text(200, plain.toString(), {
      'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
    });
  }

  #start(form: URLSearchParams, host: string): object {
    if (!this.#knows(form)) return refusal('incorrect_client_credentials', 'The client_id is not correct.');
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
    if (!this.#knows(form)) return refusal('incorrect_client_credentials', 'The client_id is not correct.');
    if (form.get('grant_type') !== GRANT_TYPE) {
      return refusal('unsupported_grant_type', 'The grant type is not supported.');
    }
    const code = form.get('device_code') ?? '';
    if (!this.#intervals.has(code)) {
      return refusal('incorrect_device_code', 'The device_code provided is not valid.');
    }
    return this.#meet(this.#nextAct(), code);
  }

  #meet(act: HumanAct, code: string): object {
    switch (act) {
      case 'pending':
        return refusal('authorization_pending', 'The authorization request is still pending.');
      case 'slow_down': {
        const interval = (this.#intervals.get(code) ?? this.interval) + 5;
        this.#intervals.set(code, interval);
        return { ...refusal('slow_down', 'Too many requests have been made.'), interval };
      }
      case 'refuse':
        return refusal('access_denied', 'The authorization request was denied.');
      case 'expire':
        return refusal('expired_token', 'The device_code has expired.');
      case 'grant': {
        const token = this.#issue.issue({ issues: 'write', deployments: 'write' }, PEOPLE.human, 'gho_');
        this.tokens.push(token);
        return { access_token: token, token_type: 'bearer', scope: 'repo' };
      }
    }
  }

  #nextAct(): HumanAct {
    const [act = 'pending', ...rest] = this.script;
    if (rest.length > 0) this.script = rest;
    return act;
  }

  #knows(form: URLSearchParams): boolean {
    const id = form.get('client_id') ?? '';
    return id !== '' && (this.clientIds === null || this.clientIds.includes(id));
  }
}

/** Form fields, or the same as a JSON object: the real host takes both. */
async function fields({ headers, body, query }: Incoming): Promise<URLSearchParams> {
  const sent = (await collect(body)).toString();
  if (/json/.test(headers['content-type'] ?? '')) return new URLSearchParams(JSON.parse(sent));
  return sent === '' ? query : new URLSearchParams(sent);
}

function refusal(error: string, description: string) {
  return { error, error_description: description, error_uri: ERROR_PAGE };
}
