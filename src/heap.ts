import { setFlagsFromString } from 'node:v8';

/**
 * Each chunk of a body becomes garbage immediately. V8 would let its young generation grow to 134 MB before it collects
 * them. These two settings take effect in a process that runs already; the one of the size itself does not. Together
 * they save about 5 MB more than each does alone.
 */
export function keepYoungHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--scavenger-max-new-space-capacity-mb=1');
}

/**
 * Each of the thousands of requests for a site becomes garbage soon. V8 would let its old generation grow to several
 * times what is in use. Not for a single file: a large one would need 30 MB more.
 */
export function keepOldHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=20');
}
