import { rmSync } from 'node:fs';

/** Removes folders: `clean.ts FOLDER…`. */
for (const folder of process.argv.slice(2)) rmSync(folder, { recursive: true, force: true });
