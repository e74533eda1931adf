import { TOOL } from '../protocol/words.ts';
import { INPUTS } from '../request/inputs.ts';
import { FLAGS, isSwitch } from './args.ts';

/** What `--help` prints. */
export function usage(): string {
  const flags = FLAGS.map((name) => {
    const { default: value, description } = INPUTS[name];
    const shown = value === '' || value.startsWith('${{') || isSwitch(name) ? '' : ` (${value})`;
    return [
      `  --${name}${isSwitch(name) ? '' : ' …'}`,
      `${description.replaceAll('`', '')}${shown}`,
    ] as const;
  });
  const own = [
    ['  --token-env NAME', 'Environment variable that holds the token. By default GITHUB_TOKEN or GH_TOKEN.'],
    ['  --file FILE', 'verify: the file that the URL must show.'],
    ['  --json', 'Print the report as JSON on stdout, and nothing else there.'],
    ['  -h, --help', 'This text.'],
    ['  -v, --version', `The version, ${TOOL.version}.`],
  ] as const;
  const width = Math.max(...[...flags, ...own].map(([flag]) => flag.length)) + 2;
  return [
    'Publishes a file, fetches it back, and hands over the https address only when it is proven.',
    '',
    `  ${TOOL.name} deliver FILE…    deliver the files, all of them together`,
    `  ${TOOL.name} withdraw [FILE…] take away what was delivered under these names, or below --path`,
    `  ${TOOL.name} verify URL       prove a link that the environment gave (needs --marker or --file)`,
    `  ${TOOL.name} check FILE…      look at the files, publish nothing`,
    `  ${TOOL.name} contract         print the machine contract`,
    '',
    ...[...flags, ...own].map(([flag, meaning]) => flag.padEnd(width) + meaning),
    '',
    'Exit code: 0 ready, 1 not ready, 2 wrong usage.',
  ].join('\n');
}
