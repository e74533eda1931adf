import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { CONVERT, MEGABYTE } from '../../src/protocol/limits.ts';
import type { RawInputs } from '../../src/request/inputs.ts';
import { temporaryFolder } from '../support/files.ts';
import type { BufferedReply } from '../world/server/interceptions.ts';
import { type PlayedDelivery, proven, refused, setUpPlay, writesOf } from './play.ts';
import { MARKER } from './scenario.ts';

const play = setUpPlay();
const CDN = 'https://cdn.octo.dev';
const SCRIPT = 'document.title = "from the CDN";';
const STYLE = 'p { color: teal }';
const page = (head: string): string =>
  `<!doctype html>\n<html lang="en"><head><title>Report</title>\n${head}\n</head><body><p>${MARKER}</p></body></html>\n`;
const SCRIPTED = page(`<script src="${CDN}/a.js"></script>`);
const STYLED = page(`<link rel="stylesheet" href="style.css"><script src="${CDN}/a.js"></script>`);

let answers: Record<string, BufferedReply>;
beforeEach(() => {
  answers = { '/a.js': { status: 200, headers: { 'content-type': 'text/javascript' }, body: SCRIPT } };
  play.world.host('cdn.octo.dev', ({ path }) => answers[path] ?? { status: 404, body: 'not here' });
});

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const deliver = (
  files: PlayedDelivery['files'],
  inputs: Partial<RawInputs> = {},
  more: PlayedDelivery = {},
) => play.deliver({ files: files ?? {}, inputs: { 'self-contained': 'inline', ...inputs }, ...more });

describe('self-contained: inline', () => {
  test('delivers the page with what it needs, and says what came from where', async () => {
    const played = await proven(deliver({ 'page.html': STYLED, 'style.css': STYLE }));
    const { report, repository, log } = played;
    const served = String(await repository.read('page.html'));
    expect(served).not.toMatch(/(?:src|href)="(?!data:)|\.invalid/);
    expect(report.file).toEqual({ path: 'page.html', size: served.length, sha256: sha256(served) });
    const said = "inlined 2 files, 1 KB, from cdn.octo.dev and the page's folder";
    expect(report.lines.CODE).toContain(`; ${said}`);
    expect(log).toContain(said);
    const inlined = [
      { url: 'style.css', sha256: sha256(STYLE), size: STYLE.length },
      { url: `${CDN}/a.js`, sha256: sha256(SCRIPT), size: SCRIPT.length },
    ];
    expect(report.inlined).toEqual(inlined);
    // The same inputs give the same bytes, so nothing is committed again.
    const again = await proven(deliver({ 'page.html': STYLED, 'style.css': STYLE }, {}, { repository }));
    expect(again.report.file?.sha256).toBe(report.file?.sha256);
    expect(writesOf(again)).toEqual([]);
  });

  test('takes no marker that only the inlined files have', async () => {
    const marker = SCRIPT.slice(0, 20);
    await refused(deliver({ 'page.html': SCRIPTED }, { marker }), /^check: the expected text was not found/);
  });

  test('asks other hosts without the token, a cookie or a private address', async () => {
    const { requests, sightings } = await proven(deliver({ 'page.html': SCRIPTED }));
    expect(requests.filter((one) => one.includes('cdn.octo.dev'))).toEqual([`GET ${CDN}/a.js`]);
    expect(sightings('cookie')).toEqual([]);
    expect(sightings('authorization').every(({ host }) => host.endsWith('github.com'))).toBe(true);
  });

  test.each<[string, Partial<RawInputs>, number]>([
    ['a release', { channel: 'K2' }, 1],
    ['a file-bin', { channel: 'K3', token: '' }, 1],
    ['several pages', { file: '*.html' }, 2],
    ['a text from a pipe', { file: '', content: SCRIPTED, name: 'page.html' }, 1],
  ])('works for %s', async (_, inputs, count) => {
    const { reports } = await proven(deliver({ 'page.html': SCRIPTED, 'two.html': SCRIPTED }, inputs));
    expect(reports.map(({ inlined }) => inlined?.map(({ url }) => url))).toEqual(
      Array(count).fill([`${CDN}/a.js`]),
    );
    expect(reports.flatMap(({ notes }) => notes).join()).not.toContain('had no effect');
    for (const { unknown } of reports) expect(unknown).toEqual([expect.stringMatching(/browser/)]);
  });

  test.each<[string, Partial<RawInputs>]>([
    ['a check', {}],
    ['a dry run', { 'dry-run': 'true' }],
  ])('%s says what the delivery says', async (kind, inputs) => {
    const around = kind === 'a check' ? { around: { checkOnly: true } } : {};
    const { report, requests } = await deliver({ 'page.html': SCRIPTED }, inputs, around);
    expect(report).toMatchObject({ result: 'planned', inlined: [{ url: `${CDN}/a.js` }] });
    expect(requests).toContain(`GET ${CDN}/a.js`);
    await refused(deliver({ 'page.html': page(`<img src="${CDN}/no.png">`) }, inputs, around), /HTTP 404/);
  });

  test.each<[string, string, boolean]>([
    ['ready', SCRIPTED, true],
    ['refused', page('<img src="gone.png">'), false],
  ])('changes no file at hand and leaves no private one: %s', async (_, text, ready) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'page.html'), text);
    const around = { folder, allowedRoots: [folder] };
    const { report } = await deliver({}, { file: 'page.html' }, { around });
    expect(report.ready).toBe(ready);
    expect(await readFile(join(folder, 'page.html'), 'utf8')).toBe(text);
    expect((await readdir(play.world.folder)).filter((name) => name.startsWith('screen-delivery-'))).toEqual(
      [],
    );
  });

  test('takes a file of another type as ever', async () => {
    const { report } = await proven(deliver({ 'a.txt': 'src="https://cdn.octo.dev/a.js"\n' }));
    expect(report.inlined).toBeUndefined();
  });

  test.each<[string, Record<string, string>, Partial<RawInputs>, RegExp]>([
    [
      'a folder',
      { 'dist/index.html': SCRIPTED },
      { file: 'dist/' },
      /^check: `self-contained: inline` is for a single page → name the page, or leave out `self-contained:`/,
    ],
    [
      'a missing file of another host',
      { 'page.html': page(`<script src="${CDN}/gone.js"></script>`) },
      {},
      /^check 404: page\.html line 3: https:\/\/cdn\.octo\.dev\/gone\.js can't be put into the page: its host answers HTTP 404 → correct its URL/,
    ],
    [
      'a missing file of its folder',
      { 'page.html': STYLED },
      {},
      /^check: page\.html line 3: style\.css can't be put into the page: the file style\.css does not exist → correct its URL in the page: it must/,
    ],
    [
      'a hidden file as a picture',
      { 'page.html': page('\n<img src=".env">'), '.env': 'A=1' },
      {},
      /^check: page\.html line 4: \.env can't be put into the page: the file \.env is hidden/,
    ],
    [
      'a hidden file, with its dot escaped',
      { 'page.html': page('<img src="a/%2e./%2eenv">'), '.env': 'A=1' },
      {},
      /^check: page\.html line 3: \.env can't be put into the page: the file \.env is hidden/,
    ],
    [
      'a file above its folder',
      { 'docs/page.html': page('<img src="../../secret.png">'), 'secret.png': 'x' },
      {},
      /^check: docs\/page\.html line 3: \.\.\/\.\.\/secret\.png can't be put into the page: it is above the page's folder/,
    ],
    [
      'a file above its folder, with the path escaped',
      { 'docs/page.html': page('<img src="..%2Fsecret.png">'), 'secret.png': 'x' },
      {},
      /can't be put into the page: it is above the page's folder/,
    ],
    [
      'a file that a line excludes',
      { 'page.html': page('<img src="a.png">'), 'a.png': 'x' },
      { file: '*.html\n!a.png' },
      /^check: page\.html line 3: a\.png can't be put into the page: a `!` line excludes it/,
    ],
    [
      'a path without an ending',
      { 'page.html': SCRIPTED },
      { path: 'preview' },
      /names a file of a type that browsers download/,
    ],
    [
      'a host of this machine',
      { 'page.html': page('<img src="https://localhost/a.png">') },
      {},
      /^check: page\.html line 3: https:\/\/localhost\/a\.png can't be put into the page: it is not an external https URL/,
    ],
    [
      'a private address',
      { 'page.html': page('<img src="https://10.0.0.1/a.png">') },
      {},
      /10\.0\.0\.1 is a private address/,
    ],
    [
      'a URL without https',
      { 'page.html': page('<img src="http://cdn.octo.dev/a.js">') },
      {},
      /it begins with http:, not https:/,
    ],
    [
      'what looks like a secret in a URL, which goes to nobody',
      { 'page.html': page(`<img src="${CDN}/a.js?key=ghp_${'x7Kq2mZ9'.repeat(4)}aBcD">`) },
      {},
      /^check: the file page\.html contains what looks like a secret/,
    ],
    [
      'a credential of the job in a URL, which goes to nobody',
      { 'page.html': page(`<img src="${CDN}/a.js?key=the-secret-of-this-job-0123456789">`) },
      {},
      /^check: the file page\.html contains a credential/,
    ],
  ])('refuses %s', async (_, files, inputs, says) => {
    const [file = ''] = Object.keys(files);
    const around = { secrets: [{ name: 'KEY', value: 'the-secret-of-this-job-0123456789' }] };
    const played = await refused(deliver(files, { file, ...inputs }, { around }), says);
    for (const secret of ['the-secret-of-this-job', 'ghp_x7Kq2mZ9'])
      expect(played.sightings(secret)).toEqual([]);
  });

  test.each<[string, BufferedReply, RegExp]>([
    [
      'a redirect into a private network',
      { status: 302, headers: { location: 'https://10.0.0.1/latest/meta-data' } },
      /a\.js can't be put into the page: it is not an external https URL: 10\.0\.0\.1 is a private address/,
    ],
    [
      'a redirect to http',
      { status: 302, headers: { location: 'http://cdn.octo.dev/b.js' } },
      /redirects to a URL that is not https/,
    ],
    [
      'a redirect in a circle',
      { status: 302, headers: { location: '/a.js' } },
      /redirects more than 10 times/,
    ],
    [
      '60 MB',
      { status: 200, body: Buffer.alloc(60 * MEGABYTE) },
      /^check: page\.html line 3: https:\/\/cdn\.octo\.dev\/a\.js can't be put into the page: a page may load at most 20 MB/,
    ],
    [
      'a bomb',
      { status: 200, headers: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(60 * MEGABYTE)) },
      /a page may load at most 20 MB/,
    ],
    [
      'a secret',
      { status: 200, body: `const token = 'ghp_${'x7Kq2mZ9'.repeat(4)}aBcD';` },
      /^check: page\.html line 3: the file https:\/\/cdn\.octo\.dev\/a\.js contains what looks like a secret/,
    ],
  ])('refuses %s from a host', async (_, reply, says) => {
    answers['/a.js'] = reply;
    await refused(deliver({ 'page.html': SCRIPTED }), says);
  });

  test('searches the page that comes out: only the host names the encoding of a secret', async () => {
    const body = Buffer.from(`/* ghp_${'x7Kq2mZ9'.repeat(4)}aBcD */`, 'utf16le');
    answers['/a.js'] = {
      status: 200,
      headers: { 'content-type': 'text/javascript; charset=utf-16le' },
      body,
    };
    await refused(
      deliver({ 'page.html': SCRIPTED }),
      /^check: the file page\.html contains what looks like a secret/,
    );
  });

  const AWS = 'const aws_secret_access_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYqR3xT9wQ1z";';
  const OWN = 'the-secret"of-this-job-0123456789';

  test.each<[string, Record<string, string | Buffer>, RegExp]>([
    [
      'a secret with its name',
      { 'a.js': AWS, 'a.css': '' },
      /^check: page\.html line 3: the file a\.js contains what looks like/,
    ],
    [
      'a secret in a style sheet of a style sheet',
      { 'a.js': '', 'a.css': '@import "b.css"', 'b.css': `/* ${AWS} */` },
      /^check: page\.html line 3: the file b\.css contains what looks like a secret: AWS secret key/,
    ],
    [
      'a credential that is escaped twice',
      { 'a.js': '', 'a.css': '@import "b.css"', 'b.css': `/* ${OWN} */` },
      /^check: page\.html line 3: the file b\.css contains a credential of this environment \(KEY\)/,
    ],
    [
      'a credential in a drawing in UTF-16',
      { 'a.js': '', 'a.css': 'a{b:url(a.svg)}', 'a.svg': Buffer.from(`\ufeff<svg>${OWN}</svg>`, 'utf16le') },
      /^check: page\.html line 3: the file a\.svg contains a credential/,
    ],
    [
      'a Git LFS pointer',
      {
        'a.js': '',
        'a.css': 'a{b:url(a.png)}',
        'a.png': `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12\n`,
      },
      /^check: page\.html line 3: the file a\.png is a Git LFS pointer/,
    ],
  ])('searches each file as it was: %s', async (_, files, says) => {
    const text = page('<link rel=stylesheet href=a.css><script src=a.js></script>');
    const around = { secrets: [{ name: 'KEY', value: OWN }] };
    await refused(deliver({ ...files, 'page.html': text }, { file: 'page.html' }, { around }), says);
  });

  test('says if an allowed finding becomes part of the page', async () => {
    const files = { 'page.html': page('<script src=a.js></script>'), 'a.js': AWS };
    const { report } = await deliver(files, { file: 'page.html' });
    const [, fingerprint = ''] = /\b([0-9a-f]{16})\b/.exec(report.notReady?.reason ?? '') ?? [];
    const again = await proven(deliver(files, { file: 'page.html', 'allow-secret': fingerprint }));
    expect(again.report.unknown).toContainEqual(
      expect.stringMatching(/look like secrets are harmless: a\.js/),
    );
  });

  test('names no query, neither of the page nor of a redirect', async () => {
    const headers = { 'content-type': 'text/javascript' };
    answers['/m.js'] = { status: 302, headers: { location: '/n.js?sig=two' } };
    answers['/n.js'] = { status: 200, headers, body: 'document.title = import.meta.url' };
    const text = page(`<script type=module src="${CDN}/m.js?sig=one"></script>`);
    const { report, repository, log } = await proven(deliver({ 'page.html': text }));
    expect(report.inlined).toMatchObject([{ url: `${CDN}/n.js?…` }]);
    expect(log + JSON.stringify(report)).not.toMatch(/sig=(?:one|two)/);
    expect(String(await repository.read('page.html'))).not.toContain('sig=two');
  });

  test('names the time limit that ended its requests', async () => {
    const headers = { 'retry-after': '25' };
    play.intercept({ url: /cdn\.octo\.dev/ }, { status: 503, headers });
    await refused(
      deliver({ 'page.html': SCRIPTED }, { timeout: '20' }),
      /^check: page\.html line 3: https:\/\/cdn\.octo\.dev\/a\.js can't be put .* no answer came in time → set a longer `timeout:`$/,
    );
  });

  test.each([
    ['little', 'fffe'],
    ['big', 'feff'],
  ])('works for a page in UTF-16, %s end first', async (_, mark) => {
    const bytes = Buffer.from(`\ufeff${SCRIPTED}`, 'utf16le');
    const { repository } = await proven(
      deliver({ 'page.html': mark === 'feff' ? bytes.swap16() : bytes }, { marker: '' }),
    );
    const served = await repository.read('page.html');
    expect(served?.toString('utf16le')).toMatch(
      /^\ufeff<!doctype html>.*<script src="data:text\/javascript/s,
    );
  });

  test('refuses the file after the hundredth by its URL', async () => {
    const names = Array.from({ length: CONVERT.files + 1 }, (_, nth) => `/${nth}.png`);
    for (const name of names) answers[name] = { status: 200, body: name };
    const images = names.map((name) => `<img src="${CDN}${name}">`);
    await refused(
      deliver({ 'page.html': page(images.join('')) }),
      /^check: page\.html line 3: https:\/\/cdn\.octo\.dev\/100\.png can't be put into the page: a page may load at most 100 files/,
    );
  });

  test('reads a compressed answer, and tries again after a fault that passes', async () => {
    const headers = { 'content-type': 'text/javascript', 'content-encoding': 'gzip' };
    answers['/a.js'] = { status: 200, headers, body: gzipSync(SCRIPT) };
    play.intercept({ url: /cdn\.octo\.dev/ }, { status: 503 });
    const { report } = await proven(deliver({ 'page.html': SCRIPTED }));
    expect(report.inlined).toEqual([{ url: `${CDN}/a.js`, sha256: sha256(SCRIPT), size: SCRIPT.length }]);
  });

  test('a stop during a fetch ends the delivery', async () => {
    const stop = new AbortController();
    play.intercept({ url: /cdn\.octo\.dev/ }, { fault: 'hang' });
    const playing = deliver({ 'page.html': SCRIPTED }, {}, { signal: stop.signal });
    setImmediate(() => stop.abort());
    expect((await playing).report.notReady).toMatchObject({ step: 'check' });
  });
});
