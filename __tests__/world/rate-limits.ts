import type { TestRepository } from './repository.ts';
import { LOGINS } from './tokens.ts';

const HOUR_MS = 3_600_000;
/** Requests an hour: for all jobs' own tokens of a repository together, and for another token's owner. */
const LIMITS = { job: 1000, owner: 5000 };

/** The rate limit that a request counts for. */
export interface CountedRequest {
  /** Null without a token. */
  readonly login: string | null;
  /** `<API host>/<owner>/<name>`; empty if the request concerns no repository. */
  readonly repository: string;
  /** GraphQL is counted separately. */
  readonly resource: 'core' | 'graphql';
}

export interface RateLimitState {
  readonly limit: number;
  used: number;
  /** Milliseconds since 1970. */
  resetAt: number;
}

/** The primary rate limit of the API: who has used how much of it this hour. */
export class RateLimits {
  /** False: requests are counted, but none is refused. */
  enforced = true;
  now = (): number => Date.now();
  readonly #states = new Map<string, RateLimitState>();

  /** The count to which a request belongs. */
  get({ login, repository, resource }: CountedRequest): RateLimitState {
    const kind = login === LOGINS.workflow ? 'job' : 'owner';
    const whose = kind === 'job' ? repository.toLowerCase() : login;
    const key = `${kind} ${whose} ${resource}`;
    const known = this.#states.get(key);
    if (known !== undefined && known.resetAt > this.now()) return known;
    const fresh = { limit: LIMITS[kind], used: 0, resetAt: this.now() + HOUR_MS };
    this.#states.set(key, fresh);
    return fresh;
  }

  /** Counts a request; false: the limit is reached, so refuse the request. */
  take(request: CountedRequest): boolean {
    const state = this.get(request);
    // A job's GraphQL query names its repository only in the body, so all queries share a count here.
    const isShared = request.resource === 'graphql' && request.repository === '';
    if (this.enforced && !isShared && state.used >= state.limit) return false;
    state.used += 1;
    return true;
  }

  /** Lets the jobs of a repository have a number of requests left, as if others had used the rest. */
  setLeft({ fullName, instance }: TestRepository, left: number, secondsToReset = HOUR_MS / 1000): void {
    const repository = `${new URL(instance.api).host}/${fullName}`;
    const state = this.get({ login: LOGINS.workflow, repository, resource: 'core' });
    state.used = state.limit - left;
    state.resetAt = this.now() + secondsToReset * 1000;
  }

  /** Begins a new hour for everybody. */
  clear(): void {
    this.#states.clear();
  }
}

export const RATE_LIMIT_EXCEEDED =
  'API rate limit exceeded for installation. If you reach out to GitHub Support for help, please include the request ID 0400:3D1B:1:2:3.';
