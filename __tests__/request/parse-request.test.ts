import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { DeliveryError } from '../../src/errors.ts';
import { INPUT_NAMES, INPUTS, type RawInputs } from '../../src/request/inputs.ts';
import { requestWith } from '../delivery/builders.ts';

function parseError(inputs: Partial<RawInputs>): DeliveryError {
  try {
    requestWith(inputs);
  } catch (thrown) {
    if (thrown instanceof DeliveryError) return thrown;
    throw thrown;
  }
  throw new Error('nothing was refused');
}

test.each<[readonly (string | null)[], boolean]>([
  [['octo/site'], true],
  [['OCTO/Site', 'octo/site'], true],
  [['octo/site', 'octo/secret'], false],
  [['octo/site', null], false],
  [[null], false],
  [[], false],
])('A file that may come from %j certainly comes from the target repository: %s.', (sources, expected) => {
  expect(requestWith({ repository: 'octo/site' }, { sourceRepositories: sources }).isFromTarget).toBe(
    expected,
  );
});

type Refused = [Partial<RawInputs>, RegExp, RegExp];

/** The same refusal for each of some values of an input. */
const each = (
  name: keyof RawInputs,
  values: readonly string[],
  message: RegExp,
  hint: RegExp,
  others: Partial<RawInputs> = {},
): Refused[] => values.map((value) => [{ ...others, [name]: value }, message, hint]);

describe('parseRequest, given a wrong input', () => {
  const CONTENT = { file: '', content: 'x' };
  const LINK = { file: '', url: 'https://a.dev/q/share-42?x=%C3%9Cbung' };
  const WITHDRAW = { operation: 'withdraw' };
  const CLIENT = { 'client-id': 'Iv1.0123', repository: '' };
  const NO_REPOSITORY = /`client-id` is given, but no repository/;
  const SHORT_MARKERS = ['m', 'ab', ' ', '\n\n\n\n', ' a\u200bb ', '\u202e\u202e\u202e\u202e', '日本'];
  const PARTS = ['share-42', 'a.dev', 'Share 42', '"share-42"', '/q/share-42', 'q%2Fshare-42', 'x=Übung'];
  const NAMES = ['a/b.html', 'a\\b.html', '..', '.git', 'a\u202eb.html', 'x'.repeat(256)];
  const REPOSITORIES = ['https://github.com/', 'octo/.', 'octo/..', 'octo/site/x'];
  const ADDRESSES = [
    'o/r.git',
    'https://github.com/o/r',
    'https://git.corp.io/o/r.git',
    'git@github.com:o/r.git',
  ];
  const BRANCHES = ['my branch', 'a..b', '-f', 'a//b', 'a.lock', 'a/.b', 'refs/heads/main', 'm@{1}'];
  const TAGS = ['refs/heads/main', 'HEAD', 'ab12'.repeat(10), 'v:1', 'v@{1}', 'v/'];
  const ENVIRONMENTS = [
    'github-pages',
    'GitHub-Pages',
    'github-pages\u200b',
    'a,b',
    "it's",
    'a\nb',
    'a\\b',
    'x'.repeat(256),
  ];

  test.each<Refused>([
    [{ file: '' }, /nothing to deliver/, /`file:`.*`url:`/],
    ...each('channel', ['auto', 'K2+K3'], NO_REPOSITORY, /`repository: owner\/name`.*`client-id:`/, CLIENT),
    [{ ...CLIENT, ...WITHDRAW, path: 'a.html' }, NO_REPOSITORY, /`repository: owner\/name`/],
    [CONTENT, /the file name for .*`content` is missing/, /^set `name: page\.html`$/],
    [{ file: '', name: 'a.html' }, /`content` is empty/, /written `content:`$/],
    [{ name: 'a.html' }, /only for `content:`/, /`path: a.html` instead$/],
    [{ file: '', content: ' \n', name: 'a.html' }, /`content` is empty/, /written `content:`$/],
    [{ content: 'x', name: 'a.html' }, /are both given/, /^remove one of them$/],
    ...each('name', NAMES, /`name` is not a file name/, /^set `name:` .*without a folder/, CONTENT),
    [{ operation: 'remove' }, /`operation` is not one of deliver, withdraw/, /^choose one of them$/],
    [{ ...WITHDRAW, file: '' }, /nothing to withdraw/, /^name a file, or set `path:`$/],
    [{ ...WITHDRAW, file: '', path: './', overwrite: 'true' }, /everything on the branch/, /`path:`/],
    [
      { ...WITHDRAW, file: 'dist/\n!dist/a.js', url: 'https://octo.github.io/site/p/' },
      /a `!` line has no effect with input `url`/,
      /`path:`, without `url:`$/,
    ],
    [{ ...WITHDRAW, channel: 'K4' }, /K4.*can't be withdrawn/, /K1, K2 or K3/],
    [{ ...WITHDRAW, channel: 'K1+K3' }, /the bin to withdraw from is not given/, /`bin:`/],
    // It would be taken for the file name at its end.
    [{ ...WITHDRAW, file: 'https://a.dev/a.html' }, /`file` is a URL/, /^set `url:` to it$/],
    [{ file: 'a.html\nhttps://a.dev/a.html' }, /`file` is a URL/, /`url:` to the link/],
    [{ file: 'sandbox:/mnt/data/a.html' }, /is a sandbox link/, /its path in the workspace$/],
    [{ operation: 'audit' }, /an audit takes no file/, /`path:`/],
    [{ operation: 'audit', file: '', channel: 'K3' }, /can't find deliveries to K3/, /K1 or K2/],
    [{ issue: 'true' }, /only an audit opens an issue/, /`operation: audit`/],
    [{ file: 'a\0.html' }, /`file` has a control character/, /remove it/],
    [{ channel: 'K5' }, /`channel` names an unknown channel: K5/, /K1 \(pages\).*K1\+K3/],
    ...each('channel', ['', 'K1+'], /unknown channel: nothing/, /auto/),
    [{ channel: 'auto+K3' }, /unknown channel: auto/, /list such as K1\+K3/],
    [{ channel: 'K1+pages' }, /names a channel twice: K1\+pages/, /`channel: K1\+K3`/],
    ...each('channel', ['K4', 'K1+K4'], /K4 needs a link/, /`url:`.*K1, K2 or K3/),
    [{ tag: 'v1', bin: 'my-own-bin' }, /`tag` and input `bin` name different/, /all but.*`channel:`/],
    [{ screen: 'yes' }, /`screen` is not one of auto, enforce, off/, /^choose one of them$/],
    [{ screen: 'off', picture: 'true' }, /needs a browser/, /`screen: auto`/],
    [{ ...LINK, channel: 'K1', marker: 'It works' }, /`file` is missing/, /^set `file:`.*channel: K4$/],
    [LINK, /can't be verified/, /`marker:`.*`file:`/],
    ...each('marker', SHORT_MARKERS, /`marker` has fewer than 3 characters/, /`marker:`/),
    ...each('marker', [...PARTS, 'x=%C3%9Cbung'], /`marker` is a part of the link/, /`marker:`/, LINK),
    [{ repository: 'site' }, /`repository` is not .*: site/, /owner\/name/],
    ...each('repository', REPOSITORIES, /`repository`/, /owner\/name/),
    ...each('repository', ADDRESSES, /`repository`/, /^set `repository: o\/r`$/),
    ...each('branch', BRANCHES, /`branch` is not a valid git name/, /`branch:`.*without refs/),
    ...each('tag', TAGS, /`tag` is not a valid git name/, /`tag:`/),
    [{ 'site-workflow': 'ci/pages.yml' }, /not the file name of a workflow: ci\/pages\.yml/, /pages\.yml/],
    [{ 'site-workflow': 'Pages' }, /`site-workflow`/, /\.github\/workflows/],
    ...each('environment', ENVIRONMENTS, /is not a valid environment name \(.*: /, /such as preview/),
    ...each('bin', ['sv12345', 'a'.repeat(61), 'my.bin.12', '../../admin'], /`bin`/, /8 to 60 letters/),
    [{ 'client-id': 'Iv1&scope=admin:org' }, /`client-id`/, /./],
    [{ timeout: '1801' }, /`timeout` is 1801, .* and 1800$/, /`timeout: 1800`/],
    [{ timeout: '' }, /`timeout` is empty/, /`timeout: 240`/],
    ...each('timeout', ['0', 'long', '-5', '1e2'], /`timeout` is [\w-]+, not a number/, /`timeout: 240`/),
    [{ 'poll-interval': '0.01' }, /`poll-interval` is 0.01/, /`poll-interval: 5`/],
    [{ 'poll-interval': '241' }, /`poll-interval` is 241, .* and 240$/, /`poll-interval: 240`/],
    ...each('api-url', ['http://api.github.com', ''], /`api-url` is not an https/, /`api-url: https/),
    [{ 'auth-url': 'github' }, /`auth-url`/, /`auth-url: https/],
    [
      { 'api-url': 'https://git.corp.io/api/v3' },
      /two instances: git\.corp\.io belongs to git\.corp\.io, not to github\.com/,
      /`auth-url: https:\/\/git\.corp\.io`/,
    ],
    [
      { 'auth-url': 'https://acme.ghe.com' },
      /api\.github\.com belongs to github\.com, not to acme\.ghe\.com/,
      /`api-url:` to the API of acme\.ghe\.com/,
    ],
    ...each(
      'pages-base',
      ['https://u:p@a.dev', 'https://u@a.dev'],
      /has credentials in it/,
      /`pages-base: ht/,
    ),
    [{ 'bin-host-url': 'ftp://a.dev' }, /`bin-host-url`/, /`bin-host-url: https/],
    [{ marker: 'ж'.repeat(32_769) }, /`marker` is longer than 65536 bytes/, /short text/],
    [{ file: 'a.html\n'.repeat(501) }, /`file` has 501 lines/, /at most 500 lines/],
    [{ branch: `a\n::set-output name=x::${'y'.repeat(500)}` }, /^.{1,259}$/, /`branch:`/],
  ])('refuses it with one hint (%#)', (inputs, message, hint) => {
    const error = parseError(inputs);
    expect(error).toMatchObject({ code: 'BAD_INPUT', step: 'check', httpCode: undefined });
    expect(error.message).toMatch(message);
    expect(error.message).not.toMatch(/\n|[^./]\.$/);
    expect(error.hint).toMatch(hint);
  });

  test.each([
    ['a//', 'has an empty folder or file name', 'remove the extra slash'],
    ['/', 'is empty', 'name a file, or ./ for the root of the site'],
    ['.github/', 'leads into .github', 'choose another path'],
  ])('refuses the path %j with the broken rule and a hint', (path, problem, hint) => {
    const message = `input \`path\` ${problem}`;
    expect(parseError({ path })).toMatchObject({ code: 'BAD_INPUT', message, hint });
  });

  test('refuses a link that is not external', () => {
    const message = expect.stringMatching(/^input `url` is not an external https URL: /);
    expect(parseError({ url: 'https://10.0.0.1/x' })).toMatchObject({ code: 'NOT_EXTERNAL', message });
  });

  test.each(['bin-host-url', 'pages-base', 'raw-base'] as const)(
    'refuses a host in `%s` that leads to a machine itself, and accepts one in a network',
    (name) => {
      for (const host of ['localhost:8443', '127.0.0.1', '[::1]', '169.254.169.254', '0x7f.1']) {
        expect(parseError({ [name]: `https://${host}/x` })).toMatchObject({
          code: 'NOT_EXTERNAL',
          message: expect.stringContaining(`input \`${name}\` is not an external https URL`),
        });
      }
      expect(() => requestWith({ [name]: 'https://files.octo.internal/' })).not.toThrow();
    },
  );

  test.each(['null', '17', 'ready', 'undefined', 'page.html', 'ghs_'])('refuses the token %s', (token) => {
    const message = 'input `token` is too short or too common to be a token, or has a space or a line break';
    expect(parseError({ token })).toMatchObject({ code: 'BAD_INPUT', message });
  });
});

describe('parseRequest, given correct inputs', () => {
  test('fills in what follows from the day, the run and the defaults', () => {
    expect(requestWith()).toMatchObject({
      channels: 'auto',
      essence: 'from run 7 of Deliver',
      tag: 'files-20260102',
      earlierTag: 'files-20260101',
      bin: 'sv1767323045-iiiiiiiiiiiiiiii',
      overwrite: false,
      token: undefined,
      timeout: 240_000,
      interval: 5_000,
    });
  });

  test.each<[Partial<RawInputs>, object]>([
    [
      { path: 'docs/a.html', tag: 'release/v1' },
      { path: 'docs/a.html', tagIsDefault: false },
    ],
    [{ message: ' two\n lines ' }, { essence: 'two lines' }],
    [{ bin: 'my_bin-1' }, { bin: 'my_bin-1', binIsNew: false }],
    [{ url: 'https://a.dev/x' }, { url: new URL('https://a.dev/x') }],
    [{ 'self-contained': ' Warn ' }, { selfContained: 'warn' }],
    [{ 'allow-secret': 'aa, bb\ncc' }, { allowSecret: ['aa', 'bb', 'cc'] }],
    [{ timeout: '60.5' }, { timeout: 60_500, interval: 5_000 }],
    [
      { timeout: '1800', 'poll-interval': '0.05' },
      { timeout: 1_800_000, interval: 50 },
    ],
    // The poll interval is not longer than the timeout.
    [{ timeout: '3' }, { timeout: 3_000, interval: 3_000 }],
    [{ marker: 'm'.repeat(65_536), bin: 'a'.repeat(60) }, { bin: 'a'.repeat(60) }],
    [
      { operation: ' Withdraw ', file: '', path: 'old/' },
      { operation: 'withdraw', file: [] },
    ],
    [
      { file: '', url: 'https://a.dev/x', marker: 'It works', channel: 'native' },
      { channels: ['K4'], file: [] },
    ],
  ])('takes the value that is set (%#)', (inputs, expected) => {
    expect(requestWith(inputs)).toMatchObject(expected);
  });

  test.each<[string, unknown]>([
    ['auto', 'auto'],
    [' AUTO ', 'auto'],
    ['K1', ['K1']],
    ['pages', ['K1']],
    ['release', ['K2']],
    ['k3', ['K3']],
    ['Filebin', ['K3']],
    ['K1+K3', ['K1', 'K3']],
    ['release, K3', ['K2', 'K3']],
  ])('parses the channel %j', (channel, channels) => {
    expect(requestWith({ channel }).channels).toEqual(channels);
  });

  test('parses the lines of `file`: a path of any kind, without the spaces around it, and patterns as they are', () => {
    const file = '\n /tmp/a.html \r\nout/my b.html\n\n!out/**';
    expect(requestWith({ file }).file).toEqual(['/tmp/a.html', 'out/my b.html', '!out/**']);
    expect(requestWith({ file: 'a.html\n'.repeat(500) }).file).toHaveLength(500);
  });

  test('dates the tag in UTC, and gives the bin a random ending within the limits of the host', () => {
    const now = Date.UTC(2026, 11, 31, 23, 59, 59);
    expect(requestWith({}, { now }).tag).toBe('files-20261231');
    const draws = Array.from({ length: 16 }, (_, nth) => nth / 16);
    const { bin } = requestWith({}, { random: () => draws.pop() ?? Number.NaN });
    expect(bin).toBe('sv1767323045-xvtromkifdb96420');
    expect(draws).toEqual([]);
  });
});

describe('a switch', () => {
  test.each(['True', 'TRUE', ' true ', 'False', 'FALSE'])('can be %j', (text) => {
    expect(requestWith({ overwrite: text }).overwrite).toBe(text.trim().toLowerCase() === 'true');
  });

  const SWITCHES = INPUT_NAMES.filter((name) => INPUTS[name].json === 'boolean');
  test.each(SWITCHES)('`%s` is refused unless it is true or false', (name) => {
    for (const text of ['', 'no', '1', 'tRue']) {
      expect(parseError({ [name]: text })).toMatchObject({
        message: `input \`${name}\` is neither true nor false`,
        hint: `set \`${name}: true\` or \`${name}: false\``,
      });
    }
  });
});

describe('parseRequest, given a client id', () => {
  test.each<[string, Partial<RawInputs>]>([
    ['with a repository', { repository: 'octo/site' }],
    ['that a token makes useless', { token: 'ghp_0123456789', repository: '' }],
    ['for the public bin alone', { channel: 'K3', repository: '' }],
    ['for a link', { file: '', url: 'https://a.dev/x', marker: 'a text', repository: '' }],
  ])('accepts it %s', (_, inputs) => {
    expect(requestWith({ 'client-id': 'Iv1.0123', ...inputs }).clientId).toBe('Iv1.0123');
  });
});

test('parseRequest names content by its name and keeps every byte, and takes a stream in its place', () => {
  const request = requestWith({ file: '', content: ' <p>x</p>\n', name: 'my page.html' });
  expect(request).toMatchObject({ file: ['my-page.html'], content: ' <p>x</p>\n' });
  const contentStream = Readable.from([]);
  const streamed = requestWith({ file: '', name: 'a.html' }, { contentStream });
  expect(streamed).toMatchObject({ file: ['a.html'], content: contentStream });
});

test('the essence of the commit is always one line', () => {
  const origin = 'from run 7 of x\n\nDelivered-by: screen-delivery';
  expect(requestWith({}, { fileSource: origin }).essence).toBe(
    'from run 7 of x Delivered-by: screen-delivery',
  );
  expect(requestWith({ message: 'a\nb' }, { fileSource: origin }).essence).toBe('a b');
});
