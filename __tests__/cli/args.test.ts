import { describe, expect, test } from '@jest/globals';
import { FLAGS, isSwitch, parseCommand, UsageError } from '../../src/cli/args.ts';
import { INPUTS } from '../../src/request/inputs.ts';

const NOTHING = { subjects: [], flags: {}, tokenEnv: undefined, json: false };

describe('the flags', () => {
  test('are the inputs, but for those that the command line has another way for', () => {
    const others = Object.keys(INPUTS).filter((name) => !FLAGS.some((flag) => flag === name));
    expect(others.sort()).toEqual(['comment', 'fail-on-not-ready', 'file', 'operation', 'token']);
  });

  test('take a value, but for the yes-or-no ones', () => {
    expect(FLAGS.filter(isSwitch)).toEqual(['overwrite', 'allow-public-bin', 'dry-run']);
  });

  test.each(FLAGS)('--%s reaches its input', (name) => {
    const value = isSwitch(name) ? [] : ['said'];
    const { flags } = parseCommand(['deliver', 'page.html', `--${name}`, ...value]);
    expect(flags).toEqual({ [name]: isSwitch(name) ? 'true' : 'said' });
  });
});

describe('a command', () => {
  test.each([
    [['deliver', 'a.html'], { ...NOTHING, name: 'deliver', subjects: ['a.html'] }],
    [['deliver', 'a.html', 'b.html'], { ...NOTHING, name: 'deliver', subjects: ['a.html', 'b.html'] }],
    [
      ['--json', 'deliver', '--channel', 'K3', 'a.html', '--overwrite'],
      {
        ...NOTHING,
        name: 'deliver',
        subjects: ['a.html'],
        flags: { channel: 'K3', overwrite: 'true' },
        json: true,
      },
    ],
    [
      ['deliver', 'a.html', '--token-env', 'MY_TOKEN'],
      { ...NOTHING, name: 'deliver', subjects: ['a.html'], tokenEnv: 'MY_TOKEN' },
    ],
    [
      ['verify', 'https://a.b/', '--file', 'a.html', '--marker=-m'],
      {
        ...NOTHING,
        name: 'verify',
        subjects: ['https://a.b/'],
        flags: { file: 'a.html', marker: '-m' },
      },
    ],
    [['deliver', '--', '--odd.html'], { ...NOTHING, name: 'deliver', subjects: ['--odd.html'] }],
    [['check', 'a.html'], { ...NOTHING, name: 'check', subjects: ['a.html'] }],
    [['contract'], { ...NOTHING, name: 'contract' }],
    [[], { ...NOTHING, name: 'help' }],
    [['--help'], { ...NOTHING, name: 'help' }],
    [['-h'], { ...NOTHING, name: 'help' }],
    [['deliver', '--help'], { ...NOTHING, name: 'help' }],
    [['--version'], { ...NOTHING, name: 'version' }],
    [['-v'], { ...NOTHING, name: 'version' }],
  ])('%j is understood', (args, command) => {
    expect(parseCommand(args)).toEqual(command);
  });

  test.each<[string[], RegExp]>([
    [['--json'], /^a command is missing$/],
    [['send', 'a.html'], /^there is no command send$/],
    // Names that every object knows are no commands either.
    [['toString'], /^there is no command toString$/],
    [['constructor'], /^there is no command constructor$/],
    [['deliver'], /^deliver takes the file/],
    [['check'], /^check takes the file/],
    [['verify'], /^verify takes the one URL/],
    [['verify', 'https://a.b/', 'https://c.d/'], /^verify takes the one URL/],
    [['contract', 'a'], /^contract takes nothing else/],
    [['deliver', 'a.html', '--chanel', 'K3'], /--chanel/],
    [['deliver', 'a.html', '--channel'], /--channel/],
    [['deliver', 'a.html', '--overwrite=true'], /--overwrite/],
    [['deliver', 'a.html', '--fail-on-not-ready', 'false'], /--fail-on-not-ready/],
  ])('%j is refused', (args, says) => {
    expect(() => parseCommand(args)).toThrow(UsageError);
    expect(() => parseCommand(args)).toThrow(says);
  });

  test.each([
    [['deliver', 'a.html', '--token', 'ghp_secret']],
    [['deliver', 'a.html', '--token=ghp_secret']],
    [['--token', 'ghp_secret', '--help']],
  ])('%j is refused, with the ways to give a token and without repeating it', (args) => {
    expect(() => parseCommand(args)).toThrow(/process list.*GITHUB_TOKEN.*--token-env/);
    expect(() => parseCommand(args)).not.toThrow(/ghp_secret/);
  });
});
