import { mapConcurrently } from '../async.ts';
import type { PlacedPart } from '../channels/channel.ts';
import { DeliveryError } from '../errors.ts';
import { type FetchedContent, fetchBack } from '../http/fetch-back.ts';
import { isAbsence } from '../http/response.ts';
import { nameFew } from '../plain-text.ts';
import type { Clock, Ports } from '../ports.ts';
import { SECOND, SITE } from '../protocol/limits.ts';
import { refuseMachineAddress } from '../rules/external-address.ts';
import { createSharedLimits } from './shared-limits.ts';
import { probeTimeFor } from './url-probe.ts';
import type { WaitLimits } from './verify.ts';

/** What the addresses of a site's files must show, and how they are asked. */
export interface PartsCheck {
  /** Whether nothing must be served there any more. */
  readonly gone: boolean;
  /** Whether only public addresses may be connected to. */
  readonly publicOnly: boolean;
  /** The host that showed the entry page: a browser would be at another one after a redirect. */
  readonly host: string | undefined;
}

/** A file that its address does not show, and what it answers instead. */
interface WrongPart {
  readonly part: PlacedPart;
  readonly httpCode: number | null;
  readonly problem: string;
  /** Milliseconds that the host asks to wait. */
  readonly retryAfter: number;
}

/**
 * Fetches every file of a site back and compares its bytes. Whatever is not right yet is asked again until the
 * deadline.
 *
 * @returns how many files were proven
 * @throws {DeliveryError} `NOT_PROVEN` that names the files, the first ten in full.
 * @see design 6
 */
export async function verifyParts(
  parts: readonly PlacedPart[],
  check: PartsCheck,
  { deadline, interval }: Pick<WaitLimits, 'deadline' | 'interval'>,
  ports: Ports,
): Promise<number> {
  const { clock, logger, signal } = ports;
  const fetchPart = createPartFetcher(check, deadline, ports);
  const progress = logger.progress('files fetched back', parts.length, 'files');
  let open = parts;
  try {
    for (;;) {
      const results = await mapConcurrently(open, SITE.probes, async (part) => {
        const isLate = clock.now() > deadline + SITE.overtime;
        const wrong = isLate ? notAsked(part) : await probePart(part, check, { fetchPart, clock });
        if (wrong === null) progress.advance(1);
        return wrong ?? [];
      });
      const wrong = results.flat();
      if (wrong.length === 0) return parts.length;
      const left = deadline - clock.now();
      if (left <= 0) throw wrongPartsError(wrong, parts.length, check);
      logger.info(`${wrong.length} of ${parts.length} files are not there yet: ${describeWrong(wrong)}`);
      open = wrong.map(({ part }) => part);
      const pause = Math.max(interval, ...wrong.map(({ retryAfter }) => retryAfter));
      await clock.sleep(Math.min(pause, left), signal);
    }
  } finally {
    progress.end();
  }
}

/** Of thousands of files, a second each would add up to many minutes. */
const notAsked = (part: PlacedPart): WrongPart => ({
  part,
  httpCode: null,
  problem: 'not asked before the deadline',
  retryAfter: 0,
});

async function probePart(
  part: PlacedPart,
  check: PartsCheck,
  { fetchPart, clock }: { readonly fetchPart: FetchPart; readonly clock: Pick<Clock, 'now'> },
): Promise<WrongPart | null> {
  const url = new URL(part.url);
  url.searchParams.set('v', String(Math.floor(clock.now() / SECOND)));
  const answer = await fetchPart({ ...part, url, readAtMost: part.size + 1 });
  if (typeof answer === 'string') return { part, httpCode: null, problem: answer, retryAfter: 0 };
  const { httpCode, retryAfter = 0 } = answer;
  const problem = check.gone ? describeStillOpen(answer) : describeOther(answer, part, check.host);
  return problem === null ? null : { part, httpCode, problem, retryAfter };
}

/** What is asked of a file's address. */
type AskedPart = Pick<PlacedPart, 'url' | 'size' | 'previousBlob'> & {
  readonly readAtMost: number;
  readonly asBrowser?: boolean;
};

/** What a file's address answers to anybody; as text why there was no complete answer. */
export type FetchPart = (part: AskedPart) => Promise<FetchedContent | string>;

/** Creates what fetches the files of a site, thousands of them, until the deadline. */
export function createPartFetcher(
  { publicOnly }: Pick<PartsCheck, 'publicOnly'>,
  deadline: number,
  { clock, http, signal: stop }: Ports,
): FetchPart {
  const limitTo = createSharedLimits({ clock, signal: stop });
  return async ({ url, size, readAtMost, previousBlob, asBrowser = false }) => {
    const signal = limitTo(Math.min(probeTimeFor(size), Math.max(deadline - clock.now(), SECOND)));
    const reading = { readAtMost, blob: previousBlob, headSize: 0 };
    try {
      const options = { signal, guard: refuseMachineAddress, publicOnly, asBrowser, ...reading };
      return await fetchBack(http, url, options, []);
    } catch (thrown) {
      stop.throwIfAborted();
      if (!(thrown instanceof DeliveryError) && !signal.aborted) throw thrown;
      return thrown instanceof DeliveryError ? thrown.message : 'no complete answer in time';
    }
  };
}

function describeStillOpen({ httpCode, login }: FetchedContent): string | null {
  if (isAbsence(httpCode) && !login) return null;
  return httpCode === 200 ? 'HTTP 200, still served' : `HTTP ${httpCode}`;
}

/** What an answer shows in place of the file; `null` where it shows the file itself. */
export function describeOther(
  { httpCode, fingerprint, hosts, isReplaced }: FetchedContent,
  { sha256 }: Pick<PlacedPart, 'sha256'>,
  host: string | undefined,
): string | null {
  if (httpCode !== 200) return `HTTP ${httpCode}`;
  if (fingerprint?.sha256 !== sha256) return 'HTTP 200 with other bytes';
  const end = hosts.at(-1);
  if (host !== undefined && end !== host) return `leads to ${end}, and not to ${host}`;
  return isReplaced ? 'HTTP 200 that leads a browser to another address' : null;
}

const describeWrong = (wrong: readonly WrongPart[]): string =>
  nameFew(wrong.map(({ part, problem }) => `${part.path} (${problem})`));

function wrongPartsError(
  wrong: readonly WrongPart[],
  total: number,
  { gone }: Pick<PartsCheck, 'gone'>,
): DeliveryError {
  const what = gone ? 'still open' : 'do not show the delivered bytes';
  return new DeliveryError(
    'NOT_PROVEN',
    `${wrong.length} of ${total} files of the site ${what}: ${describeWrong(wrong)}`,
    {
      httpCode: wrong.find(({ httpCode }) => httpCode !== null)?.httpCode ?? undefined,
      hint: 'run the step again: what is committed is only verified',
    },
  );
}
