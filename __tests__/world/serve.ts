import { chromiumPath } from '../support/chromium.ts';
import { startWorld, stopOnSignal } from './world.ts';

const world = await startWorld();
const repository = await world.repository({
  owner: 'octo',
  name: 'pages-demo',
  files: { 'README.md': '# Pages demo\n', 'index.html': '<!doctype html>\n<h1>Pages demo</h1>\n' },
});
const token = world.token();
const api = `https://api.github.com/repos/${repository.fullName}`;
const environment = Object.entries({
  ...world.env,
  CHROME_PATH: await chromiumPath(),
  GH_TOKEN: token,
  // Lets npm work in that shell, too.
  NO_PROXY: 'registry.npmjs.org',
});
// Chromium's own sandbox can't run for root.
const options = process.getuid?.() === 0 ? ' --browser-sandbox false' : '';

console.log(`# A local GitHub with the repository ${repository.fullName}. Paste this into another shell:
${environment.map(([name, value]) => `export ${name}=${value}`).join('\n')}

# Then try these commands. Each build takes a moment, so curl retries:
echo '<!doctype html><h1>My first page</h1>' | npx --no node dist/cli.js deliver - --name first.html --repository ${repository.fullName}${options}
curl -sSf --retry 30 --retry-all-errors --retry-delay 1 ${repository.pages.url}
curl -sSf -X PUT -H "Authorization: Bearer $GH_TOKEN" ${api}/contents/hello.html -d "{\\"message\\":\\"ADD hello.html\\",\\"content\\":\\"$(printf '<h1>Hello</h1>' | base64)\\"}"
curl -sSf --retry 30 --retry-all-errors --retry-delay 1 "${repository.pages.url}hello.html?v=1"
git clone https://x-access-token:$GH_TOKEN@github.com/${repository.fullName}.git "$(mktemp -d)/pages-demo"

# That shell now reaches only the local GitHub. Type exit there when you are done.
# Press Ctrl-C here to stop the local GitHub.`);

const stop = stopOnSignal(world, 0);
// npm passes on no signal if it is killed itself.
const { ppid } = process;
setInterval(() => void (process.ppid === ppid || stop()), 500);
