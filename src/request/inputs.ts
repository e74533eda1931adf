import {
  BUILD_WAIT,
  MAX_TIMEOUT,
  MIN_POLL_INTERVAL,
  MIN_TIMEOUT,
  VERIFY_DEADLINE,
} from '../protocol/limits.ts';
import type { ChannelKey } from '../protocol/words.ts';
import { type InputKind, OFF, ON, oneOf, optional, required, seconds } from './input-kinds.ts';
import { type Operation, PARSERS, type ScreenMode } from './values.ts';

export type ToolName = 'deliver' | 'verify' | 'check' | 'withdraw' | 'audit';

export type CommandName = ToolName | 'mcp' | 'contract';

/** What is delivered instead of a file: a text, or what a pipe brings. */
export type GivenContent = string | AsyncIterable<Uint8Array>;

interface InputUse {
  /** The channels that it is for; absent: any. */
  readonly channels?: readonly ChannelKey[];
  readonly isForFolders?: boolean;
  /** The commands that take it as a flag: those that publish, unless it says another; `every` is `verify` too. */
  readonly flag?: 'none' | 'every';
  /** The tools that take it as an argument; absent: none. What widens what a call may reach or do is a server's flag. */
  readonly tools?: readonly ToolName[];
  /** The argument's own name, text, and what each of its values means, where these are not the input's. */
  readonly argument?: {
    readonly name: string;
    readonly description: string;
    readonly values: Readonly<Record<string, string>>;
  };
  /** What it means for a command and its tool, or, under `mcp`, for all tools, where that is not what a workflow means. */
  readonly means?: Readonly<Partial<Record<CommandName, string>>>;
  /** The runner's variable with the default. */
  readonly env?: string;
  /** The default where no runner sets that. */
  readonly elsewhere?: string;
  /** The default for a link, which needs no build: it answers soon, or not at all. */
  readonly forLink?: string;
  /** `false` where it is never published or printed, or holds no free text. */
  readonly isSearched?: boolean;
}

export interface InputDefinition<Value = unknown> extends InputKind<Value>, InputUse {
  readonly description: string;
}

const input = <Value>(
  kind: InputKind<Value>,
  description: string,
  use: InputUse = {},
): InputDefinition<Value> => ({ ...kind, description, ...use });

const K1: InputUse = { channels: ['K1'] };
const FOLDER: InputUse = { ...K1, isForFolders: true };
const ACCOUNT: InputUse = { channels: ['K1', 'K2'] };

const FILE_TOOLS: readonly ToolName[] = ['deliver', 'verify', 'check', 'withdraw'];

/** Every input: from these rows come action.yml, documents, flags, tools, contract, and the type of a request. */
export const INPUTS = {
  file: input(
    required('', PARSERS.lines),
    'Path of the file to deliver, relative to the workspace; several lines or globs deliver several; a folder is delivered as one site (K1). A line that begins with `!` leaves out what it names, also from folders and named files. A delivery needs it, unless `content` or `url` is given; `operation: audit` and `withdraw` need none.',
    {
      flag: 'none',
      tools: FILE_TOOLS,
      means: {
        mcp: 'File or folder (one site) below the root of the server; a line for each. No patterns, nothing hidden.',
        withdraw: 'The file that was delivered, to compare with; the file-bin needs it.',
      },
    },
  ),
  content: input(
    required<GivenContent | undefined>('', PARSERS.content),
    'Text to deliver instead of a file; needs `name`. A runner passes about 100 KB at most: write more than that to a file.',
    {
      flag: 'none',
      tools: FILE_TOOLS,
      means: { mcp: 'Text in place of a file; needs `name`.' },
      // As a file, with its lines.
      isSearched: false,
    },
  ),
  name: input(optional(PARSERS.fileName), 'The file name that the given text gets, such as `page.html`.', {
    tools: FILE_TOOLS,
    means: { mcp: 'The file name of `content`, such as `page.html`.' },
  }),
  entry: input(required('index.html', PARSERS.page), 'For a folder: the page whose address is handed over.', {
    channels: ['K1', 'K4'],
    isForFolders: true,
    flag: 'every',
    tools: ['deliver', 'verify', 'check'],
  }),
  prune: input(
    ON,
    'Of a folder: remove files of an earlier delivery that are no longer part of it, in the same commit. Files of others stay.',
    FOLDER,
  ),
  keep: input(
    optional(PARSERS.count, 'number'),
    'Folders only. How many deliveries of this workflow to keep in the parent folder, counting this one, such as `20`; older ones are removed in the same commit. Deliveries of other workflows count only with `overwrite: true`.',
    FOLDER,
  ),
  nojekyll: input(
    OFF,
    'Of a folder: commit an empty `.nojekyll` to the root of the Pages site where there is none, so that Jekyll leaves out and changes nothing.',
    FOLDER,
  ),
  setup: input(
    OFF,
    "K1: create the branch where it does not exist, without the history of others, and switch Pages on for it where there is no site. The job's own token may not switch Pages on: then the message names the two clicks.",
    K1,
  ),
  channel: input(
    required('auto', PARSERS.channels),
    '`auto`, `K1` or `pages`, `K2` or `release`, `K3` or `filebin`, `K4` or `native`; or a list such as `K1+K3`: the first is the main one, the others are duplicates. `auto` goes by a named tag (K2), bin (K3) or link (K4), else K1 for what a browser shows and K2 for other files; without a token K3.',
    {
      tools: ['deliver', 'check'],
      argument: {
        name: 'as',
        description: 'What people get; `auto` goes by the type of the file.',
        values: { auto: 'auto', page: 'K1', download: 'K2' },
      },
      means: {
        withdraw:
          '`auto`, `K1` or `pages`, `K2` or `release`, `K3` or `filebin`; or a list such as `K1+K3`. `auto` goes by a named tag (K2) or bin (K3), else K2 for names of files that no browser shows, and K1.',
        audit:
          '`auto`, `K1` or `pages`, `K2` or `release`, or `K1+K2`. `auto` is K2 for a named tag, K1 for a path, else both.',
      },
    },
  ),
  marker: input(
    optional(PARSERS.marker),
    'Text that must be in the file and in what is fetched back. Without it the fetched bytes must equal the file.',
    {
      flag: 'every',
      tools: ['deliver', 'verify', 'check'],
      means: {
        mcp: 'Text that it must have, also when it is fetched back. By default all bytes are compared.',
      },
    },
  ),
  token: input(
    { ...optional(PARSERS.token), default: '${{ github.token }}' },
    "Token for K1 and K2. It is sent to the API, to the upload host, and to the repository's git address only.",
    { ...ACCOUNT, flag: 'none', isSearched: false },
  ),
  'client-id': input(
    optional(PARSERS.clientId),
    "OAuth app for the device flow, used when there is no token: a person enters a short code on the host's own page.",
    ACCOUNT,
  ),
  repository: input(
    { ...optional(PARSERS.repository), default: '${{ github.repository }}' },
    '`<owner>/<repo>`, which has the site and the releases.',
    { ...ACCOUNT, env: 'GITHUB_REPOSITORY' },
  ),
  branch: input(
    optional(PARSERS.gitName),
    'K1: the branch to commit to, or to audit. By default the branch that the site is built from, else `main`. Of a site that GitHub Actions deploys: the branch that holds all of it, and is deployed after the commit; without one, what goes to the path `./` is the whole site, and nothing is committed.',
    K1,
  ),
  confine: input(
    optional(PARSERS.folder),
    'K1, for a page whose `name` and `content` an agent chose: the only folder of the site that it may go to, such as `agent/`. Takes pages (`.html`) without front matter, and replaces only what the same job delivered in this way. The action in `agent/` sets it.',
    { flag: 'none' },
  ),
  'site-workflow': input(
    optional(PARSERS.workflow),
    "K1: file name of the workflow that builds the site, to start after the commit; needs the permission `actions: write`. Without it, an action with the job's own token deploys such a site itself.",
    K1,
  ),
  path: input(
    optional(PARSERS.path),
    "K1: path in the repository, or a folder ending in `/`, in which several files keep their layout. K2 and K3: the name of the asset or of the file in the bin. By default the file's name; on K1 in the folder that the site is built from.",
    {
      tools: ['deliver', 'check', 'audit'],
      means: {
        mcp: 'Path on the site, a folder ending in `/`, or the name of a download. By default a place of its own.',
        withdraw:
          'K1: the path that was delivered to, or a folder ending in `/`: everything that was delivered below it. K2 and K3: the name of the asset or of the file in the bin.',
        audit:
          'The path that was delivered to, a folder ending in `/` for all below it, or the name of an asset.',
      },
    },
  ),
  message: input(
    required('', PARSERS.line),
    'Essence of the commit message `ADD/UPDATE <name>: <essence>`. By default where the file came from.',
    K1,
  ),
  tag: input(
    optional(PARSERS.gitName),
    'K2: tag of the release. A new tag is made at the commit of the run, or, without a run, at the head of the default branch. By default `files-<YYYYMMDD>` (UTC), with a number after it where that release is immutable.',
    {
      channels: ['K2'],
      means: {
        withdraw:
          'K2: tag of the release that has it. By default those of today and yesterday (UTC) are searched.',
      },
    },
  ),
  bin: input(
    optional(PARSERS.bin),
    'K3: name of the bin, the first folder of its addresses. By default `sv<unix_timestamp>` and a random ending.',
    { channels: ['K3'] },
  ),
  url: input(
    optional(PARSERS.link),
    'K4: a link that exists already, to check and prove; with a folder in `file`, the site that must hold every file of it. Of a withdrawal: the address that was handed over, with or without its `?v=`.',
    {
      channels: ['K4'],
      tools: ['verify', 'withdraw'],
      means: {
        verify: 'The link to prove.',
        withdraw: 'The address that was handed over: what was delivered there is removed.',
      },
    },
  ),
  operation: input(
    oneOf<Operation>('deliver', 'withdraw', 'audit'),
    '`deliver`, or `withdraw`: removes what was delivered to the same path; `path: folder/` removes everything delivered below that folder; or `audit`: proves again everything that was delivered to the site and to releases, or below `path`.',
    { flag: 'none' },
  ),
  issue: input(
    OFF,
    'For an audit: open one issue if something is lost, and close it when everything that it names is verified again; needs `permissions: { issues: write }`.',
    { flag: 'none' },
  ),
  overwrite: input(
    OFF,
    'Replace, or withdraw, what this tool did not deliver, and an asset or bin file with other bytes.',
  ),
  'on-failure': input(
    oneOf('keep', 'restore'),
    'K1: what becomes of a file or folder that is committed and then not proven: `keep` leaves it; `restore` puts back, by a new commit, what this tool delivered there before, if nobody wrote to the branch since. It passes over deliveries of runs that were cancelled. The step fails all the same.',
    K1,
  ),
  'self-contained': input(
    oneOf('auto', 'enforce', 'warn', 'off'),
    'What to do with a page for the screen (K1) that loads something from another host: `enforce` refuses it, `warn` reports it in UNKNOWN, `off` says nothing; `auto` is `enforce` for a single page and `warn` for a folder. A style sheet or script of its own that is missing is always refused, but for one with `async`, which UNKNOWN names.',
    {
      ...K1,
      tools: ['deliver', 'check'],
      argument: {
        name: 'other_hosts',
        description: 'For a page that loads from other hosts; a single page is refused by default.',
        values: { refuse: 'enforce', allow: 'warn' },
      },
    },
  ),
  screen: input(
    oneOf<ScreenMode>('auto', 'enforce', 'off'),
    'Open the proven page (K1) in a real browser: `auto` refuses one that shows nothing, `enforce` refuses exceptions, failed requests and console errors too, needs a browser, and opens a link (K4) as well, `off` does not look.',
    { channels: ['K1', 'K4'], flag: 'every' },
  ),
  'browser-sandbox': input(
    ON,
    '`false` starts the browser without its own sandbox, for a container that runs as root; only for pages that you trust.',
    { flag: 'every' },
  ),
  picture: input(
    OFF,
    'Deliver a picture of the page (K1) in the same commit; the action shows it in its summary and comment.',
    { ...K1, tools: ['deliver'], means: { mcp: 'Deliver a picture of the page, too.' } },
  ),
  'allow-secret': input(
    required('', PARSERS.fingerprints),
    'Fingerprints, as printed in the error, of findings that are known to be harmless.',
    { flag: 'every', isSearched: false },
  ),
  'allow-public-bin': input(
    OFF,
    "Allows `auto` to put a private repository's file on the public file-bin (K3).",
  ),
  comment: input(
    OFF,
    'Keep one comment with the proven link on the pull request; needs `permissions: { pull-requests: write }`.',
    { flag: 'none' },
  ),
  environment: input(
    optional(PARSERS.environment),
    'Name of a GitHub environment, such as `preview`: a deployment with the proven link, so that the pull request has its "View deployment" button; needs `permissions: { deployments: write }`.',
    { flag: 'none' },
  ),
  'dry-run': input(
    OFF,
    'Make all checks and show the plan; nothing is written, and the result is `planned`.',
  ),
  'fail-on-not-ready': input(
    ON,
    'Whether a delivery that is not ready fails the step. The run of a fork, whose token may only read, warns instead.',
    { flag: 'none' },
  ),
  timeout: input(
    seconds(MIN_TIMEOUT, VERIFY_DEADLINE, MAX_TIMEOUT),
    'Seconds for build and verification together, or for an audit to ask again, at most 1800. The report says where more than the 240 of the protocol were allowed.',
    {
      flag: 'every',
      tools: ['deliver', 'verify', 'withdraw', 'audit'],
      means: { mcp: 'Seconds, at most those of the server.' },
      forLink: '30',
    },
  ),
  'poll-interval': input(
    seconds(MIN_POLL_INTERVAL, BUILD_WAIT.interval, VERIFY_DEADLINE),
    'Seconds between polls; decimals are allowed.',
    { flag: 'every' },
  ),
  'api-url': input(required('${{ github.api_url }}', PARSERS.host), 'Address of the hosting API.', {
    env: 'GITHUB_API_URL',
    elsewhere: 'https://api.github.com',
  }),
  'auth-url': input(
    required('${{ github.server_url }}', PARSERS.host),
    "Address of the host's web pages, of the same instance as the API.",
    { env: 'GITHUB_SERVER_URL', elsewhere: 'https://github.com' },
  ),
  'pages-base': input(
    optional(PARSERS.publicHost),
    "K1: address of the site's root. By default from the Pages settings.",
    K1,
  ),
  'raw-base': input(
    optional(PARSERS.publicHost),
    "K1: address below which the branch's raw files are served. By default the one of the host.",
    K1,
  ),
  'bin-host-url': input(required('https://filebin.net', PARSERS.publicHost), 'K3: address of the file-bin.', {
    // A link may be one of that host.
    channels: ['K3', 'K4'],
    flag: 'every',
  }),
};

export type InputName = keyof typeof INPUTS;

export const INPUT_NAMES = Object.keys(INPUTS) as InputName[];

/** The inputs as the user wrote them; empty if not set. */
export type RawInputs = Readonly<Record<InputName, string>>;

type PropertyName<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<PropertyName<Rest>>}`
  : Name;

/** Each input as a value, by itself. @throws {DeliveryError} `BAD_INPUT`, or `NOT_EXTERNAL` for an address */
export function parseInputs(raw: RawInputs) {
  const values = INPUT_NAMES.map((name) => [
    name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
    INPUTS[name].parse(raw[name], name),
  ]);
  return Object.fromEntries(values) as {
    readonly [Name in InputName as PropertyName<Name>]: ReturnType<(typeof INPUTS)[Name]['parse']>;
  };
}

/** The inputs that were given, with the defaults of the others; an expression without a variable is empty. */
export function completeInputs(given: Partial<RawInputs>, env: NodeJS.ProcessEnv, isLink = false): RawInputs {
  const usual = ({ default: text, env: variable = '', elsewhere, forLink }: InputDefinition): string =>
    (isLink && forLink) || env[variable] || (elsewhere ?? text.replace(/^\$\{\{.*/, ''));
  const texts = INPUT_NAMES.map((name) => [name, given[name] ?? usual(INPUTS[name])]);
  return Object.fromEntries(texts) as RawInputs;
}

export const OUTPUTS = {
  url: 'The proven https address, one line for each file; empty unless the result is ready. It ends with `?v=` while a cache still shows an earlier version without it.',
  report: 'The report: CLAIM, CODE, TEST, RESULT, UNKNOWN.',
  'report-json':
    'The same as JSON, with `result`, `url`, `reason`, `hint` and `reports`; its schema is `report.schema.json`.',
  result: '`ready`, `withdrawn`, `audited` (nothing is lost), `planned` (a dry run) or `not-ready`.',
  channel: 'The channel that was used, such as `K1`; one line for each file, like all outputs below.',
  'raw-url': 'K1: the proven raw address; empty when it could not be verified.',
  'duplicate-url': 'The proven addresses of the duplicates, one per line.',
  'commit-sha': 'K1: the commit that contains the file.',
  sha256: 'SHA-256 of the file, lowercase hex; of a folder that of its entry page.',
  size: 'Size in bytes; of a folder that of all its files.',
  files: 'How many files were delivered, those of folders included.',
  screen:
    '`shown`, `not-shown` or `not-checked`: what a browser saw of the page; empty where none was to look.',
  receipt:
    'Path of the receipt, an in-toto Statement: the proven addresses with the SHA-256 of what they answered; empty unless the result is ready.',
  'picture-url': 'The proven address of the picture of the page; empty unless `picture: true`.',
} as const;

export type OutputName = keyof typeof OUTPUTS;
