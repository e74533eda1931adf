import { execFileSync } from 'node:child_process';

/** Fails when what the sources build is not what is committed; files that git doesn't track yet count too. */
const made = ['dist', 'action.yml', 'contract.json', 'README.md'];
const changed = execFileSync('git', ['status', '--porcelain', '--untracked-files=all', '--', ...made], {
  encoding: 'utf8',
});
if (changed !== '') {
  console.error(
    `These files are not what the sources build; run \`npm run build\` and commit them:\n${changed}`,
  );
  process.exitCode = 1;
}
