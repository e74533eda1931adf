/**
 * Every input of either face: its default and its meaning, written once. `action.yml` and the README's
 * table are made from this table, and the command line's flags carry the same names.
 */

export interface InputDefinition {
  /** What holds when the user says nothing; an expression is resolved by the runner. */
  readonly default: string;
  readonly description: string;
}

export const INPUTS = {
  file: {
    default: '',
    description:
      'Path of the file to deliver, relative to the workspace; several lines or globs deliver several. Required, unless `url` is given.',
  },
  channel: {
    default: 'auto',
    description:
      '`auto`, `K1` or `pages`, `K2` or `release`, `K3` or `filebin`, `K4` or `native`; or a list such as `K1+K3`: the first is the main one, the others are duplicates.',
  },
  marker: {
    default: '',
    description:
      'Control string that must stand in the file and in what is fetched back. Without it the fetched bytes must equal the file.',
  },
  token: {
    default: '${{ github.token }}',
    description: 'Token for K1 and K2. It is sent to the API and the upload host, and to no other.',
  },
  'client-id': {
    default: '',
    description:
      "OAuth app for the device flow, when there is no token: a person enters a short code on the host's own page.",
  },
  repository: { default: '${{ github.repository }}', description: '`<owner>/<repo>` to publish in.' },
  branch: {
    default: '',
    description: 'K1: the branch to commit to. By default the one the site is built from, else `main`.',
  },
  path: {
    default: '',
    description:
      "K1: path in the repository, or a folder ending in `/`, in which several files keep their layout. K2 and K3: the name to give. By default the file's name, in the folder that the site shows.",
  },
  message: {
    default: '',
    description:
      'Essence of the commit message `ADD/UPDATE <name>: <essence>`. By default where the file came from.',
  },
  tag: { default: '', description: 'K2: tag of the release. By default `files-<YYYYMMDD>` (UTC).' },
  bin: {
    default: '',
    description: 'K3: name of the bin. By default `sv<unix_timestamp>` and a random ending.',
  },
  url: { default: '', description: "K4: the environment's own link, to be checked and proven." },
  operation: {
    default: 'deliver',
    description:
      '`deliver`, or `withdraw`: takes away again what was delivered to the same place; `path: folder/` means all of it below that folder.',
  },
  overwrite: {
    default: 'false',
    description: 'Replace a file or asset at the place although it was not delivered by this action.',
  },
  'self-contained': {
    default: 'enforce',
    description:
      'What to do with an `.html` for the screen (K1) that needs anything from elsewhere: `enforce` refuses it, `warn` says so in UNKNOWN, `off` does not look.',
  },
  'allow-secret': {
    default: '',
    description: 'Fingerprints, as the refusal prints them, of findings that are known to be harmless.',
  },
  'allow-public-bin': {
    default: 'false',
    description: "Lets `auto` put a private repository's file on the public file-bin (K3).",
  },
  comment: {
    default: 'false',
    description:
      'Keep one comment with the proven link on the pull request; needs `permissions: { pull-requests: write }`.',
  },
  'dry-run': {
    default: 'false',
    description: 'All checks and the plan; nothing is written anywhere, and nothing is ready.',
  },
  'fail-on-not-ready': {
    default: 'true',
    description: 'Whether a delivery that is not ready fails the step.',
  },
  timeout: {
    default: '240',
    description: 'Seconds for build and verification together; 240 is the most.',
  },
  'poll-interval': { default: '5', description: 'Seconds between polls; decimals are allowed.' },
  'api-url': { default: '${{ github.api_url }}', description: "The hosting API's address." },
  'auth-url': {
    default: '${{ github.server_url }}',
    description: "The address of the host's pages for people, of the same instance as `api-url`.",
  },
  'pages-base': {
    default: '',
    description: "K1: address of the site's root. By default what the Pages settings say.",
  },
  'raw-base': {
    default: '',
    description: "K1: address below which the branch's raw files are served. By default by host.",
  },
  'bin-host-url': { default: 'https://filebin.net', description: 'K3: address of the file-bin.' },
} as const satisfies Record<string, InputDefinition>;

export type InputName = keyof typeof INPUTS;

/** What the user wrote, by input; empty where nothing was said. */
export type RawInputs = Readonly<Record<InputName, string>>;

/** Outputs of the action. */
export const OUTPUTS = {
  url: 'The proven https address, a line for each file; empty unless the result is ready.',
  report: 'The report: CLAIM, CODE, TEST, RESULT, UNKNOWN.',
  'report-json': 'The same as a JSON array, one report a file.',
  result: '`ready` or `not-ready`.',
  channel: 'The channel that was used, such as `K1`; a line for each file, like all that follow.',
  'raw-url': 'K1: the proven raw address; empty when it could not be verified.',
  'duplicate-url': 'The proven address of each duplicate, one a line.',
  'commit-sha': 'K1: the commit that holds the file.',
  sha256: 'SHA-256 of the file, lowercase hex.',
  size: 'Size of the file in bytes.',
} as const;

export type OutputName = keyof typeof OUTPUTS;
