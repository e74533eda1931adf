import { TOOL } from '../protocol/words.ts';
import { INPUTS } from '../request/inputs.ts';
import { FLAGS, isSwitch } from './args.ts';
import { CLI_WORDING } from './terminal.ts';

/** The text that `--help` prints. */
export function usage(): string {
  const inputFlags = FLAGS.map((name) => {
    const { default: value, description } = INPUTS[name];
    const showsDefault = value !== '' && !value.startsWith('${{') && !isSwitch(name);
    return [
      `  --${name}${isSwitch(name) ? '' : ' …'}`,
      `${CLI_WORDING(description).replaceAll('`', '')}${showsDefault ? ` (${value})` : ''}`,
    ] as const;
  });
  const flags = [
    ...inputFlags,
    [
      '  --token-env NAME',
      'Environment variable that contains the token. Default: GITHUB_TOKEN or GH_TOKEN.',
    ],
    ['  --file FILE', 'verify: the file that the URL must show.'],
    ['  --root FOLDER', 'mcp: the folder that files must be in (.). Other flags hold for every call.'],
    ['  --json', 'Print the reports as JSON on stdout.'],
    ['  -h, --help', 'Print this help.'],
    ['  -v, --version', `Print the version (${TOOL.version}).`],
  ] as const;
  const width = Math.max(...flags.map(([flag]) => flag.length)) + 2;
  return [
    'Publishes a file, fetches it back from its public address, and prints the https address only if the content is proven.',
    '',
    `  ${TOOL.name} deliver FILE…    deliver one or more files`,
    `  ${TOOL.name} withdraw [FILE…] remove what was delivered under these names, or below --path`,
    `  ${TOOL.name} verify URL       verify a link from your environment (needs --marker or --file)`,
    `  ${TOOL.name} check FILE…      check files without publishing them`,
    `  ${TOOL.name} mcp              serve these commands to an agent (MCP on stdin and stdout)`,
    `  ${TOOL.name} contract         print the machine contract`,
    '',
    ...flags.map(([flag, description]) => flag.padEnd(width) + description),
    '',
    'Repository: --repository, else GITHUB_REPOSITORY, else the git remote (origin, or the only one) of the files and of the current folder. The log says which one was found, and how.',
    'If it is not certain that all of these are public, the public file-bin is used only with --allow-public-bin or --channel K3.',
    'Files: below the current folder, and no symbolic links; any other file must be named by its absolute path.',
    '',
    'Exit code: 0 ready, 1 not ready, 2 wrong usage.',
  ].join('\n');
}
