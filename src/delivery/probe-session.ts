import type { Ports } from '../ports.ts';
import { MEGABYTE, PROBE_TIME, SECOND } from '../protocol/limits.ts';
import type { ExpectedContent } from './match-content.ts';

/** What the probes of one placement share. */
export interface ProbeSession {
  /** Milliseconds since the epoch at which a request in progress is canceled. */
  readonly deadline: number;
  /** A new value for `?v=`, the time and digits that nobody else has: a cache keeps the answer to each. */
  readonly nextStamp: () => string;
  /** Why the addresses may open only inside this network; empty where nothing says so. */
  internalReason: string;
  publicOnly: boolean;
}

export function newProbeSession(deadline: number, ports: Ports): ProbeSession {
  const { clock, random } = ports;
  const own = String(Math.floor(random() * 1e8)).padStart(8, '0');
  let asked = 0;
  const nextStamp = (): string => {
    asked += 1;
    return `${Math.floor(clock.now() / SECOND)}${own}${asked}`;
  };
  return { deadline, nextStamp, internalReason: '', publicOnly: true };
}

/** Milliseconds that one request may take: a very slow answer must leave time for another request. */
export function maxProbeTime({ file, gone }: ExpectedContent): number {
  // The size of a link's content is not known.
  if (file === null) return gone ? PROBE_TIME.least : Number.POSITIVE_INFINITY;
  return probeTimeFor(file.size);
}

/** Milliseconds that one request for so many bytes may take. */
const probeTimeFor = (size: number): number => PROBE_TIME.least + (size / MEGABYTE) * PROBE_TIME.perMegabyte;
