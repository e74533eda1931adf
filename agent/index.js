// What an agent writes may be somebody else's words: of its inputs only these reach the action. A runner passes
// on inputs that action.yml does not name, so leaving them out there is not enough.
const ALLOWED = ['INPUT_NAME', 'INPUT_CONTENT', 'INPUT_MARKER'];

for (const name of Object.keys(process.env)) {
  if (/^INPUT_/i.test(name) && !ALLOWED.includes(name)) delete process.env[name];
}
// The workflow gives the token to the step, in its environment.
process.env.INPUT_TOKEN = process.env.GITHUB_TOKEN ?? '';
// The page stays in a folder of its own, and replaces only what this action delivered for the same job.
process.env.INPUT_CONFINE = 'agent/';

await import('../dist/index.js');
