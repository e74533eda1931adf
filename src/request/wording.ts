import { INPUTS, type InputName } from './inputs.ts';

/**
 * Messages and hints are written once, in the words of the action: inputs as YAML (`path: x`, `path:`), steps and
 * jobs. Each interface shows them in its own words: flags on the command line, arguments of a tool in MCP.
 */
export type InterfaceName = 'action' | 'cli' | 'mcp';

/** Renders a text in the words of one interface. */
export type Wording = (text: string) => string;

/** How an interface writes the inputs. */
interface InputNotation {
  /** An input without a value, such as `path`. */
  readonly name: (name: InputName) => string;
  /** An input with its value. */
  readonly value: (name: InputName, value: string) => string;
  /** What comes before an input's name in a sentence. */
  readonly kind: string;
  readonly again: string;
  readonly folder: string;
}

const TOKEN_VARIABLE = 'GITHUB_TOKEN';

/** How inputs are called that are no flags. */
type InputPlaces = Readonly<Partial<Record<InputName, string>>>;

const PLACES: InputPlaces = {
  file: '`FILE`',
  content: 'standard input',
  token: TOKEN_VARIABLE,
};

const quoteForShell = (value: string): string =>
  /^[\w./:@%+=,*<>…-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;

const createShellNotation = (places: InputPlaces): InputNotation => ({
  name: (name) => places[name] ?? `\`--${name}\``,
  value(name, value) {
    if (places[name] !== undefined) return name === 'token' ? TOKEN_VARIABLE : `\`${value}\``;
    const isSwitch = INPUTS[name].default === 'false';
    if (isSwitch) return value === 'true' ? `\`--${name}\`` : `no \`--${name}\``;
    return `\`--${name} ${quoteForShell(value)}\``;
  },
  kind: '',
  again: 'run the command again',
  folder: 'the current folder',
});

const NOTATIONS: Readonly<Record<Exclude<InterfaceName, 'action'>, (places: InputPlaces) => InputNotation>> =
  {
    cli: createShellNotation,
    mcp: () => ({
      name: (name) => (name === 'token' ? TOKEN_VARIABLE : `\`${name}\``),
      value(name, value) {
        if (name === 'token') return TOKEN_VARIABLE;
        return `\`${name}: ${/^(true|false)$/.test(value) ? value : JSON.stringify(value)}\``;
      },
      kind: 'argument ',
      again: 'call the tool again',
      folder: 'the allowed folder',
    }),
  };

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

const NAMES = Object.keys(INPUTS).join('|');
/** The main channel of a list, which hints write without marks: `use channel: K1, K2 or K3`. */
const BARE_CHANNEL = /(?<!`|unknown )\bchannel: (K\d|auto)\b/g;
const WITH_VALUE = new RegExp(`\`(${NAMES}): ([^\`]+)\``, 'g');
const WITHOUT_VALUE = new RegExp(`(\\binputs? )?\`(${NAMES}):?\``, 'g');

/**
 * The words of an interface.
 *
 * @param places how one of its commands calls inputs that are no flags of it
 */
export function createWording(face: InterfaceName, places: InputPlaces = {}): Wording {
  if (face === 'action') return (text) => text;
  const notation = NOTATIONS[face]({ ...PLACES, ...places });
  const phrases = listPhrases(notation);
  return (text) =>
    phrases
      .reduce((worded, [pattern, replacement]) => worded.replace(pattern, replacement), text)
      .replace(BARE_CHANNEL, '`channel: $1`')
      .replace(WITH_VALUE, (_, name: InputName, value: string) => notation.value(name, value))
      .replace(WITHOUT_VALUE, (_, kind: string | undefined, name: InputName) => {
        if (kind === undefined) return notation.name(name);
        // It comes from any of several variables.
        return name === 'token' ? 'the token' : `${notation.kind}${notation.name(name)}`;
      });
}
