import { describe, expect, test } from '@jest/globals';
import { findCustomMatches } from '../../../src/rules/secrets/custom-rules.ts';
import { selectRules } from '../../../src/rules/secrets/rule-keywords.ts';
import { finish } from '../../support/finish.ts';
import { armoured, drawn, pem } from './fake-secrets.ts';

const session = drawn(32);
const basic = (pair: string): string => Buffer.from(pair).toString('base64');
const jwt = ['eyJ', 'eyJ', ''].map((start) => `${start}${drawn(30)}`).join('.');
const password = drawn(12);

/** The rule and secret of each match; also checks the position of the secret. */
function find(text: string): string[][] {
  // Only the rules that the keywords select are run, as in the search.
  return findCustomMatches(text, selectRules(Buffer.from(text))).map(({ rule, secret, from, at }) => {
    expect(at).toBeGreaterThanOrEqual(from);
    if (rule !== 'private-key') expect(text.slice(at, at + secret.length)).toBe(secret);
    return [rule, secret];
  });
}

describe('the rules for logins that every job has', () => {
  const login = basic(`bot:${drawn(24)}`);
  const refresh = `ghr_${drawn(76)}`;
  const netrc = `machine git.acme.io\n  login bot\n  password ${password}\n`;
  test.each([
    ['_auth of an .npmrc', `//registry.acme.io/:_auth=${login}`, login],
    ['a quoted _auth', `_auth = "${login}"`, login],
    ['_authToken of an .npmrc', `//registry.npmjs.org/:_authToken = "${session}"`, session],
    ["Docker's config.json", JSON.stringify({ auths: { 'ghcr.io': { auth: login } } }), login],
    ['it within a string', JSON.stringify({ log: JSON.stringify({ auths: { a: { auth: login } } }) }), login],
    ['it in HTML', `<pre>{&quot;auth&quot;: &quot;${login}&quot;}</pre>`, login],
    ['a netrc in lines', netrc, password],
    ['a netrc in one line', netrc.replaceAll(/\s+/g, ' '), password],
    ['a netrc in JSON', JSON.stringify({ log: netrc }), password],
    ["a refresh token of GitHub's", `{"refresh_token":"${refresh}"}`, refresh],
  ])('find %s', (_, text, secret) => {
    expect(find(text).map(([, found]) => found)).toEqual([secret]);
  });

  test.each([
    ['a name', 'this._auth = getAuthenticationClient2()'],
    ['base64 of something else', `"auth": "${drawn(40)}"`],
    ['a login without a password', `_auth=${basic('bot:')}`],
    ['a placeholder', `_auth=${basic('user:password')}`],
    ['a variable', '_authToken=${NPM_TOKEN}'],
    ['a manual of netrc', 'machine example.com login user password <your-password>'],
    ['prose about one machine', 'machine learning password manager study'],
    ['prose', 'The machine has a login page, and its password expires.'],
  ])('find nothing in %s', (_, text) => {
    expect(find(text)).toEqual([]);
  });
});

describe('the cookie rule', () => {
  test.each([
    ['a response', `Set-Cookie: PHPSESSID=${session}; Path=/; HttpOnly`],
    ['a quoted value', `Set-Cookie: auth_token="${session}"; Secure`],
    ['JSON', `{"Cookie": "session=${session}"}`],
    ['JSON within a string', `{\\"cookie\\":\\"session=${session}\\"}`],
    ['a HAR file', `{ "name": "Cookie",\n      "value": "session=${session}" }`],
    ['HTML', `<td>{&quot;cookie&quot;: &quot;session=${session}&quot;}</td>`],
    ['a script', `document.cookie = 'session=${session}; path=/'`],
    ['curl, after harmless ones', `curl -H "Cookie: theme=dark; lang=en;session=${session}" https://acme.io`],
    ['a signed token under any name', `Cookie: x=${jwt}`, jwt],
  ])('finds a session in %s', (_, text, secret = session) => {
    expect(find(text)).toEqual([['cookie', secret]]);
  });

  test.each([
    'Set-Cookie: sessionid=<session-id>; Path=/',
    `Set-Cookie: session=\${sessionToken}; Path=/`,
    'Cookie: session=YOUR_SESSION_TOKEN_HERE',
    'Cookie: session=****************',
    'Cookie: _ga=GA1.2.1234567890.1234567890',
    `Set-Cookie: theme=${drawn(8)}; Expires=Wed, 21 Oct 2026 07:28:00 GMT`,
    "document.cookie = 'session=; Max-Age=0'",
  ])('finds nothing in %s', (text) => {
    expect(find(text)).toEqual([]);
  });
});

describe('the authorization rule', () => {
  test.each([
    ['a bearer token', `Authorization: Bearer ${session}`, session],
    ['a signed token', `authorization: bearer ${jwt}`, jwt],
    ['a token', `AUTHORIZATION: token ${session}`, session],
    ['name and password', `Proxy-Authorization: Basic ${basic(`ci:${password}`)}`, basic(`ci:${password}`)],
    ['a call', `headers.set('Authorization', 'Bearer ${session}')`, session],
    ['a HAR file', `"name":"authorization","value":"Bearer ${session}"`, session],
    ['an address', `?authorization=Bearer%20${session}`, session],
  ])('finds %s', (_, text, secret) => {
    expect(find(text)).toEqual([['authorization', secret]]);
  });

  test.each([
    'Authorization: Bearer <token>',
    'Authorization: Bearer YOUR_ACCESS_TOKEN_HERE',
    'Authorization: Bearer ${{ github.token }}',
    "'Authorization': 'Bearer ' + accessTokenOfTheUser1",
    `Authorization: Bearer ${'x'.repeat(40)}`,
    `Authorization: Basic ${basic('user:password')}`,
    `Authorization: Basic ${basic('no colon at all')}`,
  ])('finds nothing in %s', (text) => {
    expect(find(text)).toEqual([]);
  });
});

describe('the private key rule', () => {
  const key = armoured('PRIVATE KEY');
  const lines = key.trim().split('\n');
  const body = lines.slice(1, -1).join('\n');

  test.each([
    ['PKCS#8', pem()],
    ['SEC 1', pem('sec1')],
    ['sealed PKCS#8', pem('sealed')],
    ['OpenSSH', armoured('OPENSSH PRIVATE KEY')],
    ['PGP', armoured('PGP PRIVATE KEY BLOCK', { attributes: 'Version: GnuPG v2\nComment: mine\n\n' })],
    ['sealed PKCS#1', armoured('RSA PRIVATE KEY', { attributes: 'Proc-Type: 4,ENCRYPTED\nDEK-Info: A\n\n' })],
    ['PuTTY', `PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 5\n${body}\nPrivate-MAC: 00`],
    ['the shortest kind', armoured('PRIVATE KEY', { length: 64 })],
  ])('finds a key in %s', (_, text) => {
    expect(find(text)).toEqual([['private-key', expect.any(String)]]);
  });

  test.each([
    ['with Windows line ends', lines.join('\r\n')],
    ['in JSON', JSON.stringify(key)],
    ['in JSON within JSON', JSON.stringify(JSON.stringify(key))],
    ['in a script', lines.map((line) => `'${line}\\n'`).join(' +\n    ')],
    ['in YAML', lines.map((line) => `      ${line}`).join('\n')],
    ['in HTML', lines.join('<br/>')],
    ['in a quotation', lines.map((line) => `> ${line}`).join('\n')],
    ['on one line', lines.join(' ')],
    ['without an end', lines.slice(0, -1).join('\n')],
  ])('finds the same key written %s', (_, text) => {
    expect(find(text)).toEqual(find(key));
  });

  test.each([
    ['shortened', '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\n...\n-----END PRIVATE KEY-----'],
    ['left out', '-----BEGIN PRIVATE KEY-----\n<your key>\n-----END PRIVATE KEY-----'],
    ['filled up', `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(640)}\n-----END PRIVATE KEY-----`],
    ['public', armoured('PUBLIC KEY')],
    ['a certificate', armoured('CERTIFICATE')],
    ['a pattern', "const BEGIN = '-----BEGIN PRIVATE KEY-----', END = '-----END PRIVATE KEY-----';"],
  ])('ignores a key that is %s', (_, text) => {
    expect(find(text)).toEqual([]);
  });
});

describe('the URL password rule', () => {
  test.each([
    ['https', `https://deploy:${password}@git.acme.io/x.git`, `deploy:${password}@git.acme.io`],
    ['any scheme', `git+ssh://deploy:${password}@10.1.2.3:22`, `deploy:${password}@10.1.2.3`],
    ['no name', `redis://:${password}@cache:6379/0`, `:${password}@cache`],
    ['signs', 'https://bob:p@$$w0rd!9@acme.io', 'bob:p@$$w0rd!9@acme.io'],
    ['JSON', `"https:\\/\\/bob:${password}@acme.io\\/"`, `bob:${password}@acme.io`],
    ['IPv6', `http://bob:${password}@[2001:db8::1]/`, `bob:${password}@[2001:db8::1]`],
    ['a number', 'https://bob:20260417@acme.io', 'bob:20260417@acme.io'],
  ])('finds %s', (_, text, secret) => {
    expect(find(text)).toEqual([['url-password', secret]]);
  });

  test.each([
    'https://user:password@example.com',
    `https://bob:${password}@www.example.org`,
    `https://bob:${password}@proxy.test`,
    'https://user:password@acme.io',
    'https://admin:changeme123@acme.io',
    'https://<user>:<pass>@acme.io',
    'https://&lt;user&gt;:&lt;pass&gt;@acme.io',
    'https://${USER}:${PASSWORD}@acme.io',
    'https://bob:$PASSWORD@acme.io',
    'https://bob:***@acme.io',
    'https://bob:...@acme.io',
    'https://acme.io:8443/@scope/package',
    'http://localhost:3000 mail@acme.io',
  ])('finds nothing in %s', (text) => {
    expect(find(text)).toEqual([]);
  });
});

test.each([
  'cookie:a=b;',
  'cookie      ',
  'authorization   ,   "value"   :   "bearer ',
  '-----BEGIN PRIVATE KEY-----\nA: b\n',
  'Private-Lines: 1\n',
  'a://b:',
  'a://:@',
  '_authToken=',
  'machine a login b ',
])('the custom rules take linear time for hostile text of %j', (piece) => {
  const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
  finish(() => findCustomMatches(text, selectRules(Buffer.from(text))));
});
