import { BUILD_WAIT, SECOND, VERIFY_DEADLINE } from '../protocol/limits.ts';
import type { ChannelKey } from '../protocol/words.ts';
import { type InputKind, OFF, ON, oneOf, optional, required, seconds } from './input-kinds.ts';
import { PARSERS } from './values.ts';

/** What to do: publish a file, remove what was published, or verify it again. */
export type Operation = 'deliver' | 'withdraw' | 'audit';

export type ScreenMode = 'auto' | 'enforce' | 'off';

export type ToolName = 'deliver' | 'verify' | 'withdraw' | 'audit' | 'list';

export type CommandName = ToolName | 'check' | 'mcp' | 'contract';

/** What is delivered instead of a file: a text, or what a pipe brings. */
export type GivenContent = string | AsyncIterable<Uint8Array>;

interface InputUse {
  /** The channels that it is for; absent: any. */
  readonly channels?: readonly ChannelKey[];
  readonly isForFolders?: boolean;
  /** The commands that take it as a flag. Absent: those that publish. */
  readonly commands?: readonly CommandName[];
  /** The tools that take it as an argument; absent: none. Only a flag of the server may widen what a call can do. */
  readonly tools?: readonly ToolName[];
  /** The argument's own name, text and values, if they differ from the input's. */
  readonly argument?: {
    readonly name: string;
    readonly description: string;
    readonly values: Readonly<Record<string, string>>;
  };
  /** Its text for a command and its tool, or for all tools under `mcp`, if it differs from a workflow's. */
  readonly means?: Readonly<Partial<Record<CommandName, string>>> | undefined;
  /** The runner's variable with the default. */
  readonly env?: string;
  /** The default outside of a runner. */
  readonly elsewhere?: string;
  /** The default for a link. A link needs no build: it answers soon, or not at all. */
  readonly forLink?: string;
  /** `false` if it is never published or printed, or can't hold free text. */
  readonly isSearched?: boolean;
}

export interface InputDefinition<Value = unknown> extends InputKind<Value>, InputUse {
  readonly description: string;
  readonly commands: readonly CommandName[];
}

const input = <Value>(
  kind: InputKind<Value>,
  description: string,
  use: InputUse = {},
): InputDefinition<Value> => ({ ...kind, description, commands: PUBLISHING, ...use });

/** `deliver`, and the commands that take all of its flags, so that a call can be repeated with them. */
const PUBLISHING: readonly CommandName[] = ['deliver', 'withdraw', 'audit', 'list', 'check', 'mcp'];
const EVERY: readonly CommandName[] = [...PUBLISHING, 'verify'];

const K1: InputUse = { channels: ['K1'] };
const FOLDER: InputUse = { ...K1, isForFolders: true };
const SWEEP: InputUse = { ...FOLDER, commands: ['withdraw'] };
const ACCOUNT: InputUse = { channels: ['K1', 'K2'] };

const FILE_TOOLS: readonly ToolName[] = ['deliver', 'verify'];

/** Every input. action.yml, documents, flags, tools, contract, and the type of a request come from these rows. */
export const INPUTS = {
  file: input(
    required('', PARSERS.lines),
    'Path of the file or folder to deliver, relative to the workspace: one path or glob per line. A folder is delivered as one site (K1). A line that begins with `!` excludes files, also from folders and from named files. A delivery needs `file`, `content` or `url`; `operation: audit` and `withdraw` need none of them.',
    {
      commands: [],
      tools: FILE_TOOLS,
      means: {
        mcp: "One file or folder (one site) below the server's root. No globs, no hidden files.",
      },
    },
  ),
  content: input(
    required<GivenContent | undefined>('', PARSERS.content),
    'Text to deliver instead of a file. Needs `name`. A runner passes about 100 KB at most, so write a longer text to a file.',
    {
      commands: [],
      tools: FILE_TOOLS,
      means: { mcp: 'Text instead of a file. Needs `name`.' },
      // As a file, with its lines.
      isSearched: false,
    },
  ),
  name: input(optional(PARSERS.fileName), 'File name for the given text, such as `page.html`.', {
    tools: FILE_TOOLS,
    means: { mcp: 'File name for `content`, such as `page.html`.' },
  }),
  entry: input(required('index.html', PARSERS.page), 'Folders only. The page whose URL you get.', {
    channels: ['K1', 'K4'],
    isForFolders: true,
    commands: EVERY,
    tools: FILE_TOOLS,
  }),
  prune: input(
    ON,
    "Folders only. Remove the files of an earlier delivery that the folder no longer has, in the same commit. Files that this tool didn't deliver stay.",
    FOLDER,
  ),
  keep: input(
    optional(PARSERS.count, 'number'),
    'Folders only. How many deliveries of this workflow to keep in the parent folder, counting this one, such as `20`. Older deliveries are removed in the same commit. Deliveries of other workflows count only with `overwrite: true`.',
    FOLDER,
  ),
  compare: input(
    optional(PARSERS.siteFolder),
    'Folders only. A folder of the same site, such as `./`. The comment, the summary and the report list the pages whose visible text differs from it, with links.',
    FOLDER,
  ),
  nojekyll: input(
    OFF,
    "K1 only. Commit an empty `.nojekyll` to the root of the Pages site if there is none, so that Jekyll doesn't skip or modify any file.",
    K1,
  ),
  setup: input(
    OFF,
    "K1 only. Create the branch, with a history of its own, and switch Pages on for it, if they are missing. The job's own token may not switch Pages on, so the message names the two clicks.",
    K1,
  ),
  channel: input(
    required('auto', PARSERS.channels),
    '`auto`, `K1` or `pages`, `K2` or `release`, `K3` or `filebin`, `K4` or `native` (a link). In a list such as `K1+K3`, the first channel is the main one; later channels get duplicates. `auto` takes a tag (K2), bin (K3) or link (K4) that you set. Otherwise it uses K1 for files that a browser shows and K2 for other files, or K3 without a token.',
    {
      tools: ['deliver'],
      argument: {
        name: 'as',
        description: 'What people get. `page` and `auto` show Markdown, data, logs and notebooks as a page.',
        values: { auto: 'auto', page: 'K1', download: 'K2' },
      },
      means: {
        withdraw:
          '`auto`, `K1` or `pages`, `K2` or `release`, `K3` or `filebin`, or a list such as `K1+K3`. `auto` follows a given tag (K2) or bin (K3). Otherwise it uses K2 for files that no browser shows, and K1.',
        audit:
          '`auto`, `K1` or `pages`, `K2` or `release`, or `K1+K2`. `auto` uses K2 for a given tag, K1 for a given path, otherwise both.',
      },
    },
  ),
  marker: input(
    optional(PARSERS.marker),
    'Text that the file and the fetched page must both contain. A given file must match in all bytes too, unless the site builds the page.',
    {
      commands: EVERY,
      tools: FILE_TOOLS,
      means: {
        mcp: 'Text that it must contain, also when fetched back. The bytes of a file are compared too.',
      },
    },
  ),
  token: input(
    { ...optional(PARSERS.token), default: '${{ github.token }}' },
    "Token for K1 and K2. It is sent only to GitHub's API, GitHub's upload host, and the repository's git URL.",
    { ...ACCOUNT, commands: [], isSearched: false },
  ),
  'client-id': input(
    optional(PARSERS.clientId),
    'Client ID of the OAuth app for the device flow, which is used if there is no token. A person then enters a short code on GitHub.',
    ACCOUNT,
  ),
  repository: input(
    { ...optional(PARSERS.repository), default: '${{ github.repository }}' },
    '`<owner>/<repo>` that has the site and the releases.',
    { ...ACCOUNT, env: 'GITHUB_REPOSITORY' },
  ),
  branch: input(
    optional(PARSERS.gitName),
    'K1 only. The branch to commit to, or to audit. Default: the branch that the site is built from, otherwise `main`. If GitHub Actions deploys the site: the branch that holds the whole site and is deployed after each commit. Without `branch` and `site-workflow`, nothing is committed, and each deployment keeps other deliveries.',
    K1,
  ),
  confine: input(
    optional(PARSERS.folder),
    'K1 only, for a page whose `name` and `content` an agent chose. The only folder of the site that the page may go to, such as `agent/`. Accepts pages (`.html`) without front matter, and replaces only what the same job delivered this way. The action in `agent/` sets it.',
    { commands: [] },
  ),
  'site-workflow': input(
    optional(PARSERS.workflow),
    "K1 only. File name of the workflow that builds the site, to start it after the commit. Needs the permission `actions: write`. Without `site-workflow`, an action with the job's own token deploys such a site itself.",
    K1,
  ),
  path: input(
    optional(PARSERS.path),
    "K1: path in the repository, or a folder ending in `/`, in which several files keep their layout. K2 and K3: name of the asset or of the file in the bin. Default: the file's name (K1: in the folder that the site is built from).",
    {
      tools: ['deliver', 'audit', 'list'],
      means: {
        mcp: 'Path on the site, a folder ending in `/`, or the name of a download; a file of the root goes below `agent/`. Default: a path of its own.',
        withdraw:
          'K1: the path of the delivery, or a folder ending in `/` for everything that was delivered below it. K2 and K3: name of the asset or of the file in the bin.',
        audit:
          'Path of the delivery, a folder ending in `/` for everything that was delivered below it, or the name of an asset.',
        list: 'A folder ending in `/`. Default: everything.',
      },
    },
  ),
  message: input(
    required('', PARSERS.line),
    'K1 only. Text for `<essence>` in the commit message `ADD/UPDATE <name>: <essence>`. Default: where the file came from.',
    K1,
  ),
  tag: input(
    optional(PARSERS.gitName),
    'K2 only. Tag of the release. A new tag is created at the commit of the run or, outside a run, at the head of the default branch. Default: `files-<YYYYMMDD>` (UTC), with a number after it if that release is immutable.',
    {
      channels: ['K2'],
      means: {
        withdraw:
          'K2 only. Tag of the release that has the asset. Default: the tags of today and yesterday (UTC).',
      },
    },
  ),
  bin: input(
    optional(PARSERS.bin),
    'K3 only. Name of the bin, the first folder of its URLs. Default: `sv<unix_timestamp>` and a random ending.',
    { channels: ['K3'] },
  ),
  url: input(
    optional(PARSERS.link),
    'K4: an existing link to verify. If `file` is a folder, the site at the link must have every file of it. To withdraw: the URL that you got, with or without its `?v=`.',
    {
      channels: ['K4'],
      tools: ['verify', 'withdraw'],
      means: {
        verify: 'The link to verify.',
        withdraw: 'The URL that you got. What was delivered there is removed.',
      },
    },
  ),
  operation: input(
    oneOf<Operation>('deliver', 'withdraw', 'audit'),
    '`deliver` publishes. `withdraw` removes what was delivered to the same path; `path: folder/` removes everything delivered below that folder. `audit` verifies again everything that was delivered to the site and to releases, or below `path`.',
    { commands: [] },
  ),
  'older-than': input(
    optional(PARSERS.age),
    'Withdrawals with `path: folder/` only: a sweep. Remove folders directly below it whose last delivery by this workflow is older, such as `14 days`. Folders of open pull requests stay (needs `pull-requests: read`). Folders of other workflows count only with `overwrite: true`.',
    SWEEP,
  ),
  closed: input(
    OFF,
    "A sweep that removes the folders whose pull request is closed, such as `pr-12/`. A sweep never removes the folder of a pull request that is open or can't be read. Needs `permissions: { pull-requests: read }`.",
    SWEEP,
  ),
  issue: input(
    OFF,
    'Audits only. Open one issue if something is lost, and close it when everything named in it is verified again. Needs `permissions: { issues: write }`.',
    { commands: [] },
  ),
  overwrite: input(
    OFF,
    "Replace or remove files that this tool didn't deliver, and an asset or bin file with different content.",
  ),
  'on-failure': input(
    oneOf('keep', 'restore'),
    'K1 only. What happens to a committed file or folder that is not verified. `keep` leaves it. `restore` adds a commit that puts back what this tool delivered there before, if nobody wrote to the branch since. It skips deliveries of cancelled runs. The step fails anyway.',
    K1,
  ),
  'self-contained': input(
    oneOf('auto', 'enforce', 'warn', 'off', 'inline'),
    'What to do with a page that loads something from another host. `enforce` refuses it, `warn` reports it in UNKNOWN, `off` ignores it (all K1 only). `inline` is for a single page: it fetches what the page loads from its folder and other hosts, and puts that into the page, also for a check. `auto` is `enforce` for a single page and `warn` for a folder. A page without one of its own style sheets or scripts is always refused, but a missing `async` script is only reported in UNKNOWN.',
    {
      ...K1,
      tools: ['deliver'],
      argument: {
        name: 'other_hosts',
        description:
          'For a page that loads from other hosts. By default, a single page is refused. `inline` puts what it loads into it.',
        values: { refuse: 'enforce', inline: 'inline', allow: 'warn' },
      },
    },
  ),
  render: input(
    OFF,
    'Deliver Markdown, CSV, TSV, JSON, a log, a notebook, JUnit XML, a diff or source code as a page, such as `report.md.html`. K1 gets the file beside the page, in the same commit; on a site that Jekyll builds, Markdown only with `nojekyll: true`. To withdraw the page from K2 or K3, set `render` too.',
  ),
  screen: input(
    oneOf<ScreenMode>('auto', 'enforce', 'off'),
    'Open the verified page (K1) in a real browser. `auto` refuses a page that shows nothing. `enforce` also refuses exceptions, failed requests and console errors, needs a browser, and opens links (K4). `off` skips this.',
    { channels: ['K1', 'K4'], commands: EVERY },
  ),
  'browser-sandbox': input(
    ON,
    '`false` starts the browser without its own sandbox, for a container that runs as root. Use it only for pages that you trust.',
    { commands: EVERY },
  ),
  picture: input(
    OFF,
    'K1 only. Deliver a picture of the page in the same commit. The action shows it in its summary and comment. With `compare`, the first five changed pages have pictures too.',
    { ...K1, tools: ['deliver'], means: { mcp: 'Also deliver a picture of the page.' } },
  ),
  'allow-secret': input(
    required('', PARSERS.fingerprints),
    'Fingerprints of findings that are known to be harmless, as printed in the error.',
    { commands: EVERY, isSearched: false },
  ),
  'allow-public-bin': input(OFF, "Let `auto` put a private repository's file on the public file-bin (K3)."),
  comment: input(
    OFF,
    'Keep one comment with the verified link on the pull request. Needs `permissions: { pull-requests: write }`.',
    { commands: [] },
  ),
  environment: input(
    optional(PARSERS.environment),
    'Name of a GitHub environment, such as `preview`. The action creates a deployment with the verified link, so the pull request has a "View deployment" button. Needs `permissions: { deployments: write }`.',
    { commands: [] },
  ),
  'dry-run': input(OFF, 'Make all checks and show the plan, but write nothing. The result is `planned`.', {
    tools: ['deliver'],
  }),
  'fail-on-not-ready': input(
    ON,
    "Fail the step if a delivery is not ready. A fork's run, whose token may only read, warns instead.",
    { commands: [] },
  ),
  timeout: input(
    seconds(SECOND / 10, VERIFY_DEADLINE, 1_800 * SECOND),
    "Seconds for build and verification together, or for an audit to check again: at most 1800. The report notes a timeout above the protocol's 240.",
    {
      commands: EVERY,
      tools: ['deliver', 'verify', 'withdraw', 'audit'],
      means: { mcp: "Seconds, at most the server's limit." },
      forLink: '30',
    },
  ),
  'poll-interval': input(
    seconds(SECOND / 20, BUILD_WAIT.interval, VERIFY_DEADLINE),
    'Seconds between polls. Decimals are allowed.',
    { commands: EVERY },
  ),
  'api-url': input(required('${{ github.api_url }}', PARSERS.host), "URL of GitHub's API.", {
    env: 'GITHUB_API_URL',
    elsewhere: 'https://api.github.com',
  }),
  'auth-url': input(
    required('${{ github.server_url }}', PARSERS.host),
    "URL of GitHub's web pages, on the same instance as the API.",
    { env: 'GITHUB_SERVER_URL', elsewhere: 'https://github.com' },
  ),
  'pages-base': input(
    optional(PARSERS.publicHost),
    "K1 only. URL of the site's root. Default: the URL in the Pages settings.",
    K1,
  ),
  'raw-base': input(
    optional(PARSERS.publicHost),
    "K1 only. URL below which the branch's raw files are served. Default: GitHub's own.",
    K1,
  ),
  'bin-host-url': input(required('https://filebin.net', PARSERS.publicHost), 'URL of the file-bin (K3).', {
    // A link may be one of that host.
    channels: ['K3', 'K4'],
    commands: EVERY,
  }),
};

export type InputName = keyof typeof INPUTS;

/** The name of a tool's argument. */
export const argumentOf = (name: InputName): string =>
  (INPUTS[name] as InputDefinition).argument?.name ?? name.replace('-', '_');

export const INPUT_NAMES = Object.keys(INPUTS) as InputName[];

/** The inputs as the user wrote them; empty if not set. */
export type RawInputs = Readonly<Record<InputName, string>>;

type PropertyName<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<PropertyName<Rest>>}`
  : Name;

/** Parses each input alone. @throws {DeliveryError} `BAD_INPUT`, or `NOT_EXTERNAL` for a URL */
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
