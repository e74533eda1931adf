import { forEachItem } from '../../async.ts';
import { DeliveryError } from '../../errors.ts';
import { lineIf, namedLine } from '../../plain-text.ts';
import type { AnswerSeries, Check, ExpectedAnswer, ExpectedFile, HostRules } from '../../proof/check.ts';
import { AGREEING_ANSWERS, SITE } from '../../protocol/limits.ts';
import type { LocalSite } from '../../rules/local-site.ts';
import { getBrowserDisplay } from '../../rules/media-type.ts';
import { decodePath, entryUrl, urlBelow } from '../../rules/naming.ts';
import { isHtml } from '../../rules/page/page-file.ts';
import type { Words } from '../../words.ts';
import type { Channel, ChannelItem, Placement, PreparedTask } from '../channel.ts';
import { listRefusals } from '../filebin/refusals.ts';
import { BIN_HOST, COUNTED, LINK_HOST, pageCheck, USUAL } from '../host-rules.ts';
import { createLinkJudge } from './judge-answer.ts';

interface LinkTask extends PreparedTask {
  readonly url: URL;
  /** The URL of the file itself, such as `…/index.html`; absent for a link to one file. */
  readonly home?: URL;
  readonly folder?: URL;
  readonly site: LocalSite | null;
  /** What is known of the file without a copy of it. */
  readonly known?: ExpectedFile | undefined;
}

/**
 * K4: verifies the environment's own link. Several files are in its folder.
 * @param binHostUrl a link to this host gets the hints of the file-bin
 * @param known what the link must show if no file is given
 * @see protocol 1 (channels), 7 (K4 link is not an external https URL)
 */
export function createNativeChannel(url?: URL, binHostUrl?: URL, known?: ExpectedFile): Channel<LinkTask> {
  const isBin = url !== undefined && url.host === binHostUrl?.host;
  return {
    prepare: (items) => forEachItem(items, async (item) => prepareLink(url, item, known)),
    preview: (tasks) =>
      forEachItem(tasks, async (task) => `the link on ${task.url.hostname} would be verified`),
    perform: (tasks) => forEachItem(tasks, async (task) => placementOf(task, isBin)),
  };
}

function prepareLink(url: URL | undefined, item: ChannelItem, known?: ExpectedFile): LinkTask {
  if (url === undefined) {
    throw new DeliveryError('BAD_INPUT', 'no link was given to verify', { hint: (w) => w.link });
  }
  const { site, relativePath } = item;
  const destination = `${relativePath ?? 'its address'} on ${url.hostname}`;
  const address = findAddress(url, item);
  const isMarked = site === null && known === undefined;
  const { home, folder } = address;
  return {
    plan: {
      channel: 'K4',
      method: 'the link is used as given',
      destination,
      name: destination,
      verb: isMarked ? 'shows the marker' : 'opens without signing in',
      downloadVerb: isMarked ? 'downloads a file with the marker' : 'downloads without signing in',
    },
    ...address,
    ...{ site, known },
    ...(home &&
      folder && {
        served: {
          url: entryUrl(home),
          sitePath: folder.pathname,
          display: 'page',
          isServedAsIs: true,
          pictureUrls: null,
        },
      }),
  };
}

/** The link is a folder or its page; each of several items lies below the link. */
function findAddress(url: URL, { site, relativePath }: ChannelItem) {
  if (relativePath === undefined && !site?.isFolder) return { url };
  const itemUrl = relativePath === undefined ? url : urlBelow(url, relativePath);
  if (!site?.isFolder) return { url: itemUrl, home: itemUrl };
  const entry = site.entry.name;
  const isEntry = relativePath === undefined && decodePath(url.pathname).endsWith(`/${entry}`);
  const folder = isEntry
    ? new URL(`./${'../'.repeat(entry.split('/').length - 1)}`, url)
    : urlBelow(itemUrl, '');
  const home = urlBelow(folder, entry);
  const isGiven = isEntry || (relativePath === undefined && entry === 'index.html');
  return { url: isGiven ? url : entryUrl(home), home, folder };
}

const BIN_REFUSALS = listRefusals('').map(({ linkHint, ...refusal }) => ({
  ...refusal,
  hint: linkHint ?? ((w: Words) => `correct the URL: a bin lives about 7 days${w.orUse(['K1', 'K2', 'K3'])}`),
}));

const LINK_TO_BIN: HostRules = {
  ...LINK_HOST,
  warnsBrowsers: true,
  refusals: BIN_REFUSALS,
  describe: (...found) => [...LINK_HOST.describe(...found), ...BIN_HOST.describe(...found)],
};

/** A bin may be on any host, but its text shows a download limit. */
const LIMITS = listRefusals('').flatMap(({ linkHint: hint, ...refusal }) =>
  hint ? [{ ...refusal, hint }] : [],
);
const LINK: HostRules = { ...LINK_HOST, refusals: LIMITS };

function placementOf({ url, home, folder, site, known }: LinkTask, isBin: boolean): Placement {
  const { entry } = site ?? {};
  const file = entry ?? known;
  // A bin sends every file as a download.
  const isShown = !isBin && entry !== undefined && getBrowserDisplay(entry.name) === 'page';
  const others = site && folder ? listOthers(site, folder) : [];
  const expect: ExpectedAnswer = {
    is: file ? 'bytes' : 'marker',
    file,
    display: isShown ? 'page' : 'none',
    judge: createLinkJudge(home),
  };
  const host = isBin ? LINK_TO_BIN : LINK;
  // One right answer is enough if the page is fetched again after the other files.
  const { answers } = others.length > 0 ? { answers: 1 } : isBin ? COUNTED : USUAL;
  const series: AnswerSeries = { answers, as: home ? 'browser' : 'both' };
  return {
    evidence: `the given link on ${url.hostname}`,
    written: false,
    first: pageCheck(url, expect, host, series),
    others,
    notes: [
      'how long the link lives is up to its host',
      ...lineIf(isBin, 'a browser may be shown a warning page first'),
    ],
    unknown: [
      'whether the link still opens later, and from every network',
      ...(site && folder ? describeUnfetched(site) : []),
    ],
  };
}

const CONTROL_FILES: ReadonlySet<string> = new Set([
  ...['_headers', '_redirects', '_routes.json', '_worker.js', 'netlify.toml', 'vercel.json'],
  ...['staticwebapp.config.json', 'firebase.json', 'CNAME'],
]);

/** Pages that hosts show instead of a missing page. */
const FALLBACK = /^(?:404|200|index)\.html$/;

/** Fetches the other files as a browser and without `?v=`, because nobody knows how the host treats it. */
function listOthers(site: LocalSite, folder: URL): readonly Check[] {
  const served = site.files.filter(({ name }) => name !== site.entry.name && !CONTROL_FILES.has(name));
  const pages = [...served.filter(({ name }) => FALLBACK.test(name)), site.entry];
  const answers = served.length > SITE.fewLinked ? 1 : AGREEING_ANSWERS.usual;
  const series = { answers, as: 'browser' } as const;
  return served.map((file) => {
    const url = urlBelow(folder, file.name);
    const others = pages.filter((page) => page !== file);
    const judge = createLinkJudge(url, others);
    const display = isHtml(file.name) ? 'page' : undefined;
    const check = pageCheck(url, { is: 'bytes', file, judge, display }, LINK, series);
    return { ...check, label: file.name, isPage: false };
  });
}

function describeUnfetched({ files, leftOut }: LocalSite): readonly string[] {
  const control = files.flatMap(({ name }) => (CONTROL_FILES.has(name) ? [name] : []));
  return namedLine(
    'what the host does with control files and files that were left out, which were not fetched',
    [...control, ...leftOut],
  );
}
