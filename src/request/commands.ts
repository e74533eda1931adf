import { machineContract } from '../protocol/contract.ts';
import { ERROR_CODES } from '../protocol/error-codes.ts';
import { TOOL } from '../protocol/words.ts';
import { type CommandName, INPUT_NAMES, INPUTS, type InputDefinition, type InputName } from './inputs.ts';

interface CommandDefinition {
  readonly usage: string;
  readonly description: string;
  readonly takes: readonly [min: number, max: number, words: string];
  /** The flags that its help explains. Absent: all. */
  readonly explains?: string;
  readonly notes: readonly string[];
}

const ANY = Number.POSITIVE_INFINITY;

const REPOSITORY =
  'Repository: --repository, otherwise GITHUB_REPOSITORY, otherwise the git remote of the files and of the current folder (origin, or the only remote). The log names the repository and how it was found.';

const SOURCES =
  'Files: below the current folder, no symbolic links; otherwise by absolute path. Globs (* ** ? [...]) work even if the shell has not expanded them.';

const TOKEN =
  'Token: GITHUB_TOKEN or GH_TOKEN in the environment. Without one, a delivery that names no repository, branch or folder goes to the public file-bin. A file that may be private also needs --allow-public-bin or --channel K3.';

/** The commands. The command line, its help and the machine contract are made from this table. */
export const CLI_COMMANDS: Readonly<Record<CommandName, CommandDefinition>> = {
  deliver: {
    usage: 'FILE…|FOLDER|-',
    description:
      'publish files, a folder as one site, or standard input (with --name), and verify what the public URL shows',
    takes: [1, ANY, 'at least one file'],
    explains:
      'path channel marker repository entry name overwrite screen setup dry-run json report verbose help',
    notes: [SOURCES, REPOSITORY, TOKEN],
  },
  withdraw: {
    usage: '[FILE…]',
    description:
      'remove what was delivered under these names, below --path, at --url, or in --bin; with --older-than or --closed only old folders below --path',
    takes: [0, ANY, 'any number of files'],
    explains:
      'channel repository path older-than closed url tag bin overwrite dry-run json report verbose help',
    notes: [REPOSITORY],
  },
  verify: {
    usage: 'URL',
    description:
      'verify a link (needs --marker, or --file with its file or the folder of its site); waits 30 s unless you set --timeout',
    takes: [1, 1, 'exactly one URL'],
    notes: ['verify uses no token. It needs --marker or --file.'],
  },
  audit: {
    usage: '',
    description: 'verify again everything that was delivered to the site and to releases, or below --path',
    takes: [0, 0, 'no files: it finds the deliveries itself'],
    explains: 'channel repository branch path timeout json report verbose help',
    notes: [REPOSITORY],
  },
  list: {
    usage: '',
    description: 'list what was delivered, everywhere or below --path; verifies nothing',
    takes: [0, 0, 'no files: it finds the deliveries itself'],
    explains: 'channel repository branch path html json verbose help',
    notes: [REPOSITORY],
  },
  check: {
    usage: 'FILE…|FOLDER|-',
    description:
      'check files without publishing them; `--self-contained inline` and `--render` still fetch what a page loads',
    takes: [1, ANY, 'at least one file'],
    explains: 'name entry channel marker json report verbose help',
    notes: [SOURCES],
  },
  mcp: {
    usage: '',
    description: 'serve these commands to an agent (MCP on stdin and stdout)',
    takes: [0, 0, 'no files: each call names its own'],
    explains: 'root repository channel branch token-env client-id help',
    notes: ['Flags that set an input apply to every call, and no call can change them.'],
  },
  contract: {
    usage: '',
    description: 'print the machine contract',
    takes: [0, 0, 'no arguments'],
    notes: [],
  },
};

export const findCommandName = (name: string): CommandName | undefined =>
  Object.hasOwn(CLI_COMMANDS, name) ? (name as CommandName) : undefined;

const REPORTING: readonly CommandName[] = ['deliver', 'withdraw', 'audit', 'verify', 'check'];

const ALL = Object.keys(CLI_COMMANDS) as CommandName[];

interface FlagDefinition extends Pick<InputDefinition, 'commands' | 'description' | 'means'> {
  /** The name of its value in the help. Absent: it is a switch, and on if it is given alone. */
  readonly value?: string;
  /** Its default for a delivery and for a link, if the help shows it. */
  readonly shownDefault?: string;
  readonly forLink?: string;
  readonly letter?: string;
}

/** The flags that aren't inputs, and `file`, which is a flag only of `verify`. */
const FURTHER_FLAGS: Readonly<Record<string, FlagDefinition>> = {
  'token-env': {
    commands: INPUTS['client-id'].commands,
    value: 'NAME',
    description: 'Environment variable that contains the token. Default: GITHUB_TOKEN or GH_TOKEN.',
  },
  file: {
    commands: ['verify'],
    value: 'FILE|FOLDER',
    description:
      'verify: the file or folder that the URL must show. Repeat it for several files below the URL.',
  },
  root: {
    commands: ['mcp'],
    value: 'FOLDER',
    description: 'mcp, required: the folder that files must be in. The other flags apply to every call.',
  },
  html: {
    commands: ['list'],
    value: 'FILE',
    description:
      'Write the list to a new file, or over an earlier list: a page that can be delivered to the same site.',
  },
  json: { commands: [...REPORTING, 'list', 'contract'], description: 'Print the result as JSON on stdout.' },
  receipt: {
    commands: REPORTING,
    value: 'FILE',
    description:
      'Write a receipt of what is ready to a new file, or over an earlier receipt. It is an in-toto Statement with the SHA-256 of what each URL returned.',
  },
  report: { commands: REPORTING, description: 'Print the five-line report of the protocol.' },
  verbose: { commands: [...REPORTING, 'list'], description: 'Print a log of each step on stderr.' },
  qr: { commands: REPORTING, description: 'On a terminal, also show the verified URL as a QR code.' },
  help: { commands: ALL, letter: 'h', description: 'Print the commands or, after a command, its flags.' },
  version: { commands: ALL, letter: 'v', description: 'Print the version.' },
};

/** Whether an input is on or off, so that its flag needs no value. */
export const isSwitch = (name: InputName): boolean => INPUTS[name].json === 'boolean';

/** The inputs that are flags of every command that publishes, in their order. */
export const FLAGS = INPUT_NAMES.filter((name) => INPUTS[name].commands.length > 0);

export const ALL_FLAGS: Readonly<Record<string, FlagDefinition>> = {
  ...Object.fromEntries(
    FLAGS.map((name): readonly [string, FlagDefinition] => {
      const { commands, description, means, default: text, forLink = text }: InputDefinition = INPUTS[name];
      const defaults =
        ['', 'false'].includes(text) || text.startsWith('${{') ? {} : { shownDefault: text, forLink };
      return [
        name,
        { commands, description, means, ...(!isSwitch(name) && { value: 'VALUE' }), ...defaults },
      ];
    }),
  ),
  ...FURTHER_FLAGS,
};

export const flagsOf = (command: CommandName): readonly string[] =>
  Object.keys(ALL_FLAGS).filter((name) => ALL_FLAGS[name]?.commands.includes(command));

/** A flag as the help shows it, such as `--path VALUE`, or `--prune[=false]` if it is on by default. */
export function formatFlagTerm(name: string): string {
  const { letter, value, shownDefault } = ALL_FLAGS[name] ?? {};
  const end = value === undefined ? shownDefault === 'true' && '[=false]' : ` ${value}`;
  return `${letter === undefined ? '' : `-${letter}, `}--${name}${end || ''}`;
}

export const EXIT_CODES = {
  0: 'ready, withdrawn, audited, listed or planned',
  1: 'not ready',
  2: 'wrong usage, such as an unknown flag or a wrong value',
} as const;

export const ANSWER_RULE =
  'If `url` is not empty, give it to the human; otherwise give `reason` and `hint`. Never give a URL that is not in `url`.';

export const SAME_FLAGS =
  'It accepts every flag of deliver. Flags that only publishing needs have no effect here.';

/** The fields that an agent needs first; all of them are in the schema. */
const OUTPUT_FIELDS = {
  result:
    '`ready` (verified), `withdrawn`, `audited` (nothing is lost), `listed` (`deliveries`; nothing was verified), `planned` (a dry run or a check: nothing was written) or `not-ready`',
  url: 'the verified https URL, one line per file; empty unless `result` is `ready`',
  reason: 'why there is no URL, or what was withdrawn or audited; empty if `result` is `ready`',
  hint: 'what to change',
  code: 'one of `error_codes`, or null',
  reports:
    'one per file or folder, with `lines` (CLAIM, CODE, TEST, RESULT, UNKNOWN), `gates`, `unknown` (what was not verified) and `notes`',
  deliveries: '`listed` only: what the records say, of each channel the newest first; nothing was verified',
  unlisted: '`listed` only: which deliveries may be missing',
} as const;

/** The machine contract, and how to call this tool: the content of `contract.json`. @see protocol 2.1 */
export function toolContract() {
  const commands = Object.entries(CLI_COMMANDS).map(([name, { usage, description }]) => [
    `${name} ${usage}`.trim(),
    description,
  ]);
  const flags = Object.entries(ALL_FLAGS).map(([name, { description, shownDefault }]) => [
    formatFlagTerm(name),
    shownDefault === undefined ? description : `${description} Default: ${shownDefault}.`,
  ]);
  return {
    ...machineContract(),
    tool: {
      name: TOOL.name,
      version: TOOL.version,
      node: TOOL.node,
      call: `npx --yes ${TOOL.name} <command> --json`,
      first: `npx --yes ${TOOL.name} deliver page.html --marker "text from the page" --json`,
      commands: Object.fromEntries(commands) as Record<string, string>,
      flags_of: {
        'withdraw, audit, list, check': SAME_FLAGS,
        verify: flagsOf('verify').map((name) => `--${name}`),
      },
      flags: Object.fromEntries(flags) as Record<string, string>,
      token:
        'Set GITHUB_TOKEN in the environment, and give --repository. Never put a token on the command line.',
      exit_codes: EXIT_CODES,
      answer: {
        schema: 'report.schema.json',
        rule: ANSWER_RULE,
        streams: 'stdout has only the answer; stderr has the log, and any code that a human must enter',
        fields: OUTPUT_FIELDS,
      },
      error_codes: ERROR_CODES,
    },
  };
}
