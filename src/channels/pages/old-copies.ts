import { DeliveryError } from '../../errors.ts';
import { fetchBack } from '../../http/fetch-back.ts';
import type { Ports } from '../../ports.ts';
import { PROBE_TIME, SECOND } from '../../protocol/limits.ts';
import { refuseMachineAddress } from '../../rules/external-address.ts';

/**
 * SHA-256 of what an address answers before its file is replaced, with and without `?v=`: by these the proof
 * recognizes a cache that still has the old file. An answer that is not complete is left out.
 *
 * @param limit ends the requests, whatever was answered until then; by default each has a limit of its own
 * @see design 5 (K1)
 */
export async function fetchOldCopies(
  url: URL,
  ports: Ports,
  limit?: AbortSignal,
): Promise<readonly string[]> {
  const fresh = new URL(url);
  fresh.searchParams.set('v', `${Math.floor(ports.clock.now() / SECOND)}-before`);
  const copies = new Set<string>();
  for (const one of [fresh, url]) {
    const sha256 = await fetchOldCopy(one, ports, limit ?? ports.clock.timeout(PROBE_TIME.least));
    if (sha256 !== undefined) copies.add(sha256);
  }
  return [...copies];
}

async function fetchOldCopy(url: URL, ports: Ports, limit: AbortSignal): Promise<string | undefined> {
  const signal = AbortSignal.any([ports.signal, limit]);
  const options = { signal, guard: refuseMachineAddress, headSize: 0 };
  try {
    return (await fetchBack(ports.http, url, options, [])).fingerprint?.sha256;
  } catch (thrown) {
    ports.signal.throwIfAborted();
    if (thrown instanceof DeliveryError || signal.aborted) return undefined;
    throw thrown;
  }
}
