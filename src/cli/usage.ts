import { TOOL } from '../protocol/words.ts';
import {
  ALL_FLAGS,
  CLI_COMMANDS,
  EXIT_CODES,
  flagsOf,
  formatFlagTerm,
  SAME_FLAGS,
} from '../request/commands.ts';
import type { CommandName } from '../request/inputs.ts';

const WIDTH = 80;

type HelpEntry = readonly [term: string, meaning: string];

/** The text of `--help`: all commands, or one command with its flags. */
export function usage(command?: CommandName): string {
  const codes = Object.entries(EXIT_CODES).map(([code, meaning]) => `${code} ${meaning}`);
  return [
    ...(command === undefined ? describeAllCommands() : describeOneCommand(command)),
    '',
    ...wrap(`Exit code: ${codes.join('; ')}.`),
  ].join('\n');
}

const describeAllCommands = (): readonly string[] => [
  ...wrap(
    'Publishes a file, fetches it back from its public URL, and prints the https URL only if the content is verified.',
  ),
  '',
  `Usage: ${TOOL.name} COMMAND [FLAGS]`,
  '',
  ...formatEntries(
    Object.entries(CLI_COMMANDS).map(([name, row]) => [`${name} ${row.usage}`.trim(), row.description]),
  ),
  '',
  ...wrap(`${TOOL.name} COMMAND --help lists the flags of a command. Nearly all accept:`),
  '',
  ...formatEntries(['json', 'report', 'verbose', 'help', 'version'].map((name) => describeFlag(name))),
  '',
  'Examples:',
  '',
  `  ${TOOL.name} deliver page.html --marker "text from the page"`,
  `  ${TOOL.name} deliver dist/ --repository octo/pages --path previews/demo/`,
  `  ${TOOL.name} verify https://example.com/page.html --marker "text from it"`,
];

function describeOneCommand(command: CommandName): readonly string[] {
  const { usage: given, description, explains, notes } = CLI_COMMANDS[command];
  const flags = flagsOf(command).filter((name) => name !== 'version');
  const shown = explains?.split(' ') ?? flags;
  const more = flags.filter((name) => !shown.includes(name)).map((name) => `--${name}`);
  return [
    `Usage: ${`${TOOL.name} ${command} ${given}`.trim()} [FLAGS]`,
    '',
    ...wrap(`${description[0]?.toUpperCase()}${description.slice(1)}.`),
    ...notes.flatMap((note) => ['', ...wrap(note)]),
    '',
    'Flags:',
    '',
    ...formatEntries(shown.map((name) => describeFlag(name, command))),
    ...(more.length === 0 ? [] : ['', ...wrap(describeMore(command, more))]),
  ];
}

const describeMore = (command: CommandName, flags: readonly string[]): string =>
  command === 'deliver' || command === 'mcp'
    ? `More flags: ${flags.join(', ')}. See docs/inputs.md in the repository, or run ${TOOL.name} contract.`
    : `${SAME_FLAGS} See ${TOOL.name} deliver --help.`;

function describeFlag(name: string, command?: CommandName): HelpEntry {
  const { description = '', means, shownDefault, forLink } = ALL_FLAGS[name] ?? {};
  const about = means?.[command ?? 'deliver'] ?? description;
  const shown = command === 'verify' ? forLink : shownDefault;
  return [formatFlagTerm(name), `${about.replaceAll('`', '')}${shown ? ` (${shown})` : ''}`];
}

function formatEntries(entries: readonly HelpEntry[]): readonly string[] {
  const column = Math.max(...entries.map(([term]) => term.length)) + 4;
  return entries.flatMap(([term, meaning]) =>
    wrap(meaning, WIDTH - column).map((line, at) =>
      `${at === 0 ? `  ${term}`.padEnd(column) : ' '.repeat(column)}${line}`.trimEnd(),
    ),
  );
}

const wrap = (text: string, width = WIDTH): readonly string[] =>
  text.match(new RegExp(`\\S.{0,${width - 1}}(?= |$)|\\S+`, 'g')) ?? [];
