import { DeliveryError, type ErrorCode, type ErrorDetails, toDeliveryError } from '../../src/errors.ts';
import type { GitHubClient, Json } from '../../src/github/api/client.ts';
import { API, type CallTemplate } from '../../src/protocol/calls.ts';

export type CallName = keyof typeof API;

/** A call as the scripted API saw it. */
export interface Called {
  readonly name: CallName;
  readonly parameters: Json;
  /** `false` where the client may send it again by itself. */
  readonly once: boolean;
}

type Decide = (parameters: Json, nth: number) => unknown;

/**
 * The repository's API as a table: by call, a value to answer with, an Error to throw, or a function of
 * the parameters and of how often this call was made, which gives either.
 */
export class FakeGitHub implements GitHubClient {
  readonly owner: string = 'octo';
  readonly repo: string = 'site';
  readonly apiUrl = new URL('https://api.github.com');
  readonly token = 'ghs_0123456789abcdef';
  /** Writes beside the calls that took their turn. */
  paced = 0;
  readonly pace: GitHubClient['pace'] = (write) => {
    this.paced += 1;
    return write();
  };
  /** Every call, under whatever signal. */
  calls: Called[] = [];
  readonly #answers: Readonly<Partial<Record<CallName, unknown>>>;
  #signal: AbortSignal | undefined;

  constructor(answers: Readonly<Partial<Record<CallName, unknown>>> = {}) {
    this.#answers = answers;
  }

  call<T = Json>(call: CallTemplate, parameters: Json = {}): Promise<T> {
    return this.#answer<T>(call, parameters, false);
  }

  callOnce<T = Json>(call: CallTemplate, parameters: Json = {}): Promise<T> {
    return this.#answer<T>(call, parameters, true);
  }

  /** The same script and the same notes; once the signal aborts, its calls fail as the client's do. */
  withSignal(signal: AbortSignal): FakeGitHub {
    const other = new FakeGitHub(this.#answers);
    other.calls = this.calls;
    other.#signal = signal;
    return other;
  }

  /** The parameters of every call of that name. */
  sent(name: CallName): Json[] {
    return this.calls.filter((called) => called.name === name).map(({ parameters }) => parameters);
  }

  /** The calls' names, in order. */
  get names(): CallName[] {
    return this.calls.map(({ name }) => name);
  }

  async #answer<T>(call: CallTemplate, parameters: Json, once: boolean): Promise<T> {
    const name = nameOf(call);
    if (this.#signal?.aborted) throw toDeliveryError(this.#signal.reason);
    this.calls.push({ name, parameters, once });
    if (!(name in this.#answers)) throw new Error(`nothing answers ${name}`);
    const answer = this.#answers[name];
    const given =
      typeof answer === 'function' ? (answer as Decide)(parameters, this.sent(name).length) : answer;
    if (given instanceof Error) throw given;
    return given as T;
  }
}

function nameOf(call: CallTemplate): CallName {
  const found = Object.entries(API).find(([, one]) => one === call);
  if (found === undefined) throw new Error(`${call.description} is no call of the API`);
  return found[0] as CallName;
}

/** A failure as the client throws it. */
export function failure(code: ErrorCode, httpCode?: number, details: ErrorDetails = {}): DeliveryError {
  return new DeliveryError(code, `the host said ${httpCode ?? code}`, { httpCode, ...details });
}

export const absent = failure('NOT_FOUND', 404);
