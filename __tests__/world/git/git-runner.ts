import { type GitCommand, runGit } from './run-git.ts';

// Runs git for a process of tests. Those are large, and a large process starts others slowly.
process.on('message', async (command: GitCommand) => process.send?.(await runGit(command)));
process.on('disconnect', () => process.exit());
