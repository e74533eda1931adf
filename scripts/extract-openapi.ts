import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { extractDescription, formatDescription, getExtractPath } from '../__tests__/world/openapi/extract.ts';

/**
 * Writes the part of GitHub's API description that the tests validate against: run after a change of the calls. The
 * package has 400 MB, so it is fetched for this alone.
 */
const SOURCE = '@octokit/openapi@23.0.2';

const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
try {
  const options = { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32' } as const;
  const archive = execFileSync('npm', ['pack', SOURCE, '--silent'], options).trim();
  execFileSync('tar', ['-xzf', archive], options);
  for (const host of ['github.com', 'ghes'] as const) {
    const description = extractDescription(join(folder, 'package', 'generated'), host);
    writeFileSync(getExtractPath(host), formatDescription(description));
  }
} finally {
  rmSync(folder, { recursive: true });
}
