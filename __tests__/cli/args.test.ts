import { describe, expect, test } from '@jest/globals';
import { parseCommand, UsageError } from '../../src/cli/args.ts';
import { FLAGS, isSwitch } from '../../src/request/commands.ts';
import { INPUTS } from '../../src/request/inputs.ts';

const EMPTY = {
  positionals: [],
  flags: {},
  tokenEnv: undefined,
  root: '.',
  json: false,
  quiet: false,
  qr: false,
};

describe('FLAGS', () => {
  test('are all inputs except those that are not needed on the command line', () => {
    const others = Object.keys(INPUTS).filter((name) => !FLAGS.some((flag) => flag === name));
    const notNeeded = ['comment', 'confine', 'content', 'fail-on-not-ready', 'file', 'operation', 'token'];
    expect(others.sort()).toEqual(notNeeded);
  });

  test('have a value unless the input is off by default', () => {
    expect(FLAGS.filter(isSwitch)).toEqual([
      'nojekyll',
      'setup',
      'overwrite',
      'picture',
      'allow-public-bin',
      'dry-run',
    ]);
  });

  test.each(FLAGS)('--%s sets the input of the same name', (name) => {
    const value = isSwitch(name) ? [] : ['given'];
    const { flags } = parseCommand(['deliver', 'page.html', `--${name}`, ...value]);
    expect(flags).toEqual({ [name]: isSwitch(name) ? 'true' : 'given' });
  });
});

describe('parseCommand', () => {
  test.each([
    [['deliver', 'a.html'], { ...EMPTY, name: 'deliver', positionals: ['a.html'] }],
    [['deliver', 'a.html', 'b.html'], { ...EMPTY, name: 'deliver', positionals: ['a.html', 'b.html'] }],
    [
      ['--json', 'deliver', '--channel', 'K3', 'a.html', '--overwrite'],
      {
        ...EMPTY,
        name: 'deliver',
        positionals: ['a.html'],
        flags: { channel: 'K3', overwrite: 'true' },
        json: true,
      },
    ],
    [
      ['deliver', 'a.html', '--token-env', 'MY_TOKEN'],
      { ...EMPTY, name: 'deliver', positionals: ['a.html'], tokenEnv: 'MY_TOKEN' },
    ],
    [
      ['verify', 'https://a.b/', '--file', 'a.html', '--marker=-m'],
      {
        ...EMPTY,
        name: 'verify',
        positionals: ['https://a.b/'],
        flags: { file: 'a.html', marker: '-m' },
      },
    ],
    ...[
      ['verify', 'https://a.b/', '--screen'],
      ['verify', '--screen', 'https://a.b/'],
      ['verify', '--screen', '--', 'https://a.b/'],
      ['verify', '--screen', 'auto', 'https://a.b/'],
    ].map((args): [string[], object] => [
      args,
      { ...EMPTY, name: 'verify', positionals: ['https://a.b/'], flags: { screen: 'auto' } },
    ]),
    [
      ['verify', 'https://a.b/', '--screen', 'enforce'],
      { ...EMPTY, name: 'verify', positionals: ['https://a.b/'], flags: { screen: 'enforce' } },
    ],
    [['deliver', '--', '--screen'], { ...EMPTY, name: 'deliver', positionals: ['--screen'] }],
    [['deliver', '--', '--odd.html'], { ...EMPTY, name: 'deliver', positionals: ['--odd.html'] }],
    [['check', 'a.html'], { ...EMPTY, name: 'check', positionals: ['a.html'] }],
    [['contract'], { ...EMPTY, name: 'contract' }],
    [
      ['mcp', '--root', 'pages', '--repository', 'octo/site'],
      { ...EMPTY, name: 'mcp', root: 'pages', flags: { repository: 'octo/site' } },
    ],
    [[], { ...EMPTY, name: 'help' }],
    [['--help'], { ...EMPTY, name: 'help' }],
    [['-h'], { ...EMPTY, name: 'help' }],
    [['deliver', '--help'], { ...EMPTY, name: 'help' }],
    [['--version'], { ...EMPTY, name: 'version' }],
    [['-v'], { ...EMPTY, name: 'version' }],
  ])('accepts %j', (args, command) => {
    expect(parseCommand(args)).toEqual(command);
  });

  test.each<[string[], RegExp]>([
    [['--json'], /^a command is missing$/],
    [['send', 'a.html'], /^there is no command send$/],
    // Properties of every JavaScript object are not commands.
    [['toString'], /^there is no command toString$/],
    [['constructor'], /^there is no command constructor$/],
    [['deliver'], /^deliver takes at least one file$/],
    [['check'], /^check takes at least one file$/],
    [['deliver', '-', 'a.html'], /can only be given alone/],
    [['withdraw', '-'], /withdraw reads no standard input/],
    [['verify'], /^verify takes exactly one URL$/],
    [['verify', 'https://a.b/', 'https://c.d/'], /^verify takes exactly one URL$/],
    [['contract', 'a'], /^contract takes no arguments$/],
    [['mcp', 'a.html'], /^mcp takes no files/],
    [['check', 'a.html', '--root', 'b'], /^--root can only be used with mcp$/],
    [['deliver', 'a.html', '--chanel', 'K3'], /--chanel/],
    [['deliver', 'a.html', '--channel'], /--channel/],
    [['deliver', 'a.html', '--overwrite=true'], /--overwrite/],
    [['deliver', 'a.html', '--fail-on-not-ready', 'false'], /--fail-on-not-ready/],
  ])('refuses %j', (args, message) => {
    expect(() => parseCommand(args)).toThrow(UsageError);
    expect(() => parseCommand(args)).toThrow(message);
  });

  test.each([
    [['deliver', 'a.html', '--token', 'ghp_secret']],
    [['deliver', 'a.html', '--token=ghp_secret']],
    [['--token', 'ghp_secret', '--help']],
  ])('refuses the token in %j, says how to pass it, and does not repeat it', (args) => {
    expect(() => parseCommand(args)).toThrow(/process list.*GITHUB_TOKEN.*--token-env/);
    expect(() => parseCommand(args)).not.toThrow(/ghp_secret/);
  });
});
