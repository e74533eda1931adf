import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromium } from './chromium.ts';
import { createWorldClient } from './client.ts';
import { type ActionResult, type ActionRun, runAction } from './runner.ts';
import { startWorld, stopOnSignal } from './world.ts';

/** Seven deliveries with the real bundle against the local GitHub, as a runner would make them, with their logs. */

interface DemoDelivery {
  readonly title: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string | Buffer>>;
  /** Whether the step must end red. */
  readonly isRefused?: boolean;
  /** Whether the machine has a browser. */
  readonly hasBrowser?: boolean;
  /** Whether it commits nothing, and runs beside the others. */
  readonly isApart?: boolean;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGES = fileURLToPath(new URL('demo-pages/', import.meta.url));
const PICTURE = '.demo/preview.png';
const WIDTH = 110;
const REPORT_LINE = /^(CLAIM|CODE|TEST|UNKNOWN):/;
const SHOWN_OUTPUTS = ['result', 'url', 'picture-url', 'screen', 'sha256'] as const;

const readPage = (path: string): Promise<Buffer> => readFile(join(PAGES, path));

async function readFolder(folder: string): Promise<Record<string, Buffer>> {
  const names = await readdir(join(PAGES, folder));
  const paths = names.map((name) => `${folder}/${name}`);
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await readPage(path)])));
}

const PREVIEW: DemoDelivery = {
  title: 'A folder becomes the preview of a pull request, with a comment and a picture',
  hasBrowser: true,
  inputs: { file: 'preview/', path: 'previews/pr-1/', comment: 'true', picture: 'true' },
  files: await readFolder('preview'),
};

const DEMO_DELIVERIES: readonly DemoDelivery[] = [
  {
    title: 'A page goes to GitHub Pages',
    hasBrowser: true,
    inputs: { file: 'coverage.html', marker: 'Build 7f3a' },
    files: { 'coverage.html': await readPage('coverage.html') },
  },
  PREVIEW,
  {
    title: 'A page stays blank because its script fails: nothing is published',
    hasBrowser: true,
    isApart: true,
    isRefused: true,
    inputs: { file: 'blank.html' },
    files: { 'blank.html': await readPage('blank.html') },
  },
  {
    title: 'A page of 3 MB with a Russian name',
    inputs: { file: 'отчёт.html', path: 'reports/', marker: 'Build 7f3a', screen: 'off' },
    files: {
      'отчёт.html': `${await readPage('coverage.html')}<!-- ${'data '.repeat(600_000)} -->\n`,
    },
  },
  {
    title: 'A download becomes an asset of a release',
    isApart: true,
    inputs: { file: 'build.zip', channel: 'release' },
    files: { 'build.zip': Buffer.alloc(5 * 1_048_576, 'PK compressed bytes ') },
  },
  {
    title: 'Without a token, a file goes to the public file-bin',
    inputs: { file: 'notes.txt', channel: 'filebin', token: '' },
    files: { 'notes.txt': 'Release notes\n' },
  },
  {
    title: 'A link that opens on one machine only is refused',
    isApart: true,
    isRefused: true,
    inputs: { url: 'sandbox:/mnt/data/report.html', channel: 'native', marker: 'Build 7f3a' },
    files: {},
  },
];

const formatBold =
  process.stdout.isTTY && process.env.NO_COLOR === undefined
    ? (text: string) => `\x1b[1m${text}\x1b[0m`
    : String;

/** Breaks a long line between words, and indents the rest. */
function wrap(line: string): string {
  const lines = [''];
  for (const word of line.split(' ')) {
    const last = lines.at(-1) as string;
    if (last !== '' && last.length + word.length >= WIDTH) lines.push(`    ${word}`);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.map((part) => `  ${part}`).join('\n');
}

function formatStep({ inputs }: DemoDelivery): string {
  const lines = Object.entries(inputs).map(([name, value]) => `    ${name}: ${value === '' ? "''" : value}`);
  return ['- uses: ./', '  with:', ...lines].join('\n');
}

/** Formats the log like the runner: groups as headings, no commands. Only the first log has the whole report. */
function formatLog(log: string, hasReport: boolean): string {
  return log
    .split('\n')
    .filter((line) => !/^(::(add-mask|endgroup|debug)::|::(error|notice|warning)\b|$)/.test(line))
    .filter((line) => hasReport || !REPORT_LINE.test(line))
    .map((line) => (line.startsWith('::group::') ? `▸ ${line.slice('::group::'.length)}` : wrap(line)))
    .join('\n');
}

/** The comment as a reader sees it: without its mark, and with its details folded. */
const formatComment = (markdown = ''): string =>
  markdown
    .replace(/<!--.*?-->\s*/, '')
    .replace(/<table>.*<\/table>/, `[the picture in ${PICTURE}]`)
    .replace(/<details>.*<\/details>/s, '▸ Details')
    .replace(/<\/?code>/g, '`');

function printResult(index: number, delivery: DemoDelivery, result: ActionResult): void {
  const outputs = SHOWN_OUTPUTS.filter((name) => name === 'url' || result.outputs[name]).map(
    (name) => `  ${name.padEnd(11)} ${result.outputs[name] || '(empty)'}`,
  );
  const seconds = (result.durationMs / 1000).toFixed(1);
  const heading = `${index + 1} of ${DEMO_DELIVERIES.length} · ${delivery.title}`;
  console.log(`\n${formatBold(heading)}\n\n${formatStep(delivery)}\n`);
  console.log(formatLog(result.stdout, index === 0));
  console.log(`▸ Outputs\n${outputs.join('\n')}\n  exit code ${result.exitCode}, ${seconds} s`);
}

const startedAt = performance.now();
const world = await startWorld();
stopOnSignal(world);
try {
  const repository = await world.repository({ owner: 'octo', name: 'pages-demo', pages: {} });
  const { issues } = repository;
  const number = issues.openPullRequest('Show the tests', 'report');
  const event = { name: 'pull_request', payload: { number, pull_request: issues.pullRequest(number) } };
  const browser = await findChromium();
  const run = (delivery: DemoDelivery): Promise<ActionResult> => {
    const { env, inputs: needed } = delivery.hasBrowser ? browser : { env: {}, inputs: {} };
    const inputs = { ...delivery.inputs, ...needed, 'poll-interval': '0.2' };
    const step: ActionRun = { world, repository, inputs, files: delivery.files, env };
    return runAction(delivery === PREVIEW ? { ...step, event } : step);
  };
  const apart = new Map(
    DEMO_DELIVERIES.flatMap((delivery) => (delivery.isApart ? [[delivery, run(delivery)]] : [])),
  );
  const unexpected: string[] = [];
  let preview: ActionResult | undefined;
  for (const [index, delivery] of DEMO_DELIVERIES.entries()) {
    const result = await (apart.get(delivery) ?? run(delivery));
    printResult(index, delivery, result);
    if (result.outputs.result !== (delivery.isRefused ? 'not-ready' : 'ready'))
      unexpected.push(delivery.title);
    if (delivery === PREVIEW) preview = result;
  }
  console.log(`\n${formatBold(`The comment on pull request #${number}`)}\n`);
  console.log(formatComment(issues.comments(number)[0]?.body));
  const picture = await createWorldClient(world)(`GET ${preview?.outputs['picture-url']}`);
  await mkdir(join(ROOT, '.demo'), { recursive: true });
  await writeFile(join(ROOT, PICTURE), picture.bytes);

  const refused = DEMO_DELIVERIES.filter(({ isRefused }) => isRefused).length;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const ready = DEMO_DELIVERIES.length - refused;
  console.log(
    formatBold(
      unexpected.length === 0
        ? `\nDone in ${seconds} s: ${ready} deliveries are ready, and ${refused} were refused, as intended.`
        : `\nFailed: another result than intended for ${unexpected.map((title) => `"${title}"`).join(', ')}.`,
    ),
  );
  if (unexpected.length > 0) process.exitCode = 1;
} finally {
  await world.stop();
}
