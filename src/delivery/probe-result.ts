import type { DeliveryError } from '../errors.ts';
import type { FetchedContent } from '../http/fetch-back.ts';
import type { readCacheTime, readLastModified } from '../http/response.ts';
import type { Text } from '../words.ts';

/** How a body relates to the file: whether that proves it, what it means to a person, and what to do. */
interface Match {
  /** Whether one such answer proves the delivery or the withdrawal. */
  readonly proves?: true;
  readonly text: string;
  readonly hint?: Text;
}

const MATCHES = {
  identical: { proves: true, text: 'the file, byte for byte' },
  /** A link's page. */
  extended: { proves: true, text: 'everything of the file, and additions of its host' },
  /** Where no file was given to compare with. */
  marked: { proves: true, text: 'the marker' },
  /** What a withdrawn address must answer. */
  gone: { proves: true, text: 'nothing any more' },
  /** Counts only with what the host says of its build. */
  altered: {
    text: 'the marker, but other bytes than the file',
    hint: "the host changes the file, which counts only if it says that our commit is built (permission `pages: read`) and the page's Last-Modified is not older: commit an empty .nojekyll to the site's root, remove the front matter from the file, or let no proxy change the page",
  },
  previous: {
    text: 'the content from before',
    hint: (w) => `a cache still answers with the old page: try again in ten minutes${w.orRename()}`,
  },
  served: { text: 'some content: there should be none' },
  'cut-short': {
    text: 'only the beginning of the file',
    hint: 'the host answers incompletely: try again',
  },
  different: {
    text: 'other content',
    hint: (w) =>
      `check that the address belongs to the file, that ${w.input('marker')}, where it is set, is plain text of it, and that the host adds no <base> and no <meta> that stands for a header, and nothing to a page above 2 MB`,
  },
  unmarked: {
    text: 'content that does not have the marker',
    hint: (w) => `set ${w.input('marker')} to a text that the content has as the host sends it`,
  },
  login: {
    text: 'a login page: the host is in private mode, or the address is not public',
    hint: (w) =>
      `make the address public (a GitHub Enterprise in private mode shows sites to anybody only with Management Console → Pages → Public Pages)${w.orUse('K3')}`,
  },
  echo: {
    text: 'the marker only where a page does not show it: in its own address, its title, a comment, an attribute or a hidden part',
    hint: (w) =>
      `set ${w.input('marker')} to a text that only the content has and the page shows, or name the file in ${w.input('file')}`,
  },
  gate: {
    text: 'a page to sign in, or one that leads elsewhere',
    hint: (w) =>
      `set ${w.input('url')} to where the content itself opens, or make it public${w.orUse('K1, K2 or K3')}`,
  },
  'not-shown': {
    text: 'the right content, but as a download, with another type or in another encoding: its headers keep a browser from showing or using it',
    hint: (w) =>
      `let the host of the site answer with the type of the file (for a page \`Content-Type: text/html; charset=utf-8\`) and without \`Content-Disposition: attachment\`${w.orUse('K2 or K3', ' for a download')}`,
  },
  moved: {
    text: 'the right content, but after a redirect to another place, or in another folder than its references need',
    hint: (w) => `set ${w.input('url')} to where the site itself is, with the / of its folder at the end`,
  },
  absent: { text: 'no page', hint: 'check the address, and that it is public; or try again' },
} as const satisfies Readonly<Record<string, Match>>;

export type ContentMatch = keyof typeof MATCHES;

/** What a proven address may have answered: `altered` counts with what the host says of its build. */
export type ProvenMatch = Extract<ContentMatch, 'identical' | 'extended' | 'marked' | 'gone' | 'altered'>;

export const describeMatch = (match: ContentMatch): Match => MATCHES[match];

/** Whether one answer is enough to prove the delivery or the withdrawal. */
export const provesAlone = ({ match }: Pick<ProbeResult, 'match'>): boolean =>
  describeMatch(match).proves === true;

/** What one request to an address showed. */
export interface ProbeResult
  extends Pick<FetchedContent, 'fingerprint' | 'refusal'>,
    ReturnType<typeof readCacheTime> {
  /** What it is, compared with the file. */
  readonly match: ContentMatch;
  /** What the host has added to the file. */
  readonly added?: readonly string[];
  /** Whether it is the file, but answered in another folder than its own. */
  readonly isElsewhere?: boolean;
  readonly httpCode: number | null;
  /** Hosts that were requested, in order. */
  readonly hosts: readonly string[];
  readonly lastModified: ReturnType<typeof readLastModified>;
  readonly version?: string;
  /** Whether it is a page, and a `Content-Security-Policy` may keep parts of it from working. */
  readonly hasPolicy?: boolean;
  /** Whether it was asked as a browser asks, unlike the others. */
  readonly asBrowser?: boolean;
  /** When its host allows another request: milliseconds since the epoch. */
  readonly notBefore?: number;
  /** Why there was no answer to compare. */
  readonly failure?: DeliveryError;
}

/** What is known of an address that gave no answer. */
export const failedProbe = (failure: DeliveryError): ProbeResult => ({
  httpCode: failure.httpCode ?? null,
  match: 'absent',
  failure,
  fingerprint: null,
  hosts: [],
  lastModified: null,
  age: null,
  keptFor: null,
});
