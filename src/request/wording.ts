import { TOOL } from '../protocol/words.ts';
import { INPUTS, type InputName } from './inputs.ts';

/**
 * Messages and hints are written once, in the words of the action: inputs as YAML (`path: x`, `path:`), steps and
 * jobs. Each interface shows them in its own words: flags on the command line, arguments of a tool in MCP
 * (`tool-wording.ts`).
 */
export type InterfaceName = 'action' | 'cli';

/** Renders a text in the words of one interface. */
export type Wording = (text: string) => string;

/** How an interface writes the inputs. */
export interface InputNotation {
  /** An input without a value, such as `path`. */
  readonly name: (name: InputName) => string;
  /** An input with its value. */
  readonly value: (name: InputName, value: string) => string;
  /** An input in a sentence on what is wrong with it. */
  readonly subject: (name: InputName) => string;
  readonly again: string;
  readonly folder: string;
}

/** The environment variable of the token. */
export const TOKEN_VARIABLE = 'GITHUB_TOKEN';

/** How inputs are called that are no flags. */
type InputPlaces = Readonly<Partial<Record<InputName, string>>>;

const PLACES: InputPlaces = {
  file: '`FILE`',
  content: 'standard input',
  token: TOKEN_VARIABLE,
};

const quoteForShell = (value: string): string =>
  /^[\w./:@%+=,*<>…-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;

const nameFlag = (name: InputName): string => `\`--${name}\``;

/** A flag with its value. */
export function formatFlag(name: InputName, value: string): string {
  const isSwitch = INPUTS[name].default === 'false';
  if (isSwitch) return value === 'true' ? nameFlag(name) : `no ${nameFlag(name)}`;
  return `\`--${name} ${quoteForShell(value)}\``;
}

const createShellNotation = (places: InputPlaces): InputNotation => ({
  name: (name) => places[name] ?? nameFlag(name),
  value(name, value) {
    if (places[name] === undefined) return formatFlag(name, value);
    return name === 'token' ? TOKEN_VARIABLE : `\`${value}\``;
  },
  // A token comes from any of several variables.
  subject: (name) => (name === 'token' ? 'the token' : (places[name] ?? nameFlag(name))),
  again: 'run the command again',
  folder: 'the current folder',
});

/** What only a step of a workflow has, and what takes its place elsewhere; the first rules are the longest. */
function listPhrases({ again, folder }: InputNotation): readonly (readonly [RegExp, string])[] {
  return [
    [
      /add `permissions: \{ (.*?) \}` to the job; a pull request from a fork gets a read-only token: use channel: K3 there/g,
      'use a token with the permissions `$1`, or use channel: K3',
    ],
    [/add `permissions: \{ (.*?) \}` to the job/g, 'use a token with the permissions `$1`'],
    [/(?<=with )`permissions: \{ (.*?) \}`/g, 'the permissions `$1`'],
    [/`permissions: \{ (.*?) \}`/g, 'a token with the permissions `$1`'],
    [/, or leave it out for the job's own \$\{\{ github\.token \}\}/g, ''],
    [/leave `token:` out for the job's own \$\{\{ github\.token \}\}/g, 'use another token'],
    [/, such as `\$\{\{ github\.token \}\}`/g, ''],
    [/the `token:` of the job, of an app/g, 'the token of an app'],
    [/set `lfs: true` in the step with actions\/checkout, or run/g, 'run'],
    [/pack it in a step before: (`[^`]*`) with `file: ([^`]*)`/g, 'pack it before: $1, and deliver `$2`'],
    [/, and make sure that an earlier step writes it/g, ', and make sure that it exists'],
    [/copy it into the workspace or the runner's temp folder first/g, `copy it into ${folder} first`],
    [/run the step again/g, again],
    [/running the step again only verifies/g, 'a second delivery only verifies'],
    [/the step that writes/g, 'what writes'],
    [/that step has ended/g, 'that has ended'],
    [/the workspace/g, folder],
    [/check the network of the job and its/g, 'check the network and the'],
    [/run the job on a runner whose/g, 'run it on a machine whose'],
    [/a commit by the job's own token/g, "a commit by a job's own token"],
    [/(credential|secret)s? of (this|the) job/g, '$1 of this environment'],
    [/(?<=\bthis )action (?=did not deliver|delivered)/g, 'tool '],
    [/the newest version of this action/g, 'the newest version of this tool'],
    [/more files a step/g, 'more files at once'],
    [/, and show it in the job summary and in the comment/g, ''],
    [/the run that the file came from/g, 'where it came from'],
  ];
}

/** A link is the business of a command of its own, and a token is given by the name of its variable. */
const COMMAND_PHRASES = [
  [/input `token` had no effect/g, '`--token-env` had no effect'],
  [/, or `url:` to a link(?: that is to be proven)?/g, `, or prove a link with \`${TOOL.name} verify URL\``],
] as const;

const NAMES = Object.keys(INPUTS).join('|');
/** The main channel of a list, which hints write without marks: `use channel: K1, K2 or K3`. */
const BARE_CHANNEL = /(?<!`|unknown )\bchannel: (K\d|auto)\b/g;
const WITH_VALUE = new RegExp(`\`(${NAMES}): ([^\`]+)\``, 'g');
const WITHOUT_VALUE = new RegExp(`(\\binputs? )?\`(${NAMES}):?\``, 'g');

/** The words of a notation. @param more phrases that take the place of others */
export function createTextWording(
  notation: InputNotation,
  more: readonly (readonly [RegExp, string])[] = [],
): Wording {
  const phrases = [...listPhrases(notation), ...more];
  return (text) =>
    phrases
      .reduce((worded, [pattern, replacement]) => worded.replace(pattern, replacement), text)
      .replace(BARE_CHANNEL, '`channel: $1`')
      .replace(WITH_VALUE, (_, name: InputName, value: string) => notation.value(name, value))
      .replace(WITHOUT_VALUE, (_, kind: string | undefined, name: InputName) =>
        kind === undefined ? notation.name(name) : notation.subject(name),
      );
}

/**
 * The words of an interface.
 *
 * @param places how one of its commands calls inputs that are no flags of it
 */
export function createWording(face: InterfaceName, places: InputPlaces = {}): Wording {
  return face === 'action'
    ? (text) => text
    : createTextWording(createShellNotation({ ...PLACES, ...places }), COMMAND_PHRASES);
}
