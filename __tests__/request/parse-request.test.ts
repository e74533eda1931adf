import { describe, expect, test } from '@jest/globals';
import { DeliveryError } from '../../src/errors.ts';
import { parseBoolean } from '../../src/request/input-kinds.ts';
import type { RawInputs } from '../../src/request/inputs.ts';
import { parseRequest } from '../../src/request/parse-request.ts';
import { rawInputs, requestWith, runContextWith } from '../delivery/builders.ts';

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
])(
  'A file that may come from %j is surely from the repository that is published in: %s.',
  (sources, expected) => {
    expect(requestWith({ repository: 'octo/site' }, { sources }).isFromTarget).toBe(expected);
  },
);

describe('parseRequest, given a wrong input', () => {
  test.each<[string, Partial<RawInputs>, RegExp, RegExp]>([
    ['a request with nothing to deliver', { file: '' }, /nothing to deliver/, /`file:`.*`url:`/],
    ...[
      { channel: 'auto' },
      { channel: 'K2+K3' },
      { channel: 'auto', operation: 'withdraw', path: 'a.html' },
    ].map((inputs): [string, Partial<RawInputs>, RegExp, RegExp] => [
      `a client id without a repository: ${JSON.stringify(inputs)}`,
      { ...inputs, 'client-id': 'Iv1.0123', repository: '' },
      /`client-id` is given, but no repository/,
      /`repository: owner\/name`.*`client-id:`/,
    ]),
    [
      'content without a name',
      { file: '', content: 'x' },
      /`content` has no file name/,
      /`name:`.*page\.html/,
    ],
    ['a name without content', { file: '', name: 'a.html' }, /`content` is empty/, /`content:`.*`name:`/],
    ['a name for a file', { name: 'a.html' }, /`content` is empty/, /leave `name:` out/],
    [
      'content of spaces alone',
      { file: '', content: ' \n', name: 'a.html' },
      /`content` is empty/,
      /^give a text/,
    ],
    ['a file and content', { content: 'x', name: 'a.html' }, /are both given/, /^leave one of them out$/],
    ...['a/b.html', 'a\\b.html', '..', '.git', 'a\u202eb.html', 'x'.repeat(256)].map(
      (name): [string, Partial<RawInputs>, RegExp, RegExp] => [
        `content with a name that is no file name: ${JSON.stringify(name.slice(0, 12))}`,
        { file: '', content: 'x', name },
        /`name` is not a file name/,
        /^set `name:` .*no folder$/,
      ],
    ),
    [
      'more lines than a step takes',
      { file: 'a.html\n'.repeat(501) },
      /`file` has 501 lines/,
      /at most 500 files/,
    ],
    [
      'an operation that is neither deliver nor withdraw',
      { operation: 'remove' },
      /`operation` is not one of deliver, withdraw/,
      /^choose one of them$/,
    ],
    [
      'a withdrawal of nothing',
      { operation: 'withdraw', file: '' },
      /nothing to withdraw/,
      /^name a file, or set `path:`$/,
    ],
    [
      'a withdrawal of a link',
      { operation: 'withdraw', channel: 'K4' },
      /K4.*can't be withdrawn/,
      /K1, K2 or K3/,
    ],
    [
      'a withdrawal from a bin without its name',
      { operation: 'withdraw', channel: 'K1+K3' },
      /the bin to withdraw from is not named/,
      /`bin:`/,
    ],
    [
      'a dry-run value that is not a boolean',
      { 'dry-run': 'maybe' },
      /`dry-run` is neither/,
      /`dry-run: true`/,
    ],
    [
      'an address in place of a file',
      { file: 'a.html\nhttps://octo.github.io/site/a.html' },
      /`file` is an address and names no file/,
      /`url:` to the link/,
    ],
    [
      'an address to withdraw, which would be taken for the file name at its end',
      { operation: 'withdraw', file: 'https://octo.github.io/site/previews/a.html' },
      /`file` is an address and names no file/,
      /`path:` to the place within the repository/,
    ],
    ['a file with a NUL', { file: 'a\0.html' }, /`file` holds a control character/, /remove it/],
    [
      'an unknown channel',
      { channel: 'K5' },
      /`channel` names an unknown channel: K5/,
      /K1 \(pages\).*K1\+K3/,
    ],
    ['an empty channel', { channel: '' }, /unknown channel: nothing/, /auto/],
    [
      'an unknown screen mode',
      { screen: 'yes' },
      /`screen` is not one of auto, enforce, off/,
      /^choose one of them$/,
    ],
    ['a picture without a browser', { screen: 'off', picture: 'true' }, /needs a browser/, /`screen: auto`/],
    ['a channel list with a gap', { channel: 'K1+' }, /unknown channel: nothing/, /auto/],
    ['auto in a list', { channel: 'auto+K3' }, /unknown channel: auto/, /list such as K1\+K3/],
    [
      'a tag and a bin for `auto`',
      { tag: 'v1', bin: 'my-own-bin' },
      /`tag` and input `bin` name different channels/,
      /leave out all but one.*`channel:`/,
    ],
    [
      'a withdrawal of a folder from a release',
      { operation: 'withdraw', file: '', path: 'a/', tag: 'v1' },
      /K2 and K3 have no folders/,
      /`file:`/,
    ],
    ['a channel twice', { channel: 'K1+pages' }, /names a channel twice: K1\+pages/, /`channel: K1\+K3`/],
    ['channel K4 without a link', { channel: 'K4' }, /K4 needs the link/, /`url:`.*K1, K2 or K3/],
    ['channel K4 as a duplicate without a link', { channel: 'K1+K4' }, /K4 needs the link/, /`url:`/],
    [
      'a link for a channel that needs a file',
      { file: '', url: 'https://a.dev/x', channel: 'K1', marker: 'It works' },
      /`file` is missing/,
      /^name it; .*channel: K4$/,
    ],
    [
      'a link without a marker or a file',
      { file: '', url: 'https://a.dev/x' },
      /can't be proven/,
      /`marker:`.*`file:`/,
    ],
    ...['m', 'ab', ' ', '\n\n\n\n', ' a\u200bb ', '\u202e\u202e\u202e\u202e', '日本'].map(
      (marker): [string, Partial<RawInputs>, RegExp, RegExp] => [
        `a marker that almost any page has: ${JSON.stringify(marker)}`,
        { marker },
        /`marker` has fewer than 3 characters/,
        /`marker:`/,
      ],
    ),
    ...[
      'share-42',
      'a.dev',
      'Share 42',
      '"share-42"',
      '/q/share-42',
      'q%2Fshare-42',
      'x=Übung',
      'x=%C3%9Cbung',
    ].map((marker): [string, Partial<RawInputs>, RegExp, RegExp] => [
      `a marker that the link itself has: ${marker}`,
      { file: '', url: 'https://a.dev/q/share-42?x=%C3%9Cbung', marker },
      /`marker` is a part of the link/,
      /`marker:`/,
    ]),
    [
      'a marker that is too long',
      { marker: 'ж'.repeat(32_769) },
      /`marker` is longer than 65536 bytes/,
      /short text/,
    ],
    ['a repository without an owner', { repository: 'site' }, /`repository` is not .*: site/, /owner\/name/],
    ['the address of a repository', { repository: 'https://github.com/a/b' }, /`repository`/, /owner\/name/],
    ['a repository named .', { repository: 'octo/.' }, /`repository`/, /owner\/name/],
    ['a repository named ..', { repository: 'octo/..' }, /`repository`/, /owner\/name/],
    ['a repository with a path', { repository: 'octo/site/x' }, /`repository`/, /owner\/name/],
    [
      'a branch with a space',
      { branch: 'my branch' },
      /`branch` is not a valid git name: my branch/,
      /`branch:`/,
    ],
    ['a branch with ..', { branch: 'a..b' }, /`branch`/, /`branch:`/],
    ['a branch that starts like an option', { branch: '-f' }, /`branch`/, /`branch:`/],
    ['a branch with an empty part', { branch: 'a//b' }, /`branch`/, /`branch:`/],
    ['a branch that ends in .lock', { branch: 'a.lock' }, /`branch`/, /`branch:`/],
    ['a branch with a hidden part', { branch: 'a/.b' }, /`branch`/, /`branch:`/],
    [
      'a workflow that is a path',
      { 'site-workflow': 'ci/pages.yml' },
      /`site-workflow` is not the file name of a workflow: ci\/pages\.yml/,
      /pages\.yml/,
    ],
    ...['github-pages', 'GitHub-Pages'].map((environment): [string, Partial<RawInputs>, RegExp, RegExp] => [
      `the environment ${environment}`,
      { environment },
      /`environment` is the environment of GitHub Pages itself/,
      /such as preview/,
    ]),
    ...['github-pages\u200b', 'a,b', "it's", 'a\nb', 'a\\b', 'x'.repeat(256)].map(
      (environment): [string, Partial<RawInputs>, RegExp, RegExp] => [
        `the environment ${JSON.stringify(environment.slice(0, 20))}`,
        { environment },
        /`environment` is not the name of an environment: /,
        /such as preview/,
      ],
    ),
    ['a workflow that is a name', { 'site-workflow': 'Pages' }, /`site-workflow`/, /\.github\/workflows/],
    ['a branch as a full name', { branch: 'refs/heads/main' }, /is not a valid git name: refs/, /refs\//],
    [
      'a tag as the full name of a branch',
      { tag: 'refs/heads/main' },
      /is not a valid git name/,
      /`tag:`.*without refs/,
    ],
    ['a tag that is called HEAD', { tag: 'HEAD' }, /valid git name: HEAD/, /`tag:`/],
    ['a tag that is an id', { tag: 'ab12'.repeat(10) }, /valid git name: ab12/, /`tag:`/],
    ['a tag with a colon', { tag: 'v:1' }, /`tag` is not a valid git name: v:1/, /`tag:`/],
    ['a tag with @{', { tag: 'v@{1}' }, /`tag`/, /`tag:`/],
    ['a tag that ends in a slash', { tag: 'v/' }, /`tag`/, /`tag:`/],
    ['a bin name that is too short', { bin: 'sv12345' }, /`bin`/, /8 to 60 letters/],
    ['a bin name that is too long', { bin: 'a'.repeat(61) }, /`bin`/, /8 to 60 letters/],
    ['a bin name with a dot', { bin: 'my.bin.12' }, /`bin`/, /8 to 60 letters/],
    [
      'an overwrite value that is not a boolean',
      { overwrite: 'yes' },
      /`overwrite` is neither true nor false/,
      /`overwrite: true`/,
    ],
    [
      'an empty boolean',
      { 'allow-public-bin': '' },
      /`allow-public-bin` is neither/,
      /`allow-public-bin: false`/,
    ],
    ['a timeout above the limit', { timeout: '1801' }, /`timeout` is 1801, .* and 1800$/, /`timeout: 240`/],
    ['a timeout of 0', { timeout: '0' }, /`timeout` is 0/, /`timeout: 240`/],
    ['a timeout in words', { timeout: 'long' }, /`timeout` is long, not a number/, /`timeout: 240`/],
    ['an empty timeout', { timeout: '' }, /`timeout` is empty/, /`timeout: 240`/],
    ['a negative timeout', { timeout: '-5' }, /`timeout` is -5/, /`timeout: 240`/],
    ['a timeout with an exponent', { timeout: '1e2' }, /`timeout` is 1e2/, /`timeout: 240`/],
    [
      'a poll interval that is too short',
      { 'poll-interval': '0.01' },
      /`poll-interval` is 0.01/,
      /`poll-interval: 5`/,
    ],
    [
      'a poll interval above the limit',
      { 'poll-interval': '241' },
      /`poll-interval` is 241, .* and 240$/,
      /`poll-interval: 5`/,
    ],
    [
      'an API address without https',
      { 'api-url': 'http://api.github.com' },
      /`api-url` is not an https address/,
      /`api-url: https/,
    ],
    ['an empty API address', { 'api-url': '' }, /`api-url`/, /`api-url: https/],
    ['a server address that is not a URL', { 'auth-url': 'github' }, /`auth-url`/, /`auth-url: https/],
    [
      'an API of one instance and a server of another',
      { 'api-url': 'https://git.corp.io/api/v3' },
      /two instances: git\.corp\.io belongs to git\.corp\.io, not to github\.com/,
      /`auth-url: https:\/\/git\.corp\.io`/,
    ],
    [
      'a server of one instance and an API of another',
      { 'auth-url': 'https://acme.ghe.com' },
      /api\.github\.com belongs to github\.com, not to acme\.ghe\.com/,
      /`api-url:` to the API of acme\.ghe\.com/,
    ],
    [
      'a pages base with a password',
      { 'pages-base': 'https://u:p@a.dev' },
      /without credentials/,
      /`pages-base: https/,
    ],
    ['a raw base with a user name', { 'raw-base': 'https://u@a.dev' }, /`raw-base`/, /`raw-base: https/],
    ['a bin host without https', { 'bin-host-url': 'ftp://a.dev' }, /`bin-host-url`/, /`bin-host-url: https/],
  ])('refuses %s in one sentence that says what to change', (_, inputs, message, hint) => {
    const error = parseError(inputs);
    expect(error).toMatchObject({ code: 'BAD_INPUT', step: 'check', httpCode: undefined });
    expect(error.message).toMatch(message);
    expect(error.message).not.toMatch(/\n|[^./]\.$/);
    expect(error.hint).toMatch(hint);
  });

  test.each([
    ['../a.html', 'contains . or .. as a folder', /^write it without them/],
    ['/a.html', 'starts with a slash', /^write it without this slash/],
    ['a b.html', 'contains a space', /^remove it, or write - or _/],
    ['a.html ', 'contains a space', /^remove it/],
    ['a//', 'has an empty folder or file name', /^remove the extra slash$/],
    ['/', 'is empty', /^name a file$/],
    ['a\\b.html', 'contains a backslash', /^separate folders by \/$/],
    ['.github/', 'leads into .github', /^choose another place$/],
  ])('refuses the path %j, names the broken rule and says what to change', (path, problem, hint) => {
    const message = `input \`path\` ${problem}`;
    expect(parseError({ path })).toMatchObject({
      code: 'BAD_INPUT',
      message,
      hint: expect.stringMatching(hint),
    });
  });

  test.each([
    'sandbox:/mnt/data/a.html',
    '/mnt/data/a.html',
    'file:///tmp/a.html',
    'http://a.dev/x',
    'https://localhost/x',
    'https://10.0.0.1/x',
    'https://u:p@a.dev/x',
  ])('refuses the link %s because it is not external', (url) => {
    const error = parseError({ url });
    expect(error.code).toBe('NOT_EXTERNAL');
    expect(error.message).toMatch(/^input `url` is not an external https address: /);
    expect(error.hint).toContain('K1, K2 or K3');
  });

  test.each(['bin-host-url', 'pages-base', 'raw-base'] as const)(
    'refuses a host in `%s` that leads to a machine itself, and accepts one in a network',
    (name) => {
      for (const host of ['localhost:8443', '127.0.0.1', '[::1]', '169.254.169.254', '0x7f.1']) {
        expect(parseError({ [name]: `https://${host}/x` })).toMatchObject({
          code: 'NOT_EXTERNAL',
          message: expect.stringContaining(`input \`${name}\` is not an external https address`),
        });
      }
      expect(() => requestWith({ [name]: 'https://files.octo.internal/' })).not.toThrow();
    },
  );

  test.each(['null', '17', 'ready', 'undefined', 'page.html', 'ghs_'])('refuses the token %s', (token) => {
    expect(parseError({ token })).toMatchObject({
      code: 'BAD_INPUT',
      message: 'input `token` is too short or too common to be a token',
    });
  });

  test('takes no value for a credential that is too short or too common', () => {
    const { ownSecrets } = requestWith({ token: 'ghs_s3cret' }, { secrets: ['17', 'ready', 'ghs_0ther'] });
    expect(ownSecrets).toEqual(['ghs_s3cret', 'ghs_0ther']);
  });

  test('repeats a wrong value in one short line', () => {
    const error = parseError({ branch: `a\n::set-output name=x::${'y'.repeat(500)}` });
    expect(error.message).not.toContain('\n');
    expect(error.message.length).toBeLessThan(260);
  });
});

describe('parseRequest, given correct inputs', () => {
  test('fills in every default', () => {
    expect(requestWith()).toEqual({
      operation: 'deliver',
      fileLines: ['page.html'],
      folder: '/work',
      channels: 'auto',
      marker: undefined,
      token: undefined,
      repository: { owner: 'octo', repo: 'site' },
      branch: undefined,
      path: undefined,
      entry: 'index.html',
      prune: true,
      keep: undefined,
      nojekyll: false,
      setup: false,
      essence: 'from run 7 of Deliver',
      runtime: null,
      job: 'Deliver/deliver',
      tag: 'files-20260102',
      tagIsDefault: true,
      earlierTag: 'files-20260101',
      bin: 'sv1767323045-iiiiiiiiiiiiiiii',
      binIsNew: true,
      url: undefined,
      scopedInputs: [],
      overwrite: false,
      dryRun: false,
      clientId: undefined,
      selfContained: 'auto',
      screen: 'auto',
      onFailure: 'keep',
      browserSandbox: true,
      picture: false,
      allowSecret: [],
      ownSecrets: [],
      allowedRoots: [],
      allowPublicBin: false,
      comment: false,
      failOnNotReady: true,
      timeout: 240_000,
      interval: 5_000,
      apiUrl: new URL('https://api.github.com'),
      serverUrl: new URL('https://github.com'),
      pagesBase: undefined,
      rawBase: undefined,
      binHostUrl: new URL('https://filebin.net'),
      sourceIsPrivate: null,
      isFromTarget: true,
      issue: false,
      allowsFullPaths: false,
    });
  });

  test('shortens the poll interval to a shorter timeout', () => {
    expect(requestWith({ timeout: '3' })).toMatchObject({ timeout: 3_000, interval: 3_000 });
  });

  test('takes every value that is set', () => {
    const request = requestWith({
      token: 'ghs_token',
      channel: 'K1',
      marker: 'It works',
      branch: 'gh-pages',
      path: 'docs/a.html',
      message: ' two\n lines ',
      tag: 'release/v1',
      bin: 'my_bin-1',
      url: 'https://a.dev/x',
      overwrite: 'TRUE',
      'allow-public-bin': 'True',
      'dry-run': 'true',
      comment: 'True',
      'fail-on-not-ready': 'FALSE',
      'self-contained': ' Warn ',
      'allow-secret': 'aa, bb\ncc',
      'client-id': 'Iv1.0123456789abcdef',
      timeout: '60.5',
      'poll-interval': '0.5',
      'pages-base': 'https://pages.dev/',
      'raw-base': 'https://raw.dev/',
    });
    expect(request).toMatchObject({
      token: 'ghs_token',
      marker: 'It works',
      branch: 'gh-pages',
      path: 'docs/a.html',
      essence: 'two lines',
      tag: 'release/v1',
      tagIsDefault: false,
      bin: 'my_bin-1',
      binIsNew: false,
      url: new URL('https://a.dev/x'),
      overwrite: true,
      dryRun: true,
      comment: true,
      failOnNotReady: false,
      allowPublicBin: true,
      clientId: 'Iv1.0123456789abcdef',
      selfContained: 'warn',
      allowSecret: ['aa', 'bb', 'cc'],
      ownSecrets: ['ghs_token'],
      timeout: 60_500,
      interval: 500,
      pagesBase: new URL('https://pages.dev/'),
      rawBase: new URL('https://raw.dev/'),
    });
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

  test.each(['K4', 'native'])('parses the channel %s for a link', (channel) => {
    const request = requestWith({ file: '', url: 'https://a.dev/x', marker: 'It works', channel });
    expect(request).toMatchObject({ channels: ['K4'], fileLines: [] });
  });

  test.each([
    ['a path of any kind, without the spaces around it', ' /tmp/a.html ', ['/tmp/a.html']],
    ['each line', 'a.html\nout/my b.html\n', ['a.html', 'out/my b.html']],
    ['each line that ends as on Windows', 'a.html\r\nb.html', ['a.html', 'b.html']],
    ['no empty line', '\n a.html\n\n  \nb.html', ['a.html', 'b.html']],
    ['a pattern as it is written', '!out/**\n[x].html', ['!out/**', '[x].html']],
    ['as many lines as a step takes', 'a.html\n'.repeat(500), Array(500).fill('a.html')],
  ])('parses from `file` %s', (_, file, lines) => {
    expect(requestWith({ file })).toMatchObject({ fileLines: lines, folder: '/work' });
  });

  test.each<[Partial<RawInputs>, object]>([
    [{ operation: ' Withdraw ' }, { operation: 'withdraw', fileLines: ['page.html'] }],
    [
      { operation: 'withdraw', file: '', path: 'previews/' },
      { fileLines: [], path: 'previews/' },
    ],
    [
      { operation: 'withdraw', channel: 'K3', bin: 'my-own-bin' },
      { channels: ['K3'], bin: 'my-own-bin' },
    ],
  ])('parses the withdrawal %o', (inputs, expected) => {
    expect(requestWith(inputs)).toMatchObject(expected);
  });

  test('dates the tag in UTC', () => {
    const around = { now: Date.UTC(2026, 11, 31, 23, 59, 59) };
    expect(requestWith({}, around).tag).toBe('files-20261231');
  });

  test('gives the bin a random ending within the limits of the host', () => {
    const draws = Array.from({ length: 16 }, (_, nth) => nth / 16);
    const { bin } = requestWith({}, { random: () => draws.pop() ?? Number.NaN });
    expect(bin).toBe('sv1767323045-xvtromkifdb96420');
    expect(draws).toEqual([]);
  });

  test('has no repository if the input is empty', () => {
    expect(requestWith({ repository: '' }).repository).toBeUndefined();
  });

  test('passes on whether the file comes from a private repository', () => {
    expect(requestWith({}, { sourceIsPrivate: true }).sourceIsPrivate).toBe(true);
  });

  test('accepts the longest timeout and the shortest poll interval', () => {
    expect(requestWith({ timeout: '240', 'poll-interval': '0.05' })).toMatchObject({
      timeout: 240_000,
      interval: 50,
    });
  });

  test('accepts inputs that are exactly as long as their limit', () => {
    expect(requestWith({ marker: 'm'.repeat(65_536), bin: 'a'.repeat(60) }).bin).toHaveLength(60);
  });
});

describe('parseBoolean', () => {
  test.each(['true', 'True', 'TRUE', ' true '])('parses %j as true', (text) => {
    expect(parseBoolean(text, 'overwrite')).toBe(true);
  });

  test.each(['false', 'False', 'FALSE'])('parses %j as false', (text) => {
    expect(parseBoolean(text, 'overwrite')).toBe(false);
  });

  test.each(['overwrite', 'dry-run', 'allow-public-bin', 'comment', 'fail-on-not-ready'] as const)(
    'parseRequest refuses `%s` unless it is true or false',
    (name) => {
      for (const text of ['', 'no', '1', 'tRue']) {
        expect(() => parseRequest(rawInputs({ file: 'a', [name]: text }), runContextWith())).toThrow(
          `input \`${name}\` is neither true nor false`,
        );
      }
    },
  );
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

describe('parseRequest, given content', () => {
  test('names the subject by it, and keeps every byte', () => {
    const request = requestWith({ file: '', content: ' <p>x</p>\n', name: 'my page.html' });
    expect(request.fileLines).toEqual(['my-page.html']);
    expect(request.content).toEqual({ name: 'my-page.html', bytes: ' <p>x</p>\n' });
  });

  test('of an interface, such as standard input, takes it in place of the input', () => {
    async function* contentStream() {
      yield Buffer.from('x');
    }
    const request = requestWith({ file: '', name: 'a.html' }, { contentStream: contentStream() });
    expect(request.content?.bytes).not.toBe('');
    expect(request.fileLines).toEqual(['a.html']);
  });
});

test('the essence of the commit is one line, whatever the name of the workflow is', () => {
  const origin = 'from run 7 of x\n\nDelivered-by: screen-delivery';
  expect(requestWith({}, { origin }).essence).toBe('from run 7 of x Delivered-by: screen-delivery');
  expect(requestWith({ message: 'a\nb' }, { origin }).essence).toBe('a b');
});
