import { INPUTS, type InputName } from './inputs.ts';

/** A command of the command line. */
export interface CommandDefinition {
  /** Its arguments, without flags. */
  readonly usage: string;
  readonly description: string;
  /** How many arguments it takes, and that in words. */
  readonly min: number;
  readonly max: number;
  readonly takes: string;
}

const ANY = Number.POSITIVE_INFINITY;

/** The commands. The command line, its help and the machine contract are made from this table. */
export const CLI_COMMANDS = {
  deliver: {
    usage: 'FILE…|FOLDER|-',
    description:
      'publish files, a folder as one site, or standard input (with --name), and prove that the address shows them',
    min: 1,
    max: ANY,
    takes: 'at least one file',
  },
  withdraw: {
    usage: '[FILE…]',
    description: 'remove what was delivered under these names, below --path, or in --bin',
    min: 0,
    max: ANY,
    takes: 'any number of files',
  },
  verify: {
    usage: 'URL',
    description:
      'prove a link from your environment (needs --marker or --file); waits 30 s unless --timeout says more',
    min: 1,
    max: 1,
    takes: 'exactly one URL',
  },
  check: {
    usage: 'FILE…|FOLDER|-',
    description: 'check files without publishing them, and without asking any host',
    min: 1,
    max: ANY,
    takes: 'at least one file',
  },
  mcp: {
    usage: '',
    description: 'serve these commands to an agent (MCP on stdin and stdout)',
    min: 0,
    max: 0,
    takes: 'no files: each call names its own',
  },
  contract: {
    usage: '',
    description: 'print the machine contract',
    min: 0,
    max: 0,
    takes: 'no arguments',
  },
} as const satisfies Record<string, CommandDefinition>;

export type CommandName = keyof typeof CLI_COMMANDS;

/** Inputs that are not flags: a token would be visible in the process list, the others have no use here. */
const NOT_FLAGS: readonly InputName[] = [
  ...(['token', 'fail-on-not-ready', 'file', 'content', 'operation', 'comment', 'confine'] as const),
];

/** The inputs that can be given as flags, in their order. */
export const FLAGS = (Object.keys(INPUTS) as InputName[]).filter((name) => !NOT_FLAGS.includes(name));

/** Whether an input is off unless it is set, so that its flag has no value. */
export const isSwitch = (name: InputName): boolean => INPUTS[name].default === 'false';

/** The inputs that matter to a link, which is published by its environment. */
const LINK_FLAGS: readonly InputName[] = [
  ...(['marker', 'screen', 'browser-sandbox', 'allow-secret', 'timeout'] as const),
  ...(['poll-interval', 'bin-host-url'] as const),
];

const OUTPUT_FLAGS = ['json', 'quiet', 'qr'] as const;

/**
 * The flags of each command, in the order of its help. `check` and `withdraw` take all flags of `deliver`, so that
 * a call can be repeated with another command; those that only publishing needs change nothing there.
 */
export const COMMAND_FLAGS: Readonly<Record<CommandName, readonly string[]>> = {
  deliver: [...FLAGS, 'token-env', ...OUTPUT_FLAGS],
  withdraw: [...FLAGS, 'token-env', ...OUTPUT_FLAGS],
  verify: ['file', ...LINK_FLAGS, ...OUTPUT_FLAGS],
  check: [...FLAGS, 'token-env', ...OUTPUT_FLAGS],
  mcp: [...FLAGS, 'token-env', 'root'],
  contract: ['json'],
};

/** The flags that every command takes. */
export const COMMON_FLAGS = ['help', 'version'] as const;

/** Flags that are no inputs, with their meaning. */
export const FURTHER_FLAGS = {
  '--token-env NAME': 'Environment variable that contains the token. Default: GITHUB_TOKEN or GH_TOKEN.',
  '--file FILE': 'verify: the file that the URL must show.',
  '--root FOLDER': 'mcp: the folder that files must be in (.). Other flags hold for every call.',
  '--json': 'Print the result as JSON on stdout (report.schema.json).',
  '-q, --quiet': 'Print no log, only warnings and the code to enter for an authorization.',
  '--qr': 'On a terminal, show the proven address as a QR code, too.',
  '-h, --help': 'Print the commands; after a command, its flags.',
  '-v, --version': 'Print the version.',
} as const;

/** What the exit codes of the command line mean. */
export const EXIT_CODES = {
  0: 'ready, withdrawn or planned',
  1: 'not ready',
  2: 'wrong usage, such as an unknown flag or a wrong value',
} as const;
