import type { HostReply, HostRequest } from './messages.ts';

/** Which requests to answer differently. */
export interface RequestMatch {
  readonly method?: string;
  /** Tested against the whole `https://…` address. */
  readonly url: RegExp | ((address: string) => boolean);
  /** How many requests are answered so; 1 unless told. */
  readonly times?: number;
  /** How many matching requests pass untouched before that. */
  readonly skip?: number;
}

/** An answer that is wholly in memory. */
export interface BufferedReply {
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

/** A rule in force. */
export interface ActiveInterception {
  /** How many requests it has answered. */
  readonly hits: number;
  /** Takes it out of force. */
  remove(): void;
}

interface InterceptionRule {
  readonly match: RequestMatch;
  readonly answer: InterceptedReply;
  seen: number;
  hits: number;
}

/** The rules in force, the newest first. */
export class InterceptionRules {
  #rules: InterceptionRule[] = [];

  add(match: RequestMatch, answer: InterceptedReply): ActiveInterception {
    const rule: InterceptionRule = { match, answer, seen: 0, hits: 0 };
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
  take(request: HostRequest): InterceptedReply | undefined {
    return this.#rules.find((rule) => appliesTo(rule, request))?.answer;
  }
}

function appliesTo(rule: InterceptionRule, request: HostRequest): boolean {
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
export function toHostReply({ status, headers = {}, body = '' }: BufferedReply): HostReply {
  return { status, headers, body };
}
