/** @see protocol 2.1, 9 */
export const PROTOCOL = {
  identifier: 'GITHUB-SCREEN-DELIVERY',
  version: '1.1',
  vendor: 'github',
  goal: 'Turn a file that exists only inside an environment into an external https:// URL that opens in the browser without it, and hand the URL over only after its content was fetched back and proved.',
} as const;

/** @see https://docs.github.com/rest/about-the-rest-api/api-versions (until March 2028) */
export const API_VERSION = '2022-11-28';

export const TOOL = { name: 'screen-delivery', version: '0.1.0', node: '>=22.19' } as const;

export const TRAILER = `Delivered-by: ${TOOL.name}`;

/** The trailer with the run and workflow that delivered, or the agent. */
export const FROM_TRAILER = 'Delivered-from';

/** The trailer with git's id and the path of a delivered object. */
export const OBJECT_TRAILER = 'Delivered-object';

/** The trailer with the path that the delivered URL shows, if the object's path doesn't show it. */
export const PAGE_TRAILER = 'Delivered-page';

/** The trailer with git's id and the path of a file that was in the folder before and was not delivered. */
export const KEPT_TRAILER = 'Kept-object';

/** The trailer with a removed file, or a removed folder that has no delivered files left. */
export const REMOVED_TRAILER = 'Removed';

/** The trailer with the delivered folder that lost some files. This tool may still change its other files. */
export const REMOVED_FROM_TRAILER = 'Removed-from';

/** A channel's key in the protocol, and its name in the action's inputs. @see protocol 1 */
export const CHANNELS = {
  K1: { name: 'pages', title: 'hosted static pages', lifetime: 'permanent' },
  K2: { name: 'release', title: 'release asset', lifetime: 'permanent' },
  K3: {
    name: 'filebin',
    title: 'anonymous file-bin',
    lifetime: 'about 7 days, public to anyone with the link',
  },
  K4: { name: 'native', title: 'a link that exists already', lifetime: "by the environment's rules" },
} as const;

export type ChannelKey = keyof typeof CHANNELS;

export const CHANNEL_LABELS: Readonly<Record<ChannelKey, string>> = {
  K1: 'GitHub Pages',
  K2: 'GitHub release',
  K3: 'file-bin',
  K4: 'existing link',
};

export const GATES = ['G1_выложено', 'G2_финальный_URL', 'G3_VERIFY_200_и_маркер', 'G4_REPORT'] as const;

export type GateName = (typeof GATES)[number];

export const GATE_TITLES: Readonly<Record<GateName, string>> = {
  G1_выложено: 'Published',
  G2_финальный_URL: 'URL',
  G3_VERIFY_200_и_маркер: 'Verified',
  G4_REPORT: 'Reported',
};

/** Every failure names one of these steps. `check` includes a channel's refusals. @see protocol 1 */
export const STEPS = ['check', 'authorize', 'place', 'wait', 'verify', 'report'] as const;

export type Step = (typeof STEPS)[number];

export const REPORT_LINES = ['CLAIM', 'CODE', 'TEST', 'RESULT', 'UNKNOWN'] as const;

export type ReportLine = (typeof REPORT_LINES)[number];

export const RESULTS = { ready: 'ГОТОВО', notReady: 'НЕ ГОТОВО' } as const;

export const OUTCOMES = {
  'not-ready': 'Not ready',
  planned: 'Dry run',
  withdrawn: 'Withdrawn',
  'in-part': 'Withdrawn in part',
  absent: 'Nothing to withdraw',
  audited: 'As delivered',
  changed: 'Changed since',
  ready: 'Ready',
} as const;

export type Outcome = keyof typeof OUTCOMES;

/** What never counts as a delivery. @see protocol 1, 2.1 */
export const NOT_DELIVERY = [
  'sandbox:/… links',
  '/mnt/data/… paths',
  'a local path of the agent',
  'a promise without a URL',
] as const;
