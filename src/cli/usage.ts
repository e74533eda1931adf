import { TOOL } from '../protocol/words.ts';
import {
  ALL_FLAGS,
  CLI_COMMANDS,
  type CommandName,
  EXIT_CODES,
  flagsOf,
  formatFlagTerm,
  SAME_FLAGS,
  shownDefault,
} from '../request/commands.ts';

/** Columns of the help: those of a usual terminal. */
const WIDTH = 80;

/** A term, and what it means. */
type HelpEntry = readonly [string, string];

/** What `--help` prints: the commands, or one command with its flags. */
export function usage(command?: CommandName): string {
  return command === undefined ? describeAllCommands() : describeOneCommand(command);
}

function describeAllCommands(): string {
  const commands = Object.entries(CLI_COMMANDS).map(
    ([name, { usage: given, description }]): HelpEntry => [`${name} ${given}`.trim(), description],
  );
  return [
    ...wrap(
      'Publishes a file, fetches it back from its public address, and prints the https address only if the content is proven.',
    ),
    '',
    `Usage: ${TOOL.name} COMMAND [FLAGS]`,
    '',
    ...formatEntries(commands),
    '',
    ...wrap(`${TOOL.name} COMMAND --help lists the flags of a command. Nearly all take:`),
    '',
    ...formatEntries(['json', 'quiet', 'help', 'version'].map((name) => describeFlag(name))),
    '',
    'Examples:',
    '',
    `  ${TOOL.name} deliver page.html --marker "a text of the page"`,
    `  ${TOOL.name} deliver dist/ --repository octo/pages --path previews/demo/`,
    `  ${TOOL.name} verify https://example.com/page.html --marker "a text of it"`,
    '',
    ...formatExitCodes(),
  ].join('\n');
}

function describeOneCommand(command: CommandName): string {
  const { usage: given, description } = CLI_COMMANDS[command];
  const flags = flagsOf(command).filter((name) => name !== 'version');
  const shown = MAIN[command] ?? flags;
  const more = flags.filter((name) => !shown.includes(name)).map((name) => `--${name}`);
  return [
    `Usage: ${`${TOOL.name} ${command} ${given}`.trim()} [FLAGS]`,
    '',
    ...wrap(`${description[0]?.toUpperCase()}${description.slice(1)}.`),
    ...NOTES[command].flatMap((note) => ['', ...wrap(note)]),
    '',
    'Flags:',
    '',
    ...formatEntries(shown.map((name) => describeFlag(name, command))),
    '',
    ...(more.length === 0 ? [] : [...wrap(describeMore(command, more)), '']),
    ...formatExitCodes(),
  ].join('\n');
}

const describeMore = (command: CommandName, flags: readonly string[]): string =>
  command === 'deliver' || command === 'mcp'
    ? `More flags, which ${TOOL.name} contract explains: ${flags.join(', ')}.`
    : `${SAME_FLAGS} See ${TOOL.name} deliver --help.`;

/** The flags that the help explains, where a command has many. */
const MAIN: Readonly<Partial<Record<CommandName, readonly string[]>>> = {
  deliver: [
    'path',
    'channel',
    'marker',
    'repository',
    'entry',
    'name',
    'overwrite',
    'screen',
    'setup',
    'dry-run',
    'json',
    'quiet',
    'help',
  ],
  withdraw: ['channel', 'repository', 'path', 'tag', 'bin', 'overwrite', 'dry-run', 'json', 'quiet', 'help'],
  audit: ['channel', 'repository', 'branch', 'path', 'timeout', 'json', 'quiet', 'help'],
  check: ['name', 'entry', 'channel', 'marker', 'json', 'quiet', 'help'],
  mcp: ['root', 'repository', 'channel', 'branch', 'token-env', 'client-id', 'help'],
};

const REPOSITORY =
  'Repository: --repository, else GITHUB_REPOSITORY, else the git remote (origin, or the only one) of the files and of the current folder. The log says which one was found, and how.';

const SOURCES =
  'Files: below the current folder, no symbolic links; others by their absolute path. * ** ? and [...] are understood where the shell has not resolved them.';

const TOKEN =
  'Token: GITHUB_TOKEN or GH_TOKEN of the environment. Without one, the public file-bin is used; if it is not certain that the files are public, only with --allow-public-bin or --channel K3.';

/** What there is to know beside the flags. */
const NOTES: Readonly<Record<CommandName, readonly string[]>> = {
  deliver: [SOURCES, REPOSITORY, TOKEN],
  withdraw: [REPOSITORY],
  audit: [REPOSITORY],
  verify: ['No token is used. Without --marker and --file nothing can be proven.'],
  check: [SOURCES],
  mcp: ['Every flag that is an input holds for all calls, and no call can change it.'],
  contract: [],
};

function describeFlag(name: string, command: CommandName | '' = ''): HelpEntry {
  const description = (ALL_FLAGS[name]?.description ?? '').replaceAll('`', '');
  const usual = shownDefault(name, command === 'verify');
  return [formatFlagTerm(name), `${description}${usual === '' ? '' : ` (${usual})`}`];
}

const formatExitCodes = (): readonly string[] =>
  wrap(
    `Exit code: ${Object.entries(EXIT_CODES)
      .map(([code, meaning]) => `${code} ${meaning}`)
      .join('; ')}.`,
  );

/** Terms in a column, their meanings beside it, no line longer than `WIDTH`. */
function formatEntries(entries: readonly HelpEntry[]): readonly string[] {
  const column = Math.max(...entries.map(([term]) => term.length)) + 4;
  return entries.flatMap(([term, meaning]) =>
    wrap(meaning, WIDTH - column).map((line, at) =>
      `${at === 0 ? `  ${term}`.padEnd(column) : ' '.repeat(column)}${line}`.trimEnd(),
    ),
  );
}

/** Lines of whole words. */
function wrap(text: string, width = WIDTH): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
