import { rmSync } from 'node:fs';

/** Removes the folders it is given. */
for (const folder of process.argv.slice(2)) rmSync(folder, { recursive: true, force: true });
