import { writeFileSync } from 'node:fs';
import { extractDescription, formatDescription, getExtractPath } from '../__tests__/world/openapi/extract.ts';

/** Writes the part of GitHub's API description that the tests validate against: run after a change of the calls. */
for (const host of ['github.com', 'ghes'] as const) {
  writeFileSync(getExtractPath(host), formatDescription(extractDescription(host)));
}
