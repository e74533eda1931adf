import type { HostRules } from '../proof/check.ts';
import { AGAIN_HINT } from '../proof/prove.ts';
import { LATER_PROBE, SITE } from '../protocol/limits.ts';

const BUSY = 'the host limits requests for a while: try again later';

/** Everything that follows from whose host an address is on. The site of the repository, and its releases. */
export const OWN_HOST: HostRules = {
  owner: 'the repository',
  mustBePublic: false,
  takesVersion: true,
  asksFilesAs: 'tool',
  pause: 0,
  mostAskedOften: 0,
  asksPageAgain: false,
  addsToPages: false,
  showsType: true,
  warnsBrowsers: false,
  walls: [],
  refusals: [],
  unreachedLooks: Number.POSITIVE_INFINITY,
  hints: {
    login: (w) =>
      `make the address public (a GitHub Enterprise in private mode shows sites to anybody only with Management Console → Pages → Public Pages)${w.orUse('K3')}`,
    moved: (w) =>
      `remove the redirect from the site's settings, or set ${w.input('pages-base')} to the address that it leads to`,
    late: AGAIN_HINT,
    // See https://docs.github.com/pages/getting-started-with-github-pages/github-pages-limits
    busy: `${BUSY}; a GitHub Pages site has soft limits of 10 builds an hour, 100 GB a month and 1 GB in all`,
    other: (w) =>
      `look at what the address shows: if another run has replaced it, run this again${w.orRename()}; if it is another site, correct the address`,
  },
};

/** A file-bin. */
export const BIN_HOST: HostRules = { ...OWN_HOST, warnsBrowsers: true };

/** A link from outside, on a host of somebody else. */
export const LINK_HOST: HostRules = {
  owner: 'the link',
  mustBePublic: true,
  takesVersion: false,
  asksFilesAs: 'browser',
  pause: LATER_PROBE,
  mostAskedOften: SITE.fewLinked,
  asksPageAgain: true,
  addsToPages: true,
  showsType: false,
  warnsBrowsers: false,
  walls: [401, 403],
  refusals: [],
  unreachedLooks: 12,
  hints: {
    login: (w) =>
      `open it to everybody: on Vercel *Settings → Deployment Protection*, on Netlify *Access & security → Visitor access*, on Cloudflare the Access policy, on S3 the bucket's policy, on a GitHub Enterprise in private mode Management Console → Pages → Public Pages; or ${w.use(['K1', 'K2', 'K3'])}`,
    moved: (w) => `set ${w.input('url')} to the address that it leads to`,
    busy: BUSY,
    late: (w) =>
      `compare the folder with what was deployed, and how the host serves these files, without the query of the link; where it is only late, set ${w.input('timeout')} to more seconds`,
  },
};
