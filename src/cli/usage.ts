import { TOOL } from '../protocol/words.ts';
import { CLI_COMMANDS, EXIT_CODES, FLAGS, FURTHER_FLAGS, isSwitch } from '../request/commands.ts';
import { INPUTS } from '../request/inputs.ts';
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
    ...Object.entries(FURTHER_FLAGS).map(([flag, description]) => [`  ${flag}`, description] as const),
    ['  -v, --version', `Print the version (${TOOL.version}).`],
  ] as const;
  const width = Math.max(...flags.map(([flag]) => flag.length)) + 2;
  const commands = Object.entries(CLI_COMMANDS).map(
    ([name, { usage: given, description }]) => [`  ${TOOL.name} ${name} ${given}`, description] as const,
  );
  const callWidth = Math.max(...commands.map(([call]) => call.length)) + 2;
  return [
    'Publishes a file, fetches it back from its public address, and prints the https address only if the content is proven.',
    '',
    ...commands.map(([call, description]) => call.padEnd(callWidth) + description),
    '',
    ...flags.map(([flag, description]) => flag.padEnd(width) + description),
    '',
    'Repository: --repository, else GITHUB_REPOSITORY, else the git remote (origin, or the only one) of the files and of the current folder. The log says which one was found, and how.',
    'If it is not certain that all of these are public, the public file-bin is used only with --allow-public-bin or --channel K3.',
    'Files: below the current folder, and no symbolic links; any other file must be named by its absolute path.',
    '',
    `Exit code: ${Object.entries(EXIT_CODES)
      .map(([code, meaning]) => `${code} ${meaning}`)
      .join('; ')}.`,
  ].join('\n');
}
