import { expect, test } from '@jest/globals';
import type { RawInputs } from '../../src/request/inputs.ts';
import type { RunContext } from '../../src/request/parse-request.ts';
import { type CorpusPage, fileOf, REPORTED_PAGES } from '../browser/corpus.ts';
import { type Played, type PlayedDelivery, proven, refused, setUpPlay } from './play.ts';
import { createPage } from './scenario.ts';

const play = setUpPlay();
const SCRIPT = { 'assets/a.js': 'document.title = 1' };
const page = (body: string): string => `<!doctype html>\n<title>x</title>${body}`;
const ABSOLUTE = { 'index.html': page('<script src="/assets/a.js"></script>'), ...SCRIPT };
const inFolder = (files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`dist/${name}`, text]));

const BUILT = inFolder(ABSOLUTE);
const BOTH = /would both go to/;

/** A check from the same inputs, without requests. */
async function check(delivery: PlayedDelivery) {
  const played = await play.deliver({ ...delivery, around: { ...delivery.around, checkOnly: true } });
  expect(played.requests).toEqual([]);
  return played;
}

type PlayedFiles = NonNullable<PlayedDelivery['files']>;

/** The first text that must be said of a page. */
const firstSaid = ({ says = '' }: CorpusPage): string => says.replace(/^\w+: | & .*|; .*| \(add .*/g, '');

/** The message names the file once, before what it says of it. */
const refusalOf = (page: CorpusPage): string => firstSaid(page).replace(/^\S+ |^\S+: /, '');

/** Whether the file itself tells that a person would see something broken. */
const isRefusedAtOnce = ({ says = '' }: CorpusPage): boolean => /^refused: \S+(?: line|: it )/.test(says);

test.each<[string, Partial<RawInputs>, PlayedFiles, RegExp | string]>([
  ['a folder built for the root', { file: 'dist/', path: 'd2/' }, BUILT, /leads out of the folder/],
  [
    'a page without the script beside it',
    { path: 'd2/' },
    { 'page.html': ABSOLUTE['index.html'] },
    /is outside/,
  ],
  [
    'two files with one name',
    { file: 'ä.zip\nae.zip', channel: 'K2' },
    { 'ä.zip': 'x', 'ae.zip': 'y' },
    BOTH,
  ],
  [
    'a page whose picture has the name of another file',
    { file: 'a.html\na.html.png', picture: 'true' },
    { 'a.html': createPage(), 'a.html.png': 'x' },
    BOTH,
  ],
  [
    'a file and a folder with one name',
    { file: 'f.html\ndeep/f.html/', path: 'q/' },
    { 'f.html': createPage(), 'deep/f.html/index.html': createPage() },
    BOTH,
  ],
  [
    'the receipt of a deployed site',
    { file: '.well-known/', path: '.well-known/', overwrite: 'true', nojekyll: 'true' },
    { '.well-known/index.html': createPage(), '.well-known/screen-delivery.json': '{}' },
    /^\.well-known\/screen-delivery\.json would affect more than itself/,
  ],
  ['a folder for a tag', { file: 'dist/', tag: 'v1' }, BUILT, /takes single files/],
  ['a folder for a bin', { file: 'dist/', bin: 'my-own-bin' }, BUILT, /takes single files/],
  ...REPORTED_PAGES.filter(isRefusedAtOnce).map((page): [string, Partial<RawInputs>, PlayedFiles, string] => [
    page.name,
    {},
    Object.fromEntries([fileOf(page)]),
    refusalOf(page),
  ]),
  ['a missing marker', { marker: 'marker-43' }, { 'page.html': createPage() }, /expected text was not found/],
  [
    'a page that needs its folder, reached by a link',
    { file: 'dist/', channel: 'K4', url: 'https://a.octo.com/x/' },
    BUILT,
    /leads out of the folder/,
  ],
])('a check and a dry run refuse what a delivery refuses: %s', async (_, inputs, files, says) => {
  const repository = await play.repository();
  const around = { sourceIsPrivate: false };
  const last = (played: Played) => played.reports.at(-1)?.notReady;
  const { reason, hint = '', step } = last(await play.deliver({ repository, files, inputs, around })) ?? {};
  const told = typeof says === 'string' ? expect.stringContaining(says) : expect.stringMatching(says);
  expect([step, reason]).toEqual([expect.stringMatching(/^(?:check|place)$/), told]);
  const dry = { ...inputs, 'dry-run': 'true' };
  expect(last(await play.deliver({ repository, files, inputs: dry, around }))).toMatchObject({
    step,
    reason,
  });
  const own = last(await check({ repository, files, inputs, around }));
  expect(own).toMatchObject({ step, reason, hint: expect.stringContaining(hint) });
});

test.each(REPORTED_PAGES.filter(({ says = '' }) => /^unknown: \S+ line/.test(says)))(
  'a delivery names in UNKNOWN, and a check as well, what only a person can judge: $name',
  async ({ mode = 'enforce', ...page }) => {
    const files = Object.fromEntries([fileOf(page)]);
    const given = { files, inputs: { 'self-contained': mode } };
    for (const { report } of [await proven(play.deliver(given)), await check(given)]) {
      expect(report.unknown).toContainEqual(expect.stringContaining(firstSaid(page)));
    }
  },
);

test.each<[string, Record<string, string>, Partial<RawInputs>, RegExp]>([
  [
    'a page of Altair',
    {
      'page.html':
        '<script src="https://cdn.jsdelivr.net/npm/vega@6"></script><script>"<p>This usually means there is a typo in your chart specification."</script><p>1</p>',
    },
    {},
    /vega@6 is loaded from another host → set `self-contained: inline`, or use `inline=True` of Altair$/,
  ],
  [
    'a page with an import map',
    {
      'page.html':
        '<script type=importmap>{"imports":{"react":"https://esm.sh/react@19"}}</script><script type=module>import "react"</script><p>1</p>',
    },
    {},
    /script https:\/\/esm\.sh\/react@19 is loaded .* → set `self-contained: inline`, or set `self-contained: warn` to publish it as it is$/,
  ],
  [
    'a build of Angular without its last slash',
    {
      'dist/index.html':
        '<base href="/repo/app"><app-root></app-root><script src="main-TKX5FEAQ.js" type="module"></script>',
      'dist/main-TKX5FEAQ.js': '',
    },
    { file: 'dist/', path: 'app/' },
    / → Angular built the folder: set the base with `ng build --base-href \/\S+\/app\/`, with its last slash$/,
  ],
])('names the option that only the tool has: %s', async (_, files, inputs, says) => {
  await refused(play.deliver({ files, inputs }), says);
});

test.each<[string, Partial<RawInputs>, Partial<RunContext>, RegExp]>([
  ['a repository that may be private', {}, { sourceIsPrivate: null }, /^authorize: .*may be private/],
  ['a folder', { file: 'dist/' }, {}, /^check: there is no token, and a file-bin takes single files/],
  [
    'a file for a folder of the site',
    { path: 'a/' },
    { namesDestination: true },
    /: GitHub Pages and releases need a token/,
  ],
  ['a file for K1', { channel: 'K1' }, {}, /: GitHub Pages and releases need a token/],
  ['a file for K2', { channel: 'K2' }, {}, /: GitHub Pages and releases need a token/],
])(
  'a check without a token refuses what a delivery without one refuses: %s',
  async (_, inputs, more, says) => {
    const files = { 'page.html': createPage(), 'dist/index.html': createPage() };
    const around = { sourceIsPrivate: false, ...more };
    const given = { files, inputs, around, token: '' };
    const [done, checked] = [await play.deliver(given), await check(given)];
    await refused(Promise.resolve(done), says);
    expect(checked.report.notReady).toEqual(done.report.notReady);
  },
);

test('a check without a token accepts what a delivery would publish in the public bin', async () => {
  const given = { files: { 'page.html': createPage() }, inputs: { 'allow-public-bin': 'true' }, token: '' };
  const { report } = await check(given);
  expect([report.result, report.lines.CODE]).toEqual(['planned', expect.stringContaining('K3')]);
});

test.each(['a.html, b.html', '- a.html\n- b.html', '"a.html"', '- *.html'])(
  'a list in another form gets a hint with the right form: %j',
  async (file) => {
    const files = { 'a.html': createPage(), 'b.html': createPage() };
    await refused(check({ files, inputs: { file } }), / → write one path on each line, without commas/);
  },
);

test.each([
  ['/assets/a.js', /generator to `\/play-\d+\/d2\/`, or use URLs relative to the page \(`.+`\)$/],
  ['/d2/assets/a.js', /set `pages-base:` to it$/],
])("a check names the site's URL only if it helps: %s in the folder d2/", async (src, hint) => {
  const files = inFolder({ 'index.html': page(`<script src="${src}"></script>`), ...SCRIPT });
  const { report } = await check({ files, inputs: { file: 'dist/', path: 'd2/' } });
  expect(report.notReady?.hint).toMatch(hint);
});

test('a check refuses a site with another URL until the URL is given', async () => {
  const repository = await play.repository({ name: 'own-domain', pages: { cname: 'a.octo.com' } });
  const site = { repository, files: BUILT, inputs: { file: 'dist/', path: './' } };
  await proven(play.deliver(site));
  await refused(check(site), /if the site has its own domain, set `pages-base:` to it$/);
  const inputs = { ...site.inputs, 'pages-base': 'https://a.octo.com/' };
  expect((await check({ ...site, inputs })).report.result).toBe('planned');
});

test.each<[string, Partial<RawInputs>, Readonly<Record<string, string>>, RegExp, RegExp]>([
  [
    'whether Jekyll leaves files out',
    { file: 'dist/' },
    inFolder({ 'index.html': page('<script src="_a/a.js"></script>'), '_a/a.js': '' }),
    /Jekyll.* ignores dist\/_a\/a\.js/,
    /whether the branch has \.nojekyll, .* ignores dist\/_a\/a\.js/,
  ],
  [
    'whether a file for the whole site is there',
    { file: 'dist/', path: './' },
    inFolder({ 'index.html': createPage(), CNAME: 'a.octo.com' }),
    /CNAME would affect more than itself/,
    /whether the branch has them with these bytes; .*: CNAME/,
  ],
  [
    'whether the host has a script of another part of the site',
    { file: 'dist/' },
    inFolder({ 'index.html': page('<script src="/x/a.js"></script>') }),
    /its host doesn't have it/,
    /script \/x\/a\.js is outside the folder, so it is not part of this delivery/,
  ],
  [
    'whether the repository of a file for a bin is public',
    { bin: 'my-own-bin' },
    { 'page.html': createPage() },
    /the file's repository is private/,
    /whether the repository and host accept it/,
  ],
])('a check reports as open what only a host knows: %s', async (_, inputs, files, refusal, open) => {
  const repository = await play.repository({ private: inputs.bin !== undefined });
  const around = { sourceIsPrivate: null, sourceRepositories: [repository.fullName] };
  const given = { repository, files, inputs, around };
  await refused(play.deliver(given), refusal);
  const { report } = await check(given);
  expect(report.result).toBe('planned');
  expect(report.unknown.join('; ')).toMatch(open);
});
