/** The words that the protocol defines, for reports, outputs and the machine contract. @see protocol 2.1, 3.1, 4.7 */

/** Identifier and version of the protocol, and the vendor of the host for K1. @see protocol 2.1, 9 */
export const PROTOCOL = {
  identifier: 'GITHUB-SCREEN-DELIVERY',
  version: '1.1',
  vendor: 'github',
  goal: 'Turn a file that exists only inside an environment into an external https:// URL that opens in the browser without it, and hand the URL over only after its content was fetched back and proved.',
} as const;

/** Of GitHub's REST API. @see https://docs.github.com/rest/about-the-rest-api/api-versions (until March 2028) */
export const API_VERSION = '2022-11-28';

/** The name of this tool for hosts and in commits. */
export const TOOL = { name: 'screen-delivery', version: '0.1.0', node: '>=22.19' } as const;

/** The commit trailer that marks files delivered by this tool. */
export const TRAILER = `Delivered-by: ${TOOL.name}`;

/** The trailer that names the run that delivered, and its workflow or for whom alone. */
export const FROM_TRAILER = 'Delivered-from';

/** The trailer that names what a commit delivered: git's id of the object, and its path. */
export const OBJECT_TRAILER = 'Delivered-object';

/** The path in the branch that the address shows which was handed over, where the object does not tell it. */
export const PAGE_TRAILER = 'Delivered-page';

/** What was in that folder already and was not delivered: git's id of the object, and its path within the folder. */
export const KEPT_TRAILER = 'Kept-object';

/** What a commit removes: a file, or a folder that was delivered as one, of which nothing is ours any more. */
export const REMOVED_TRAILER = 'Removed';

/** The delivered folder of which a commit removes a part: what it leaves as it was delivered is still ours. */
export const REMOVED_FROM_TRAILER = 'Removed-from';

/** A channel's key in the protocol and its name in the action's inputs. @see protocol 1 */
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

/** The four gates in order. @see protocol 2.1, 3.1 */
export const GATES = ['G1_выложено', 'G2_финальный_URL', 'G3_VERIFY_200_и_маркер', 'G4_REPORT'] as const;

export type GateName = (typeof GATES)[number];

/** The gates in English, for the job summary. */
export const GATE_TITLES: Readonly<Record<GateName, string>> = {
  G1_выложено: 'Published',
  G2_финальный_URL: 'Address',
  G3_VERIFY_200_и_маркер: 'Verified',
  G4_REPORT: 'Reported',
};

/** The same where the file is removed. */
export const REMOVAL_GATE_TITLES: typeof GATE_TITLES = { ...GATE_TITLES, G1_выложено: 'Removed' };

/** The steps, of which every failure names one; `check` too for what a channel refuses. @see protocol 1 */
export const STEPS = ['check', 'authorize', 'place', 'wait', 'verify', 'report'] as const;

export type Step = (typeof STEPS)[number];

/** The lines of the report in order. @see protocol 4.7 */
export const REPORT_LINES = ['CLAIM', 'CODE', 'TEST', 'RESULT', 'UNKNOWN'] as const;

export type ReportLine = (typeof REPORT_LINES)[number];

/** The two possible results of a report. @see protocol 3.1 */
export const RESULTS = { ready: 'ГОТОВО', notReady: 'НЕ ГОТОВО' } as const;

/** How a delivery ended, in the English that people read. */
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
