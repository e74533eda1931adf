/**
 * Every input of the action and the command line: its default and its meaning, written once. `action.yml` and
 * the table of the README are generated from it, and the flags of the command line have the same names.
 */

export interface InputDefinition {
  /** Used when the user sets nothing; the runner resolves an expression. */
  readonly default: string;
  readonly description: string;
}

export const INPUTS = {
  file: {
    default: '',
    description:
      'Path of the file to deliver, relative to the workspace; several lines or globs deliver several; a folder is delivered as one site (K1). Required, unless `content` or `url` is given.',
  },
  content: {
    default: '',
    description:
      'Text to deliver instead of a file; needs `name`. A runner passes about 100 KB at most: write more than that to a file.',
  },
  name: { default: '', description: 'The file name that the given text gets, such as `page.html`.' },
  entry: {
    default: 'index.html',
    description: 'Of a folder: the page whose address is handed over.',
  },
  prune: {
    default: 'true',
    description:
      'Of a folder: remove files of an earlier delivery that are no longer part of it, in the same commit. Files of others stay.',
  },
  keep: {
    default: '',
    description:
      'Of a folder: how many delivered folders to keep in the folder that it goes to, itself included, such as `20`; older ones are removed in the same commit.',
  },
  nojekyll: {
    default: 'false',
    description:
      'Of a folder: commit an empty `.nojekyll` to the root of the Pages site where there is none, so that Jekyll leaves out and changes nothing.',
  },
  setup: {
    default: 'false',
    description:
      "K1: create the branch where it does not exist, without the history of others, and switch Pages on for it where there is no site. The job's own token may not switch Pages on: then the message names the two clicks.",
  },
  channel: {
    default: 'auto',
    description:
      '`auto`, `K1` or `pages`, `K2` or `release`, `K3` or `filebin`, `K4` or `native`; or a list such as `K1+K3`: the first is the main one, the others are duplicates. `auto` goes by a named tag (K2), bin (K3) or link (K4), else K1 for what a browser shows and K2 for other files; without a token K3.',
  },
  marker: {
    default: '',
    description:
      'Text that must be in the file and in what is fetched back. Without it the fetched bytes must equal the file.',
  },
  token: {
    default: '${{ github.token }}',
    description:
      "Token for K1 and K2. It is sent to the API, to the upload host, and to the repository's git address only.",
  },
  'client-id': {
    default: '',
    description:
      "OAuth app for the device flow, used when there is no token: a person enters a short code on the host's own page.",
  },
  repository: { default: '${{ github.repository }}', description: '`<owner>/<repo>` to publish in.' },
  branch: {
    default: '',
    description:
      'K1: the branch to commit to. By default the branch that the site is built from, else `main`.',
  },
  confine: {
    default: '',
    description:
      'K1, for a page whose `name` and `content` an agent chose: the only folder of the site that it may go to, such as `agent/`. Takes pages (`.html`) without front matter, and replaces only what the same job delivered in this way. The action in `agent/` sets it.',
  },
  'site-workflow': {
    default: '',
    description:
      "K1: file name of the workflow that builds the site, to start after the commit; needs the permission `actions: write`. Commits by a job's own token start no workflow.",
  },
  path: {
    default: '',
    description:
      "K1: path in the repository, or a folder ending in `/`, in which several files keep their layout. K2 and K3: the name of the asset or of the file in the bin. By default the file's name; on K1 in the folder that the site is built from.",
  },
  message: {
    default: '',
    description:
      'Essence of the commit message `ADD/UPDATE <name>: <essence>`. By default where the file came from.',
  },
  tag: {
    default: '',
    description:
      'K2: tag of the release. By default `files-<YYYYMMDD>` (UTC), with a number after it where that release is immutable.',
  },
  bin: {
    default: '',
    description: 'K3: name of the bin. By default `sv<unix_timestamp>` and a random ending.',
  },
  url: { default: '', description: "K4: the environment's own link, to check and prove." },
  operation: {
    default: 'deliver',
    description:
      '`deliver`, or `withdraw`: removes what was delivered to the same path; `path: folder/` removes everything delivered below that folder.',
  },
  overwrite: {
    default: 'false',
    description:
      'Replace an existing file that this tool did not deliver, or an existing asset or bin file with other bytes.',
  },
  'self-contained': {
    default: 'auto',
    description:
      'What to do with a page for the screen (K1) that loads something from another host: `enforce` refuses it, `warn` reports it in UNKNOWN, `off` says nothing; `auto` is `enforce` for a single page and `warn` for a folder. A style sheet or script of its own that is missing is always refused.',
  },
  screen: {
    default: 'auto',
    description:
      'Open the proven page (K1) in a real browser: `auto` refuses one that shows nothing, `enforce` refuses exceptions, failed requests and console errors too and needs a browser, `off` does not look.',
  },
  'browser-sandbox': {
    default: 'true',
    description:
      '`false` starts the browser without its own sandbox, for a container that runs as root; only for pages that you trust.',
  },
  picture: {
    default: 'false',
    description:
      'Deliver a picture of the page (K1) in the same commit; the action shows it in its summary and comment.',
  },
  'allow-secret': {
    default: '',
    description: 'Fingerprints, as printed in the error, of findings that are known to be harmless.',
  },
  'allow-public-bin': {
    default: 'false',
    description: "Allows `auto` to put a private repository's file on the public file-bin (K3).",
  },
  comment: {
    default: 'false',
    description:
      'Keep one comment with the proven link on the pull request; needs `permissions: { pull-requests: write }`.',
  },
  'dry-run': {
    default: 'false',
    description: 'Make all checks and show the plan; nothing is written, and the result is `planned`.',
  },
  'fail-on-not-ready': {
    default: 'true',
    description: 'Whether a delivery that is not ready fails the step.',
  },
  timeout: {
    default: '240',
    description: 'Seconds for build and verification together, at most 240.',
  },
  'poll-interval': { default: '5', description: 'Seconds between polls; decimals are allowed.' },
  'api-url': { default: '${{ github.api_url }}', description: 'Address of the hosting API.' },
  'auth-url': {
    default: '${{ github.server_url }}',
    description: "Address of the host's web pages, of the same instance as the API.",
  },
  'pages-base': {
    default: '',
    description: "K1: address of the site's root. By default from the Pages settings.",
  },
  'raw-base': {
    default: '',
    description: "K1: address below which the branch's raw files are served. By default the one of the host.",
  },
  'bin-host-url': { default: 'https://filebin.net', description: 'K3: address of the file-bin.' },
} as const satisfies Record<string, InputDefinition>;

export type InputName = keyof typeof INPUTS;

/** What the value of an input is in JSON. */
export function jsonTypeOf(name: InputName): 'string' | 'number' | 'boolean' {
  const usual = INPUTS[name].default;
  if (usual === 'true' || usual === 'false') return 'boolean';
  // Of these, nothing is a value, too.
  return /^\d+$/.test(usual) || name === 'keep' ? 'number' : 'string';
}

/** A link alone needs no build: it answers soon, or not at all. */
export const LINK_DEFAULTS: Readonly<Partial<Record<InputName, string>>> = { timeout: '30' };

/** The inputs as the user wrote them; empty if not set. */
export type RawInputs = Readonly<Record<InputName, string>>;

/** Outputs of the action. */
export const OUTPUTS = {
  url: 'The proven https address, one line for each file; empty unless the result is ready.',
  report: 'The report: CLAIM, CODE, TEST, RESULT, UNKNOWN.',
  'report-json':
    'The same as JSON, with `result`, `url`, `reason`, `hint` and `reports`; its schema is `report.schema.json`.',
  result: '`ready`, `withdrawn`, `planned` (a dry run) or `not-ready`.',
  channel: 'The channel that was used, such as `K1`; one line for each file, like all outputs below.',
  'raw-url': 'K1: the proven raw address; empty when it could not be verified.',
  'duplicate-url': 'The proven addresses of the duplicates, one per line.',
  'commit-sha': 'K1: the commit that contains the file.',
  sha256: 'SHA-256 of the file, lowercase hex; of a folder that of its entry page.',
  size: 'Size in bytes; of a folder that of all its files.',
  files: 'How many files were delivered, those of folders included.',
  screen:
    '`shown`, `not-shown` or `not-checked`: what a browser saw of the page; empty where none was to look.',
  'picture-url': 'The proven address of the picture of the page; empty unless `picture: true`.',
} as const;

export type OutputName = keyof typeof OUTPUTS;
