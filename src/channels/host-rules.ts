import { lineIf } from '../plain-text.ts';
import {
  type AnswerSeries,
  type Check,
  type ExpectedAnswer,
  type HostRules,
  isRemovedCheck,
} from '../proof/check.ts';
import type { ProbeResult } from '../proof/probe-result.ts';
import { AGAIN_HINT } from '../proof/prove.ts';
import { AGREEING_ANSWERS } from '../protocol/limits.ts';
import type { Words } from '../words.ts';
import { describeAdditions } from './link/describe-additions.ts';

const RENAME = (w: Words): string => `set ${w.input('path')} to a new name`;

const BUSY = "the host's rate limit was reached: try again later";

/** The repository's site and releases, and removals from a bin. */
export const PLAIN_HOST: HostRules = {
  mustBePublic: false,
  warnsBrowsers: false,
  addsForBrowsers: false,
  asksPageAgain: false,
  refusals: [],
  maxUnreachedRounds: Number.POSITIVE_INFINITY,
  hints: {
    login: (w) =>
      `make the site public (on GitHub Enterprise: *Management Console → Pages → Public Pages*)${w.orUse('K3')}`,
    moved: (w) =>
      `remove the redirect from the site's settings, or set ${w.input('pages-base')} to the URL that it leads to`,
    late: AGAIN_HINT,
    // See https://docs.github.com/pages/getting-started-with-github-pages/github-pages-limits
    busy: `${BUSY} (GitHub Pages allows 10 builds an hour and 100 GB a month)`,
    other: (w) => `open the URL: if another run replaced the file, run this again, or ${RENAME(w)}`,
    rename: RENAME,
  },
  describe([page], check) {
    // A release redirects to GitHub's own store.
    if (!check.addsVersion) return [];
    return isRemovedCheck(check) ? [UNASKED_CACHES] : describeEnd(page, check, 'the repository');
  },
};

/** Not checked after a withdrawal, because a cache would keep the 404 and hide the next delivery. */
const UNASKED_CACHES = 'whether caches still show it, or its source on GitHub, for up to ten minutes';

export const BIN_HOST: HostRules = {
  ...PLAIN_HOST,
  warnsBrowsers: true,
  describe: ([{ opensAgain }], _, downloads) =>
    lineIf(
      !opensAgain,
      `whether the file can be downloaded again: the bin host may limit downloads, and verification took ${downloads}`,
    ),
};

export const LINK_HOST: HostRules = {
  mustBePublic: true,
  warnsBrowsers: false,
  addsForBrowsers: true,
  asksPageAgain: true,
  refusals: [],
  maxUnreachedRounds: 12,
  hints: {
    login: (w) =>
      `make it public (Vercel: *Settings → Deployment Protection*; Netlify: *Access & security → Visitor access*; Cloudflare: the Access policy; S3: the bucket policy; GitHub Enterprise: *Management Console → Pages → Public Pages*)${w.orUse(['K1', 'K2', 'K3'])}`,
    moved: (w) => `set ${w.input('url')} to the URL that it leads to`,
    busy: BUSY,
    late: (w) =>
      `check that this folder was deployed and opens without the query of the link; if the host is only late, set ${w.input('timeout')} to more seconds`,
  },
  describe: (seen, check) => [...describeEnd(seen[0], check, 'the link'), ...describeAdditions(seen)],
};

/** A page of K1 may redirect to the site's own domain, and a link to a store. */
function describeEnd({ hosts }: ProbeResult, { url }: Check, owner: string): readonly string[] {
  const end = hosts.at(-1);
  const line = `whether ${end}, to which the URL redirects, belongs to the site: its content can change without ${owner}`;
  return lineIf(end !== url.host, line);
}

export const USUAL: AnswerSeries = { answers: AGREEING_ANSWERS.usual, as: 'both' };

/** A bin may count each answer, and has only one store behind it. */
export const COUNTED: AnswerSeries = { ...USUAL, answers: AGREEING_ANSWERS.counted };

/** Checks the page or file whose URL is handed over, without `?v=`. */
export const pageCheck = (url: URL, expect: ExpectedAnswer, host = PLAIN_HOST, series = USUAL): Check => {
  return { url, label: 'the page', isPage: true, expect, series, host, addsVersion: false };
};
