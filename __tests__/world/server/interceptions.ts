import type { HostRequest } from './messages.ts';

/** Which requests to answer differently. */
export interface RequestMatch {
  readonly method?: string;
  /** Tested against the whole `https://…` address. */
  readonly url: RegExp | ((address: string) => boolean);
  /** How many requests are matched; 1 by default. */
  readonly times?: number;
  /** How many matching requests pass untouched before that. */
  readonly skip?: number;
}

export interface BufferedReply {
  status: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/**
 * The reply in place of the host's own.
 * - a reply: sent instead, the host is not called
 * - `reset-before`: the connection is reset, the host is not called
 * - `reset-midway`: the host is called; headers and half of its body arrive, then the connection is reset
 * - `reset-after`: the host is called, but nothing of its reply arrives
 * - `hang`: the host is not called, and no reply is sent
 * - `short`: the host is called; its reply ends one byte before the announced length
 * - `drip`: the host is called; its reply is sent byte by byte, with a pause after each
 * - `alter`: the host is called, and its reply is changed
 */
export type InterceptedReply =
  | BufferedReply
  | { readonly fault: 'reset-before' | 'reset-midway' | 'reset-after' | 'short' }
  | { readonly fault: 'hang'; readonly meanwhile?: () => Promise<void> }
  | { readonly fault: 'drip'; readonly pause: () => Promise<void> }
  | {
      readonly alter: (
        real: Required<BufferedReply> & { body: Buffer },
        request: HostRequest,
      ) => BufferedReply | Promise<BufferedReply>;
    };

/** The host's own reply, which is sent after something was done. */
export const doMeanwhile = (act: () => unknown): InterceptedReply => ({
  async alter(real) {
    await act();
    return real;
  },
});

export interface ActiveInterception {
  /** How many requests it has answered. */
  readonly hits: number;
  /** Removes it. */
  remove(): void;
}

interface InterceptionRule extends ActiveInterception {
  readonly match: RequestMatch;
  readonly answer: InterceptedReply;
  seen: number;
  hits: number;
}

/** The active rules, the newest first. */
export class InterceptionRules {
  #rules: InterceptionRule[] = [];

  add(match: RequestMatch, answer: InterceptedReply): ActiveInterception {
    const remove = () => {
      this.#rules = this.#rules.filter((other) => other !== rule);
    };
    const rule: InterceptionRule = { match, answer, seen: 0, hits: 0, remove };
    this.#rules.unshift(rule);
    return rule;
  }

  /** The reply for a request, if a rule matches it; counts the hit. */
  take(request: HostRequest): InterceptedReply | undefined {
    return this.#rules.find((rule) => appliesTo(rule, request))?.answer;
  }
}

function appliesTo(rule: InterceptionRule, request: HostRequest): boolean {
  const { method, url, times = 1, skip = 0 } = rule.match;
  if (rule.hits >= times || (method ?? request.method) !== request.method) return false;
  if (typeof url === 'function' ? !url(request.url) : request.url.search(url) === -1) return false;
  rule.seen += 1;
  if (rule.seen > skip) rule.hits += 1;
  return rule.seen > skip;
}
