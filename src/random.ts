import { randomInt } from 'node:crypto';

/** An unguessable number in [0, 1): jitter, and names that nobody may guess. */
export const random = (): number => randomInt(2 ** 47) / 2 ** 47;
