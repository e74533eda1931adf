import { writeFileSync } from 'node:fs';

/**
 * Loaded into a step with `--import`: writes the file SIGNAL_FILE at SIGTERM, in the turn in which the bundle gets it.
 */
process.on('SIGTERM', () => writeFileSync(process.env.SIGNAL_FILE ?? '', ''));
