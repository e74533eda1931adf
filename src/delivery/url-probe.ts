import type { Placement } from '../channels/channel.ts';
import { DeliveryError } from '../errors.ts';
import { type FetchedContent, fetchBack, LINK_HEAD_SIZE } from '../http/fetch-back.ts';
import type { CookieJar } from '../http/follow.ts';
import { isAbsence } from '../http/response.ts';
import type { Ports } from '../ports.ts';
import { MEGABYTE, PARTIAL_PROBE, PROBE_TIME, SECOND } from '../protocol/limits.ts';
import { getReach, parseExternalAddress } from '../rules/external-address.ts';
import type { ContentFingerprint } from '../rules/fingerprint.ts';
import type { LocalFile } from '../rules/inspect.ts';
import { findAdditions, isGatePage } from '../rules/link-page.ts';
import { decodePage } from '../rules/page-encoding.ts';
import { isEcho } from './marker-echo.ts';
import { createSharedLimits, type TimeLimit } from './shared-limits.ts';

/**
 * How a body relates to the file. The first four prove it by themselves: `extended` is a link's page with everything of
 * the file and additions of its host; `marked` is one with the marker where no file was given to compare with; `gone`
 * is what a withdrawn address must answer. An `altered` body has the marker, but other bytes than the file: it counts
 * only with what the host says of its build; an `echo` has it only where nothing of the content is shown, as in its
 * address or title; a `gate` leads a browser elsewhere or asks to sign in, and what is `not-shown` is right, but a
 * browser would not show it as a page.
 */
export type ContentMatch =
  | 'identical'
  | 'extended'
  | 'marked'
  | 'gone'
  | 'altered'
  | 'previous'
  | 'cut-short'
  | 'different'
  | 'login'
  | 'echo'
  | 'gate'
  | 'not-shown'
  | 'absent';

/** What one request to an address showed. */
export interface ProbeResult {
  readonly httpCode: number | null;
  readonly match: ContentMatch;
  readonly fingerprint: ContentFingerprint | null;
  readonly hosts: readonly string[];
  /** What the host has added to the file. */
  readonly added?: readonly string[] | undefined;
  /** Why the host refuses the address, in its own plain text. */
  readonly refusal?: string | undefined;
  /** Whether it was asked as a browser asks, unlike the others. */
  readonly asBrowser?: boolean;
  /** Whether the marker was found in the content itself. */
  readonly hasMarker: boolean;
  /** Milliseconds since the epoch; `null` where the host does not say. */
  readonly lastModified: number | null;
  /** Milliseconds that a cache has kept this answer; `null` where the host does not say. */
  readonly age: number | null;
  /** Milliseconds that a cache may still keep it; `null` where the host does not say. */
  readonly keptFor: number | null;
  /** What the host calls this version of the content; absent without an answer. */
  readonly version?: string;
  /** Why there was no answer to compare. */
  readonly failure?: DeliveryError;
}

/** The bytes that an address must show; of a local file they can be read as well. */
export type ExpectedFile = Pick<LocalFile, 'size' | 'sha256'> &
  Partial<Pick<LocalFile, 'headSha256' | 'pieces'>>;

/** What the address must show. */
export interface ExpectedContent {
  /** `null` for a link that is verified by its marker alone. */
  readonly file: ExpectedFile | null;
  readonly marker: string | undefined;
  /** Whether there must be nothing at the address any more. */
  readonly gone?: boolean;
}

/** The address, and how it is asked. */
export type ProbeTarget = Pick<
  Placement,
  'url' | 'bypassCache' | 'mustBeExternal' | 'earlier' | 'warnsFirst' | 'display' | 'countsDownloads'
>;

/** What the probes of one placement share. */
export interface ProbeSession {
  /** Milliseconds since the epoch at which a request in progress is canceled. */
  readonly deadline: number;
  readonly limitTo: TimeLimit;
  /** A new value for `?v=`, the time and digits that nobody else has: a cache keeps the answer to each. */
  readonly nextStamp: () => string;
  /** Why the addresses may open only inside this network; empty where nothing says so. */
  internalReason: string;
  publicOnly: boolean;
}

export function newProbeSession(deadline: number, ports: Ports): ProbeSession {
  const { clock, random } = ports;
  const own = String(Math.floor(random() * 1e8)).padStart(8, '0');
  let asked = 0;
  const nextStamp = (): string => {
    asked += 1;
    return `${Math.floor(clock.now() / SECOND)}${own}${asked}`;
  };
  return { deadline, limitTo: createSharedLimits(ports), nextStamp, internalReason: '', publicOnly: true };
}

const OTHER_PAGES: readonly ContentMatch[] = ['different', 'altered', 'echo'];
const PROOFS: readonly ContentMatch[] = ['identical', 'extended', 'marked', 'gone'];

/** Whether one answer is enough to prove the delivery or the withdrawal. */
export const isProof = ({ match }: ProbeResult): boolean => PROOFS.includes(match);

/** Opens an address as anybody would, as often as it is asked to, and remembers the last answer. */
export class UrlProbe {
  last: ProbeResult | null = null;
  readonly #target: ProbeTarget;
  readonly #expected: ExpectedContent;
  readonly #session: ProbeSession;
  readonly #ports: Ports;
  /** Whether an address was refused by its name. */
  #isRefused = false;
  /** The version of the last answer that was the file as a whole. */
  #version: string | undefined;
  /** Milliseconds since the epoch; the host asked for no request before. */
  #notBefore = 0;

  constructor(target: ProbeTarget, expected: ExpectedContent, session: ProbeSession, ports: Ports) {
    this.#target = target;
    this.#expected = expected;
    this.#session = session;
    this.#ports = ports;
  }

  /**
   * Asks the address once, as somebody new would: without a cookie of an earlier request. A host's failure is a
   * result like any other. As long as the host asks to wait, its last answer is returned, and nothing is sent.
   *
   * @param size `part` reads only the beginning of a large file that was seen as a whole, and a link only as far as
   * its marker
   * @param asBrowser whether to ask as a browser does
   * @throws {DeliveryError} `NOT_EXTERNAL` when a redirect leads to this machine, or to no public host where it
   * must be one; the abort's reason.
   */
  async probe(size: 'whole' | 'part' = 'whole', asBrowser = false): Promise<ProbeResult> {
    if (this.last !== null && this.#ports.clock.now() < this.#notBefore) return this.last;
    // The bin's warning page is the one exception: a person leaves it with one click, and then the bytes decide.
    const cookies: CookieJar | undefined =
      this.#target.warnsFirst && this.#expected.file !== null ? new Map() : undefined;
    // Where each look counts, the only one is that of a browser.
    const { countsDownloads = false } = this.#target;
    const how = { cookies, isPart: size === 'part', asBrowser: asBrowser || countsDownloads };
    this.last = await this.#askOnce(how);
    if (this.last.httpCode === 200 && !isProof(this.last) && cookies !== undefined && cookies.size > 0) {
      this.last = await this.#askOnce(how);
    }
    return this.last;
  }

  /** The beginning says nothing of the rest where the host calls it another version: then all of it is read. */
  async #askOnce(how: AskOptions): Promise<ProbeResult> {
    const result = await this.#ask(how);
    if (!this.#isBeginning(how)) {
      if (result.match === 'identical') this.#version = result.version;
      return result;
    }
    return result.match === 'identical' && result.version !== this.#version
      ? this.#ask({ ...how, isPart: false })
      : result;
  }

  /** Whether only the beginning of the file is compared. */
  #isBeginning({ isPart }: AskOptions): boolean {
    return isPart && this.#version !== undefined && (this.#expected.file?.size ?? 0) > PARTIAL_PROBE;
  }

  async #ask(how: AskOptions): Promise<ProbeResult> {
    const { clock, http, logger, signal: stop } = this.#ports;
    const left = Math.max(this.#session.deadline - clock.now(), SECOND);
    const signal = this.#session.limitTo(Math.min(maxProbeTime(this.#expected), left));
    const { cookies, isPart, asBrowser } = how;
    const { file, marker } = this.#expected;
    const { mustBeExternal, earlier = [], display } = this.#target;
    const isLink = mustBeExternal || file === null;
    const isBeginning = this.#isBeginning(how);
    const isComparedOnly = display === undefined && marker === undefined && !isLink;
    const options = {
      signal,
      guard: (url: URL) => this.#guard(url),
      publicOnly: this.#session.publicOnly,
      asBrowser,
      plainRefusals: this.#target.countsDownloads ?? false,
      ...(cookies === undefined ? {} : { cookies }),
      // Of thousands of files, each is fetched too fast for a progress of its own.
      ...(isComparedOnly
        ? { headSize: 0, readAtMost: this.#largestKnown() + 1 }
        : { startProgress: (total: number) => logger.progress('fetched back', total, 'bytes') }),
      ...(isBeginning ? { readAtMost: PARTIAL_PROBE } : {}),
      ...(isLink && { headSize: LINK_HEAD_SIZE + (isComparable(file) ? file.size : 0) }),
      blobs: earlier,
      readUntilFound: isPart && file === null,
    };
    try {
      const needles = marker === undefined ? [] : [Buffer.from(marker)];
      const fetched = await fetchBack(http, this.#url(), options, needles);
      this.#notBefore = clock.now() + (fetched.retryAfter ?? 0);
      const { httpCode, fingerprint, hosts, lastModified, age, keptFor, refusal, version } = fetched;
      const isFound = (fingerprint?.counts[0] ?? 0) > 0;
      const hasMarker = isFound && !(await isEcho(fetched, this.#expected, isPart));
      const compared = await this.#match({ ...fetched, hasMarker }, isBeginning);
      // With a file the whole page decides, and no marker.
      const isOther = mustBeExternal && file !== null && OTHER_PAGES.includes(compared);
      const added = isOther ? await readAdditions(fetched, file) : null;
      const match = !isOther ? compared : added === null ? 'different' : 'extended';
      const seen = { fingerprint, hosts, hasMarker, lastModified, age, keptFor, refusal, version };
      return {
        httpCode,
        match,
        ...seen,
        ...(added && { added }),
        ...(asBrowser && !options.plainRefusals && { asBrowser }),
      };
    } catch (thrown) {
      stop.throwIfAborted();
      return this.#failed(signal.aborted ? stalledError() : thrown, how);
    }
  }

  /** Bytes of the largest body that means anything. */
  #largestKnown(): number {
    const { earlier = [] } = this.#target;
    return Math.max(this.#expected.file?.size ?? 0, ...earlier.map(({ size }) => size));
  }

  async #match(
    fetched: FetchedContent & Pick<ProbeResult, 'hasMarker'>,
    isBeginning: boolean,
  ): Promise<ContentMatch> {
    if (fetched.isReplaced && fetched.httpCode === 200) return 'gate';
    const match = isBeginning
      ? await matchBeginning(fetched, this.#expected)
      : await matchContent(fetched, this.#expected);
    const isRight = match === 'identical' || match === 'altered';
    return isRight && isKeptFromSight(fetched, this.#target) ? 'not-shown' : match;
  }

  /** A host that the user named may be internal to a network; one on this machine is never a delivery. */
  #guard(url: URL): void {
    const { reach, why } = getReach(url);
    if (this.#target.mustBeExternal || reach === 'machine') {
      // Stays set where the next line throws: what is refused is not asked again.
      this.#isRefused = true;
      parseExternalAddress(url.href, 'the address');
      this.#isRefused = false;
    }
    this.#session.internalReason ||= why;
  }

  /** The address, each time with another `?v=`, so that no cache can give two requests the same answer. */
  #url(): URL {
    if (!this.#target.bypassCache) return this.#target.url;
    const url = new URL(this.#target.url);
    url.searchParams.set('v', this.#session.nextStamp());
    return url;
  }

  async #failed(failure: unknown, how: AskOptions): Promise<ProbeResult> {
    if (!(failure instanceof DeliveryError)) throw failure;
    if (failure.code !== 'NOT_EXTERNAL') return failedProbe(failure);
    if (this.#isRefused || this.#target.mustBeExternal || !this.#session.publicOnly) throw failure;
    // The name resolves to an internal address: it is asked once more from within this network.
    this.#session.publicOnly = false;
    this.#session.internalReason ||= failure.message;
    return this.#ask(how);
  }
}

interface AskOptions {
  readonly cookies: CookieJar | undefined;
  readonly isPart: boolean;
  readonly asBrowser: boolean;
}

/** What is known of an address that gave no answer. */
export const failedProbe = (failure: DeliveryError): ProbeResult => ({
  httpCode: failure.httpCode ?? null,
  match: 'absent',
  fingerprint: null,
  hosts: [],
  hasMarker: false,
  lastModified: null,
  age: null,
  keptFor: null,
  failure,
});

/** Whether the headers keep a browser from showing what it is to show. */
function isKeptFromSight({ isShown, isSaved }: FetchedContent, { display = 'none' }: ProbeTarget): boolean {
  return display === 'page' ? !isShown : display !== 'none' && isSaved;
}

/** Compares the beginning of a body, and the length that its host announces, with the file. */
async function matchBeginning(
  { fingerprint, length }: FetchedContent,
  { file }: ExpectedContent,
): Promise<ContentMatch> {
  if (file === null || fingerprint === null) return 'absent';
  if (length !== null && length !== file.size) return 'different';
  const sha256 = await file.headSha256?.(PARTIAL_PROBE);
  return fingerprint.sha256 === sha256 ? 'identical' : 'different';
}

/** Compares a body with the file, and with what the address showed before. */
async function matchContent(
  {
    fingerprint,
    hosts,
    httpCode,
    login,
    hasMarker,
    head,
    isBlob,
  }: FetchedContent & Pick<ProbeResult, 'hasMarker'>,
  { file, marker, gone = false }: ExpectedContent,
): Promise<ContentMatch> {
  if (gone && isAbsence(httpCode) && !login) return 'gone';
  if (fingerprint !== null && fingerprint.sha256 === file?.sha256) return 'identical';
  // A login page may contain any marker.
  if (login) return 'login';
  if (fingerprint === null) return 'absent';
  if (gone || isBlob) return 'previous';
  if (file !== null && (await isBeginningOf(file, fingerprint))) return 'cut-short';
  if (marker === undefined || fingerprint.counts[0] === 0) return 'different';
  if (!hasMarker) return 'echo';
  if (file !== null) return 'altered';
  // Of a link only the page itself tells what it is.
  return hosts.at(-1) === hosts[0] && !isGatePage(decodePage(head)) ? 'marked' : 'gate';
}

/** Bytes of the largest page in which additions are looked for. */
const LARGEST_COMPARED = 8 * MEGABYTE;

const isComparable = (file: ExpectedFile | null): file is ExpectedFile =>
  file !== null && file.size <= LARGEST_COMPARED;

/** What a link's page has beside everything of the file; `null` where it is not such a page. */
async function readAdditions(
  { fingerprint, head, isShown }: FetchedContent,
  file: ExpectedFile | null,
): Promise<readonly string[] | null> {
  if (!isShown || !isComparable(file) || fingerprint?.size !== head.length) return null;
  const pieces: Buffer[] = [];
  for await (const piece of file.pieces?.() ?? []) pieces.push(Buffer.from(piece));
  return findAdditions(Buffer.concat(pieces).toString('latin1'), head);
}

async function isBeginningOf(file: ExpectedFile, { size, sha256 }: ContentFingerprint): Promise<boolean> {
  if (size >= file.size) return false;
  return size === 0 || (await file.headSha256?.(size)) === sha256;
}

/** Milliseconds that one request may take: a very slow answer must leave time for another request. */
function maxProbeTime({ file, gone }: ExpectedContent): number {
  // The size of a link's content is not known.
  if (file === null) return gone ? PROBE_TIME.least : Number.POSITIVE_INFINITY;
  return probeTimeFor(file.size);
}

/** Milliseconds that one request for so many bytes may take. */
export const probeTimeFor = (size: number): number =>
  PROBE_TIME.least + (size / MEGABYTE) * PROBE_TIME.perMegabyte;

function stalledError(): DeliveryError {
  return new DeliveryError('NOT_PROVEN', 'the address gave no complete answer in time');
}
