import { chromiumPath } from '../support/chromium.ts';
import { WITHOUT_BROWSER } from './chromium.ts';
import { startWorld, stopOnSignal } from './world.ts';

const world = await startWorld();
const repository = await world.repository({
  owner: 'octo',
  name: 'pages-demo',
  files: { 'README.md': '# Pages demo\n', 'index.html': '<!doctype html>\n<h1>Pages demo</h1>\n' },
});
const token = world.token();
const api = `https://api.github.com/repos/${repository.fullName}`;
// A person's own browser opens the pages.
const environment = Object.entries({ ...world.env, GH_TOKEN: token }).filter(
  ([name]) => !(name in WITHOUT_BROWSER),
);
// So that npm works in that shell, too.
environment.push(['NO_PROXY', 'registry.npmjs.org']);

console.log(`# A local GitHub with the repository ${repository.fullName}. In another shell:
${environment.map(([name, value]) => `export ${name}=${value}`).join('\n')}

# If this machine has no browser, the one of npm ci can open the pages (for root with --browser-sandbox false):
# export CHROME_PATH=${await chromiumPath()}

# Then, for example (a site needs a moment until it is built, so curl asks again):
echo '<!doctype html><h1>First page</h1>' | npx --no node dist/cli.js deliver - --name first.html --repository ${repository.fullName}
curl -sSf --retry 30 --retry-all-errors --retry-delay 1 ${repository.pages.url}
curl -sSf -X PUT -H "Authorization: Bearer $GH_TOKEN" ${api}/contents/hello.html -d "{\\"message\\":\\"ADD hello.html\\",\\"content\\":\\"$(printf '<h1>Hello</h1>' | base64)\\"}"
curl -sSf --retry 30 --retry-all-errors --retry-delay 1 "${repository.pages.url}hello.html?v=1"
git clone https://x-access-token:$GH_TOKEN@github.com/${repository.fullName}.git "$(mktemp -d)/pages-demo"

# Ctrl-C ends it.`);

const stop = stopOnSignal(world, 0);
// npm passes no signal on when it is killed itself.
const { ppid } = process;
setInterval(() => void (process.ppid === ppid || stop()), 500);
