import { execFileSync } from 'node:child_process';

/** Fails if the committed files differ from what the sources build, including untracked files. */
const built = ['dist', 'action.yml', 'contract.json', 'report.schema.json', 'README.md'];
const changed = execFileSync('git', ['status', '--porcelain', '--untracked-files=all', '--', ...built], {
  encoding: 'utf8',
});
if (changed !== '') {
  console.error(
    `These files are not what the sources build; run \`npm run build\` and commit them:\n${changed}`,
  );
  process.exitCode = 1;
}
