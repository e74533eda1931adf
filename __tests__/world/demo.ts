import { findChromium } from './chromium.ts';
import { type ActionResult, runAction } from './runner.ts';
import { startWorld, stopOnSignal } from './world.ts';

/** Seven deliveries with the real bundle against the local GitHub, as a runner would make them, with all they print. */

interface DemoDelivery {
  readonly title: string;
  /** Whether the machine has a browser. */
  readonly hasBrowser?: boolean;
  /** Whether it commits nothing, and runs beside the others. */
  readonly isApart?: boolean;
  readonly inputs: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string | Buffer>>;
}

const createDemoPage = (title: string, body = ''): string =>
  `<!doctype html>\n<meta charset="utf-8">\n<title>${title}</title>\n<h1>${title}</h1>\n<p>build-7f3a</p>\n${body}`;

const DEMO_DELIVERIES: readonly DemoDelivery[] = [
  {
    title: 'A page on the screen: K1, GitHub Pages',
    hasBrowser: true,
    inputs: { file: 'report.html', channel: 'K1', marker: 'build-7f3a' },
    files: { 'report.html': createDemoPage('Nightly report') },
  },
  {
    title: 'A page that a real browser shows, with its picture',
    hasBrowser: true,
    inputs: { file: 'chart.html', channel: 'K1', marker: 'build-7f3a', picture: 'true' },
    files: {
      'chart.html': createDemoPage(
        'Test results',
        '<svg width="300" height="100"><rect width="240" height="60" fill="teal"/></svg>\n',
      ),
    },
  },
  {
    title: 'A page that stays blank, because its script throws: refused before anything is written',
    hasBrowser: true,
    isApart: true,
    inputs: { file: 'app.html', channel: 'K1' },
    files: {
      'app.html':
        '<!doctype html>\n<title>App</title>\n<div id="app"></div>\n<script>render(configuration)</script>\n',
    },
  },
  {
    title: 'A page of 3 MB: K1 by the object API',
    inputs: {
      file: 'отчёт.html',
      channel: 'K1',
      path: 'reports/',
      marker: 'build-7f3a',
      screen: 'off',
    },
    files: { 'отчёт.html': createDemoPage('Отчёт', '<!-- '.padEnd(3 * 1_048_576, 'data ')) },
  },
  {
    title: 'A download: K2, a release asset',
    isApart: true,
    inputs: { file: 'build.zip', channel: 'K2' },
    files: { 'build.zip': Buffer.alloc(5 * 1_048_576, 'PK compressed bytes ') },
  },
  {
    title: 'No token at all: K3, the anonymous file-bin',
    inputs: { file: 'notes.txt', channel: 'K3', token: '' },
    files: { 'notes.txt': 'Release notes\n' },
  },
  {
    title: "A sandbox's own link: K4, honestly refused",
    isApart: true,
    inputs: { url: 'sandbox:/mnt/data/report.html', channel: 'K4', marker: 'build-7f3a' },
    files: {},
  },
];

const formatBold =
  process.stdout.isTTY && process.env.NO_COLOR === undefined
    ? (text: string) => `\x1b[1m${text}\x1b[0m`
    : String;

function formatStep({ inputs }: DemoDelivery): string {
  const lines = Object.entries(inputs).map(([name, value]) => `    ${name}: ${value === '' ? "''" : value}`);
  return ['- uses: ./', '  with:', ...lines].join('\n');
}

/** Formats the log like the runner: groups as headings, no commands. */
function formatLog(log: string): string {
  return log
    .split('\n')
    .filter((line) => !/^::(add-mask|endgroup|error|debug)::/.test(line) && line !== '')
    .map((line) => (line.startsWith('::group::') ? `▸ ${line.slice('::group::'.length)}` : `  ${line}`))
    .join('\n');
}

function printResult(number: number, scene: DemoDelivery, result: ActionResult): void {
  const outputs = ['result', 'url', 'raw-url', 'picture-url', 'screen', 'sha256'].map(
    (name) => `  ${name.padEnd(11)} ${result.outputs[name] || '–'}`,
  );
  const seconds = (result.durationMs / 1000).toFixed(1);
  console.log(
    `\n${formatBold(`${number} of ${DEMO_DELIVERIES.length} · ${scene.title}`)}\n\n${formatStep(scene)}\n`,
  );
  console.log(formatLog(result.stdout));
  console.log(`▸ Outputs\n${outputs.join('\n')}\n  exit code ${result.exitCode}, ${seconds} s`);
}

const startedAt = performance.now();
const world = await startWorld();
stopOnSignal(world);
try {
  const repository = await world.repository({ owner: 'octo', name: 'pages-demo', pages: {} });
  const browser = await findChromium();
  const run = (scene: DemoDelivery): Promise<ActionResult> => {
    const { env, inputs: needed } = scene.hasBrowser ? browser : { env: {}, inputs: {} };
    const inputs = { ...scene.inputs, ...needed, 'poll-interval': '0.2' };
    return runAction({ world, repository, inputs, files: scene.files, env });
  };
  const apart = new Map(DEMO_DELIVERIES.flatMap((scene) => (scene.isApart ? [[scene, run(scene)]] : [])));
  const results: ActionResult[] = [];
  for (const scene of DEMO_DELIVERIES) {
    const result = await (apart.get(scene) ?? run(scene));
    results.push(result);
    printResult(results.length, scene, result);
  }
  const ready = results.filter(({ outputs }) => outputs.result === 'ready').length;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`\n${formatBold('The job summary of the last step')}\n\n${results.at(-1)?.summary}`);
  const refused = results.length - ready;
  console.log(
    formatBold(`${ready} ready (ГОТОВО), ${refused} not ready (НЕ ГОТОВО), as meant; ${seconds} s in all.`),
  );
  // Five deliveries and two apart are expected.
  if (ready !== 5 || results.at(-1)?.outputs.result !== 'not-ready') process.exitCode = 1;
} finally {
  await world.stop();
}
