import { describe, expect, test } from '@jest/globals';
import { parseCommand } from '../../src/cli/args.ts';
import { ALL_FLAGS, FLAGS, flagsOf, isSwitch } from '../../src/request/commands.ts';
import { INPUTS } from '../../src/request/inputs.ts';

const EMPTY = {
  positionals: [],
  flags: {},
  root: undefined,
  json: false,
  report: false,
  verbose: false,
  qr: false,
};

/** Of the form of a token of GitHub. */
const TOKEN = `ghp_${'x7Kq2mZ9'.repeat(4)}aBcD`;

describe('FLAGS', () => {
  test('are all inputs except those that are not needed on the command line', () => {
    const others = Object.keys(INPUTS).filter((name) => !FLAGS.some((flag) => flag === name));
    const usual = ['comment', 'confine', 'content', 'environment', 'fail-on-not-ready', 'file', 'issue'];
    expect(others.sort()).toEqual([...usual, 'operation', 'token']);
  });

  test.each(FLAGS)('--%s sets the input of the same name', (name) => {
    const value = isSwitch(name) ? [] : ['given'];
    const isSwept = name === 'older-than' || name === 'closed';
    const call = isSwept ? ['withdraw'] : ['deliver', name === 'name' ? '-' : 'page.html'];
    const { flags } = parseCommand([...call, `--${name}`, ...value]);
    expect(flags).toEqual({ [name]: isSwitch(name) ? 'true' : 'given' });
  });
});

describe('parseCommand', () => {
  test.each<[string[], object]>([
    [['deliver', 'a.html', 'b.html'], { name: 'deliver', positionals: ['a.html', 'b.html'] }],
    [
      ['--json', 'deliver', '--channel', 'K3', 'a.html', '--overwrite'],
      {
        ...{ name: 'deliver', positionals: ['a.html'], json: true },
        flags: { channel: 'K3', overwrite: 'true' },
      },
    ],
    [
      ['deliver', 'a.html', '--token-env', 'MY_TOKEN'],
      { name: 'deliver', positionals: ['a.html'], tokenEnv: 'MY_TOKEN' },
    ],
    [
      ['verify', 'https://a.b/', '--file', 'a.html', '--file', 'b.html', '--marker=-m'],
      { name: 'verify', positionals: ['https://a.b/'], flags: { file: 'a.html\nb.html', marker: '-m' } },
    ],
    [['deliver', '--', '--odd.html'], { name: 'deliver', positionals: ['--odd.html'] }],
    [
      ['mcp', '--root', 'pages', '--repository', 'octo/site'],
      { name: 'mcp', root: 'pages', flags: { repository: 'octo/site' } },
    ],
    ...[[], ['--help'], ['-h'], ['help']].map((args): [string[], object] => [args, { name: 'help' }]),
    [['deliver', '--help'], { name: 'help', positionals: ['deliver'] }],
    [['help', 'verify'], { name: 'help', positionals: ['verify'] }],
    [
      ['deliver', 'a.html', '--verbose', '--verbose'],
      { name: 'deliver', positionals: ['a.html'], verbose: true },
    ],
    // A word that follows a flag that is on or off is its value, and names no file.
    ...['--overwrite false --prune false a.html', '--overwrite=false --prune=FALSE a.html'].map(
      (line): [string[], object] => [
        ['deliver', ...line.split(' ')],
        {
          ...{ name: 'deliver', positionals: ['a.html'] },
          flags: { overwrite: 'false', prune: expect.stringMatching(/^false$/i) },
        },
      ],
    ),
    [
      ['mcp', '--root', 'pages', '--overwrite', 'true', '--browser-sandbox', 'false'],
      { name: 'mcp', root: 'pages', flags: { overwrite: 'true', 'browser-sandbox': 'false' } },
    ],
    [
      ['deliver', '--prune', 'a.html', '--json', 'false', '--', 'true'],
      { name: 'deliver', positionals: ['a.html', 'true'], flags: { prune: 'true' } },
    ],
    [['--version'], { name: 'version' }],
    [['audit', '--json', 'TRUE', '--json'], { name: 'audit', json: true }],
  ])('accepts %j', (args, command) => {
    expect(parseCommand(args)).toEqual({ ...EMPTY, ...command });
  });

  test.each<[string, RegExp, RegExp?]>([
    ['--json', /^a command is missing$/],
    ['send a.html', /^there is no command send$/],
    ['delivr a.html', /^there is no command delivr$/, /^write deliver, or see `screen-delivery --help`$/],
    ['page.html', /^there is no such command$/, /^write `screen-delivery deliver FILE` to publish a file$/],
    ['help delivr', /^there is no command delivr$/, /^write deliver, or see `screen-delivery --help`$/],
    ['delivr --help', /^there is no command delivr$/],
    [
      'publish page.html',
      /^there is no command publish$/,
      /^write `screen-delivery deliver FILE` to publish a file, or see/,
    ],
    // Properties of every JavaScript object are not commands.
    ['toString', /^there is no such command$/],
    ['constructor', /^there is no command constructor$/],
    ['deliver', /^deliver takes at least one file$/],
    [
      'deliver --url https://a.b/ --marker text',
      /^deliver takes at least/,
      /^write screen-delivery verify URL to /,
    ],
    ['check', /^check takes at least one/, /^write screen-delivery check FILE…\|FOLDER\|-, or see .*--help$/],
    ['deliver - a.html', /can only be given alone/],
    ['withdraw -', /can only be given alone, to deliver or check it/],
    ['verify https://a.b/ https://c.d/', /^verify takes exactly one URL$/],
    ['contract a', /^contract takes no arguments$/, /^write screen-delivery contract, or see /],
    ['mcp a.html', /^mcp takes no files/],
    ['check a.html --root b', /^--root is not a flag of check$/],
    ['deliver a.html --chanel K3', /^there is no flag --chanel$/, /^write --channel, or see /],
    ['deliver a.html --repo octo/site', /^there is no flag --repo$/, /^write --repository, or see /],
    ['deliver a.html -repository o/site', /^there is no flag -repository$/, /^write --repository, or see /],
    ['deliver a.html --zzz', /^there is no flag --zzz$/, /^see `screen-delivery deliver --help`$/],
    // A token in a wrong place is not repeated.
    [`deliver a.html --${TOKEN}`, /^there is no such flag$/],
    [TOKEN, /^there is no such command$/],
    [`eyJ0.${TOKEN}`, /^there is no such command$/],
    ['deliver a.html --no-setup', /^there is no flag --no-setup$/],
    ['deliver a.html --channel', /^--channel needs a value$/],
    ['deliver a.html --path --json', /^--path needs a value$/, /--path=VALUE if it begins with -/],
    ['deliver a.html --path=', /^--path needs a value$/],
    ['deliver ', /^an argument of deliver is empty$/],
    ...['--overwrite no', '--allow-public-bin off', '--prune 0', '--json=yes', '--dry-run='].map(
      (flag): [string, RegExp, RegExp] => [
        `deliver a.html ${flag}`,
        /^--[a-z-]+ is neither true nor false$/,
        /=false; write .\/ before a file name$/,
      ],
    ),
    ['deliver a.html --overwrite --overwrite=false', /^--overwrite is given twice$/],
    ['deliver a.html --channel K1 --channel K3', /^--channel is given twice$/],
    ['deliver a.html --fail-on-not-ready false', /^--fail-on-not-ready is an input of the action/],
    [
      'deliver a.html --operation withdraw',
      /^--operation is an input/,
      /^write the command withdraw or audit/,
    ],
    ['deliver --file a.html', /^--file is not a flag of deliver$/, /`screen-delivery deliver page\.html`$/],
    [
      'verify https://a.b/ --channel K3',
      /^--channel is not a flag of verify$/,
      /`screen-delivery verify --help`/,
    ],
    [
      'verify https://a.b/ --token abc',
      /see a token on the command line$/,
      /^leave it out, because verify uses no token$/,
    ],
    ['verify https://a.b/ --token-env MINE', /^--token-env is not a flag of verify$/],
    ['verify https://a.b/ --screen', /^--screen needs a value$/],
  ])('refuses %j, and says what to write instead', (line, message, hint = /./) => {
    const refusal = { code: 'BAD_USAGE', message: expect.stringMatching(message) };
    expect(() => parseCommand(line.split(' '))).toThrow(
      expect.objectContaining({ ...refusal, hint: expect.stringMatching(hint) }),
    );
  });

  test.each(['withdraw', 'check'])(
    '%s takes every flag of deliver, so that a call can be repeated',
    (name) => {
      for (const flag of flagsOf('deliver')) {
        const value = ALL_FLAGS[flag]?.value === undefined ? [] : ['given'];
        // Standard input has no second call.
        if (!['name', 'help', 'version'].includes(flag))
          expect(parseCommand([name, 'a.html', `--${flag}`, ...value]).name).toBe(name);
      }
    },
  );

  test.each([
    [['deliver', 'a.html', '--token', 'ghp_secret']],
    [['deliver', 'a.html', '--token=ghp_secret']],
    [['--token', 'ghp_secret', '--help']],
  ])('refuses the token in %j, says how to pass it, and does not repeat it', (args) => {
    const hint = expect.stringMatching(/GITHUB_TOKEN.*--token-env/);
    expect(() => parseCommand(args)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/see a token on the command line$/), hint }),
    );
  });
});
