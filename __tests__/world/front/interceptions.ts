import type { Incoming, Reply } from './http.ts';

/** Which requests to answer differently. */
export interface Match {
  readonly method?: string;
  /** Tested against the whole `https://…` address. */
  readonly url: RegExp | ((address: string) => boolean);
  /** How many requests are answered so; 1 unless told. */
  readonly times?: number;
  /** How many matching requests pass untouched before that. */
  readonly skip?: number;
}

/** An answer that is wholly in memory. */
export interface Answered {
  status: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/**
 * What happens instead of the host's own answer.
 * - an answer: sent in its place, the host is not asked
 * - `reset-before`: the connection dies, the host is not asked
 * - `reset-midway`: the host is asked; headers and half of its body arrive, then the connection dies
 * - `reset-after`: the host did its work, but nothing of its answer arrives
 * - `hang`: the host is not asked, and silence follows
 * - `short`: the host is asked; its answer ends a byte before the length that it announces
 * - `drip`: the host is asked; its answer comes byte by byte, with a pause after each
 * - `alter`: the host is asked, its answer altered
 */
export type Answer =
  | Answered
  | { readonly fault: 'reset-before' | 'reset-midway' | 'reset-after' | 'short' }
  | { readonly fault: 'hang'; readonly meanwhile?: () => Promise<void> }
  | { readonly fault: 'drip'; readonly pause: () => Promise<void> }
  | {
      readonly alter: (
        real: Required<Answered> & { body: Buffer },
        request: Incoming,
      ) => Answered | Promise<Answered>;
    };

/** A rule in force. */
export interface Interception {
  /** How many requests it has answered. */
  readonly hits: number;
  /** Takes it out of force. */
  remove(): void;
}

interface Rule {
  readonly match: Match;
  readonly answer: Answer;
  seen: number;
  hits: number;
}

/** The rules in force, the newest first. */
export class Interceptions {
  #rules: Rule[] = [];

  add(match: Match, answer: Answer): Interception {
    const rule: Rule = { match, answer, seen: 0, hits: 0 };
    this.#rules.unshift(rule);
    return {
      get hits() {
        return rule.hits;
      },
      remove: () => {
        this.#rules = this.#rules.filter((other) => other !== rule);
      },
    };
  }

  /** The answer for a request, if a rule wants it; counts. */
  take(request: Incoming): Answer | undefined {
    return this.#rules.find((rule) => claims(rule, request))?.answer;
  }
}

function claims(rule: Rule, request: Incoming): boolean {
  const { method, url, times = 1, skip = 0 } = rule.match;
  if (rule.hits >= times) return false;
  if (method !== undefined && method !== request.method) return false;
  if (typeof url === 'function' ? !url(request.url) : request.url.search(url) === -1) return false;
  rule.seen += 1;
  if (rule.seen <= skip) return false;
  rule.hits += 1;
  return true;
}

/** A reply in memory as a reply of a host. */
export function asReply({ status, headers = {}, body = '' }: Answered): Reply {
  return { status, headers, body };
}
