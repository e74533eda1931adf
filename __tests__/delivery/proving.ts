import { newAttempt } from '../../src/delivery/delivery.ts';
import { proveAttempts } from '../../src/delivery/publish-through-channel.ts';
import { localFile } from '../support/files.ts';
import { FakeHttp, fakePorts, NOON, type Scripted, type Seen } from '../support/ports.ts';
import {
  type AskHost,
  INTERVAL,
  type PlacementParts,
  placementWith,
  RAW,
  TIMEOUT,
  taskWith,
} from './builders.ts';

export const BYTES = '<p>It works</p>\n<p>really</p>\n';
export const MARKER = 'It works';
export const FILE: Scripted = { body: BYTES };
export const NOT_FOUND: Scripted = { status: 404 };

/** One request for an address. */
export interface Asked extends Seen {
  /** Below the site of `PAGE`. */
  readonly path: string;
  readonly isFresh: boolean;
  readonly isBrowser: boolean;
  /** How often this address was asked in this way, with or without `?v=`, this time included. */
  readonly nth: number;
  /** Since the proof began. */
  readonly seconds: number;
}

/** What a host answers; the file where a test does not say. */
export type Answer = (asked: Asked, ports: ReturnType<typeof fakePorts>) => Scripted | Error | undefined;

/** A host, what it was asked, and the ports that reach it. */
export function openHost(answer: Answer | Scripted | Error) {
  const asked: Asked[] = [];
  const { http } = new FakeHttp((seen) => {
    const { pathname, searchParams } = new URL(seen.url);
    const path = pathname.replace('/site/', '');
    const isFresh = searchParams.has('v');
    const one = {
      ...seen,
      path,
      isFresh,
      isBrowser: seen.headers['user-agent']?.startsWith('Mozilla/5.0 ') ?? false,
      nth: asked.filter((other) => other.path === path && other.isFresh === isFresh).length + 1,
      seconds: (ports.clock.now() - NOON) / 1_000,
    };
    asked.push(one);
    return (typeof answer === 'function' ? answer(one, ports) : answer) ?? FILE;
  });
  const ports = fakePorts(http);
  return { asked, ports };
}

export const isRaw = ({ url }: Seen): boolean => url === RAW.href;

export interface Expected {
  readonly marker?: string;
  readonly gone?: boolean;
  readonly timeout?: number;
  /** Asks the host, where it is waited for. */
  readonly progress?: AskHost | undefined;
}

/** Proves a file at `PAGE`, as K1 places it where a test does not say otherwise. */
export async function prove(
  answer: Answer | Scripted | Error,
  more: PlacementParts = {},
  { marker = MARKER, gone = false, timeout = TIMEOUT, progress }: Expected = {},
) {
  const { asked, ports } = openHost(answer);
  const expected = gone ? ({ is: 'gone' } as const) : { file: await localFile(BYTES) };
  const placement = placementWith({ others: [], ...more, expect: { ...expected, ...more.expect } });
  const attempt = {
    ...newAttempt(taskWith(), marker || undefined),
    ...{ mustBeGone: gone, placement },
  };
  const limits = { interval: INTERVAL, timeout };
  const [proven = attempt] = await proveAttempts(
    [attempt],
    limits,
    ports,
    progress && { watch: () => ({ ask: progress }) },
  );
  return { ...proven, asked, ports, elapsed: ports.clock.now() - NOON };
}
