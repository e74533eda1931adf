import { NOON } from '../../support/ports.ts';
import type { StoredAsset, StoredRelease } from '../../world/release-store.ts';
import type { TestRepository } from '../../world/repository.ts';

/** An existing asset, by default complete and just uploaded by somebody. */
export type HeldAsset = Partial<StoredAsset> & { readonly name: string };

/** Too old for any job to still work on it. */
export const QUIET = new Date(NOON - 7 * 3_600_000);

export function hold(
  { releaseStore }: TestRepository,
  release: StoredRelease,
  ...held: readonly HeldAsset[]
): void {
  for (const { name, ...more } of held) {
    Object.assign(releaseStore.attach(release, name), { state: 'uploaded', size: 1 }, more);
  }
}
