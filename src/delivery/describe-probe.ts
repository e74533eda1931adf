import type { KnownRefusal } from '../channels/channel.ts';
import { DeliveryError } from '../errors.ts';
import { nameFew } from '../plain-text.ts';
import { MINUTE, SECOND } from '../protocol/limits.ts';
import type { Text, Words } from '../words.ts';
import type { Address } from './addresses.ts';
import type { Proof } from './delivery.ts';
import { describeMatch, type ProbeResult, type ProvenMatch, provesAlone } from './probe-result.ts';

/** How often the marker was found in an answer; `null` without a marker. */
export function countMarker(result: ProbeResult | null, marker: string | undefined): number | null {
  return marker === undefined ? null : (result?.fingerprint?.markerCount ?? 0);
}

/** One answer in words; never the address itself, which is not proven yet. */
export function describeProbe(result: ProbeResult | null): string {
  if (result === null) return 'the address was not asked yet';
  if (result.failure !== undefined) return result.failure.message;
  const answers = result.asBrowser && !provesAlone(result) ? 'answers browsers' : 'answers';
  const why = result.match === 'absent' && result.refusal !== undefined ? `: ${result.refusal}` : '';
  return `the address ${answers} ${describeAnswer(result)}${why}`;
}

/** Such as `HTTP 200 with other content`. */
function describeAnswer(result: ProbeResult): string {
  const code = result.httpCode === null ? 'no answer' : `HTTP ${result.httpCode}`;
  return (
    code + (result.match === 'absent' ? describeAge(result) : ` with ${describeMatch(result.match).text}`)
  );
}

/** What an answer that is proven says of the bytes. */
const BYTES: Readonly<Record<ProvenMatch, (proof: Proof) => readonly string[]>> = {
  identical: () => ['bytes identical: yes'],
  extended: () => ['bytes identical: no, the host added to the file'],
  altered: () => ['bytes identical: no'],
  marked: () => [],
  gone: ({ isCached }) => [`nothing of it is served ${isCached ? 'past caches' : 'there'}`],
};

/** What was proven of the content: in the report's TEST line and as the evidence of G3. */
export const describeProof = (proof: Proof): readonly string[] => [
  ...(proof.markerCount === null || proof.match === 'gone' ? [] : [formatMarker(proof.markerCount)]),
  ...BYTES[proof.match](proof),
];

export const formatMarker = (count: number): string =>
  `marker found: ${count === 0 ? 'no' : `yes, ${count} ×`}`;

/** An address that does not show what it must. */
export interface WrongAnswer {
  readonly address: Address;
  /** The last answer that was wrong; `null` where it was not asked. */
  readonly wrong: ProbeResult | null;
  /** A right answer before it. */
  readonly earlier: ProbeResult | undefined;
  /** What the host means by it. */
  readonly meaning: Partial<KnownRefusal> | undefined;
}

/** What is wrong, in a few words: one answer in full, of several files the first ten. */
export function describeWrong(wrong: readonly WrongAnswer[]): string {
  const [first] = wrong;
  if (wrong.length === 1 && first?.address.path === null) return describeProbe(first.wrong);
  return nameFew(wrong.map((one) => `${one.address.path ?? 'the page'} (${describeShortly(one)})`));
}

function describeShortly({ address, wrong: result }: WrongAnswer): string {
  if (result === null) return 'not asked before the deadline';
  if (result.failure !== undefined) return result.failure.message;
  const end = result.hosts.at(-1);
  if (provesAlone(result) && end !== address.host) return `leads to ${end}, and not to ${address.host}`;
  return describeAnswer(result);
}

/** @param total how many addresses were asked @see protocol 7 (final URL does not answer 200 or lacks the marker) */
export function wrongAnswersError(wrong: readonly WrongAnswer[], total: number): DeliveryError {
  const [first] = wrong;
  if (wrong.length === 1 && first?.address.path === null) return notProvenError(first);
  const which = first?.address.fresh ? WITHOUT_VERSION : '';
  const isGone = wrong.every(({ address }) => address.gone);
  const what = isGone ? 'still open' : 'do not show the delivered bytes';
  const meaning = wrong.find((one) => one.meaning)?.meaning;
  return new DeliveryError(
    'NOT_PROVEN',
    `${wrong.length} of ${total} files of the site ${what}${which}: ${describeWrong(wrong)}`,
    {
      httpCode: wrong.find((one) => one.wrong?.httpCode != null)?.wrong?.httpCode ?? undefined,
      hint: meaning?.hint ?? (first?.address.isLink ? LATE_SITE_HINT : AGAIN_HINT),
    },
  );
}

/** How an address was asked that is not asked past caches. */
const WITHOUT_VERSION = ' without ?v=';

function notProvenError({ address, wrong: last, earlier, meaning }: WrongAnswer): DeliveryError {
  const httpCode = last?.httpCode ?? undefined;
  const { host, gone, fresh, isLink } = address;
  const end = last?.hosts.at(-1);
  // An address that leads to another host than the one that was proven is not the one to hand over.
  const isAway = host !== undefined && end !== undefined && end !== host;
  const inTime = meaning?.isFinal ? '' : ' in time';
  const differed = earlier === undefined ? '' : `, and at other times ${describeMatch(earlier.match).text}`;
  const problem = isAway
    ? `leads to ${end}, and not to ${host}, where it was proven`
    : `was not proven${inTime}: ${describeProbe(last)}${differed}`;
  const hints = [
    isAway && (isLink ? MOVED_LINK_HINT : REDIRECT_HINT),
    meaning?.hint,
    last?.failure?.advice,
    httpCode === 429 && BUSY_HINT,
    gone && GONE_HINT,
    earlier && DIFFERS_HINT,
  ];
  return new DeliveryError('NOT_PROVEN', `the address${fresh ? WITHOUT_VERSION : ''} ${problem}`, {
    httpCode,
    hint: hints.find((one) => one !== undefined && one !== false) ?? hintFor(last),
    cause: last?.failure,
  });
}

const REDIRECT_HINT = (w: Words) =>
  `remove the redirect from the site's settings, or set ${w.input('pages-base')} to the address that it leads to`;

const MOVED_LINK_HINT = (w: Words) => `set ${w.input('url')} to the address that it leads to`;

const LATE_SITE_HINT = (w: Words) =>
  `compare the folder with what was deployed, and how the host serves these files, without the query of the link; where it is only late, set ${w.input('timeout')} to more seconds`;

/** A second run writes nothing that is there. */
export const AGAIN_HINT = 'try again: what is as wanted already is only verified';

/** Of what is removed: no other place would help. */
const GONE_HINT =
  'try again in ten minutes: what is removed is only verified; where something else is served there now, it is not ours';

const DIFFERS_HINT = (w: Words) =>
  `the nodes of the host's cache do not answer alike: try again in some minutes${w.orRename()}`;

const hintFor = (result: ProbeResult | null): Text | undefined =>
  result !== null && describeAge(result) !== ''
    ? (w) =>
        `a cache keeps that nothing was there: try again ${describeCacheTime(result.keptFor).replace('for up to', 'in')}${w.orRename()}`
    : describeMatch(result?.match ?? 'absent').hint;

/** How old an answer of a cache is, and how long it may stay; empty for an answer that no cache gave. */
function describeAge({ httpCode, age, keptFor }: ProbeResult): string {
  if (httpCode === 200 || age === null || age === 0) return '';
  return ` from a cache, ${Math.round(age / SECOND)} s old, which may keep it ${describeCacheTime(keptFor)}`;
}

export function describeCacheTime(keptFor: number | null): string {
  if (keptFor === null) return 'for a time that the host does not tell';
  const minutes = Math.ceil(keptFor / MINUTE);
  return `for up to ${minutes} minute${minutes === 1 ? '' : 's'}`;
}

/** A login page never becomes the file, so there is no point in waiting. @see protocol 1 (rule 2) */
export function loginPageError(result: ProbeResult, isLink = false): DeliveryError {
  return new DeliveryError('NOT_EXTERNAL', describeProbe(result), {
    httpCode: result.httpCode ?? undefined,
    hint: isLink ? WALL_HINT : describeMatch('login').hint,
  });
}

const WALL_HINT = (w: Words) =>
  `open it to everybody: on Vercel *Settings → Deployment Protection*, on Netlify *Access & security → Visitor access*, on Cloudflare the Access policy, on S3 the bucket's policy, on a GitHub Enterprise in private mode Management Console → Pages → Public Pages; or ${w.use('K1, K2 or K3')}`;

/** @see https://docs.github.com/pages/getting-started-with-github-pages/github-pages-limits */
export const BUSY_HINT =
  'the host limits requests for a while: try again later; a GitHub Pages site has soft limits of 10 builds an hour, 100 GB a month and 1 GB in all';
