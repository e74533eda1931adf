import { writeFileSync } from 'node:fs';

/**
 * Loaded into the process of a step with `--import`: writes the file that SIGNAL_FILE names once SIGTERM has
 * arrived. The bundle handles the signal in the same turn of the event loop.
 */
process.on('SIGTERM', () => writeFileSync(process.env.SIGNAL_FILE ?? '', ''));
