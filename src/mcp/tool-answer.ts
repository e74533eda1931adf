import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { type Report, type ReportDocument, unknownLabel } from '../delivery/report.ts';
import type { PersonRequest } from '../github/person-authorization.ts';
import { lineIf, shorten } from '../plain-text.ts';
import { PLAIN_REASONS } from '../protocol/error-codes.ts';
import { LISTING, SITE, TEXT } from '../protocol/limits.ts';
import type { ToolName } from '../request/inputs.ts';

const FIELD = z.string().optional();

/** An answer without its empty fields. It is short, because clients list its schema with every tool. */
export const ANSWER_SCHEMA = z.strictObject({
  result: z.string(),
  say: z.string().describe('Repeat this to your human.'),
  ...{ url: FIELD, opens: FIELD, expires: FIELD, code: FIELD, reason: FIELD },
  replaced: z.boolean().optional(),
  unknown: z.array(z.string()).optional(),
  hint: FIELD.describe('For you alone.'),
  report: z.string(),
  authorization: z
    .strictObject({ userCode: z.string(), page: z.string() })
    .optional()
    .describe('Show your human only these, then call again with the same arguments.'),
});

/** Kept loose, because its fields are those of `list --json`. */
export const LIST_SCHEMA = z.looseObject({ result: z.string(), say: z.string(), report: z.string() });

export type ToolAnswer = z.infer<typeof ANSWER_SCHEMA>;

/** A call, and what only a person can do about it. */
export interface ForHuman {
  readonly tool: ToolName;
  readonly required?: PersonRequest;
  /** The ways out that only the person who configured the server can take. */
  readonly ways: readonly string[];
  /** With the fields that no document has. */
  readonly reports?: readonly Report[];
}

/** @param report the resource with the document */
export function composeAnswer(document: ReportDocument, report: string, forHuman: ForHuman): ToolAnswer {
  const { result, url, reason, hint, code, reports, deliveries = [], unlisted } = document;
  const { required: authorization } = forHuman;
  const [{ opens, expires } = {}] = reports;
  const at = forHuman.reports?.[0]?.mayBeAt;
  // Then the line only says that nothing was published.
  const isUnchanged = forHuman.reports?.every((each) => unknownLabel(each) === 'Status');
  const next = at === undefined ? hint : `to remove it, call \`withdraw\` with the \`url\` ${at}`;
  const fields = {
    ...(url && { url, opens, expires, replaced: reports.some((each) => each.replaced) }),
    ...(!isUnchanged &&
      authorization === undefined && {
        unknown: (unlisted ?? shortenUnknown(document)).slice(0, SITE.named),
      }),
    // Their URLs are not verified, so none is in `url`.
    deliveries: deliveries.slice(0, LISTING.shown),
    ...{ code, reason: shorten(reason, TEXT.answer), hint: shorten(next, TEXT.answer), authorization },
  };
  const filled = Object.entries(fields).filter(([, value]) => value && !isDeepStrictEqual(value, []));
  return {
    result: authorization === undefined ? result : 'authorization_required',
    say: sayToHuman(document, forHuman),
    ...Object.fromEntries(filled),
    report,
  };
}

const shortenUnknown = ({ reports }: ReportDocument): readonly string[] =>
  [...new Set(reports.flatMap(({ unknown }) => unknown))].map((line) => shorten(line, TEXT.message));

/** One or two sentences, and what is not certain, for a human who doesn't know channels and gates. */
export function sayToHuman(document: ReportDocument, { required, ...forHuman }: ForHuman): string {
  const { result, reason, reports, deliveries = [] } = document;
  if (required !== undefined) {
    return `Please open ${required.page} and enter the code ${required.userCode}, so that I can publish in your repository.`;
  }
  const texts = {
    ready: sayReady(document),
    withdrawn: sayWithdrawn(reports),
    audited: `I checked everything again: ${reason}.`,
    listed: `I found ${reason}.${deliveries.length > LISTING.shown ? ` The answer has the newest ${LISTING.shown}.` : ''}`,
    planned:
      reports[0]?.channel === 'K3' ? ON_BIN : 'I checked it and found no problem. Nothing is published yet.',
    'not-ready': sayFailure(document, forHuman),
  };
  return [texts[result], ...sayUnknown(document)].join('\n');
}

function sayWithdrawn(reports: readonly Report[]): string {
  if (reports.every(({ wasAbsent }) => wasAbsent)) {
    return `There was nothing to remove: ${[...new Set(reports.map(({ withdrawn }) => withdrawn))].join(' and ')}`;
  }
  const part = reports.some(({ leavesFiles }) => leavesFiles) ? ' in part' : '';
  const notes = reports.flatMap((report) => report.notes).join('; ');
  const first = `It is removed${part}, and I verified that its link no longer shows it.`;
  return [first, ...lineIf(notes !== '', `${shorten(notes, TEXT.message)}.`)].join('\n');
}

type Failure = Pick<ReportDocument, 'reason' | 'code'>;

function sayFailure({ reason, code }: Failure, { tool, ways, reports = [] }: ForHuman): string {
  const [{ mayBeAt, notReady, subject } = {}] = reports;
  if (tool === 'audit' && code === 'NOT_FOUND' && notReady?.step === 'check') {
    return `I found no delivery at ${subject}.`;
  }
  const [unchanged, unsure = unchanged] = FAILURES[tool];
  const first = reports.some(({ mayBeWritten }) => mayBeWritten) ? unsure : unchanged;
  // Only a person can correct the settings of the server.
  const plain = code === 'BAD_INPUT' && ways.length > 0 ? undefined : code && PLAIN_REASONS[code];
  return [
    `${first}: ${plain ?? shorten(reason, TEXT.message)}.`,
    ...ways.map((way) => `You can change that: ${way}.`),
    ...lineIf(mayBeAt !== undefined, `I can remove it. It may be at ${mayBeAt}`),
  ].join(' ');
}

const ON_BIN =
  'Nothing is uploaded yet. I can only put it on a public file-bin, where anyone with the link can download it for about 7 days. Shall I do that?';

/** The URL ends its line, so that no period follows it. */
function sayReady({ url, reports }: ReportDocument): string {
  const [{ channel, opens, expires, urlNote } = {}] = reports;
  const first =
    channel === 'K4' ? 'I checked the link, and it shows what it should to anyone' : 'It is ready';
  const can = opens === 'download' ? 'download it' : 'open it as a page';
  const until = expires === undefined ? '' : ` until ${expires.slice(0, 10)}`;
  const replaced = reports.some((report) => report.replaced) ? ' It replaces the earlier version.' : '';
  return [
    `${first}: ${url}`,
    ...lineIf(channel !== 'K4', `It is public: anyone with the link can ${can}${until}.${replaced}`),
    ...lineIf(urlNote !== undefined, `Please use exactly this link: ${urlNote}.`),
  ].join('\n');
}

/** With the notes, which name what stays in a folder. */
/** At most two, because a human reads no list. */
function sayUnknown(document: ReportDocument): readonly string[] {
  const lines = shortenUnknown(document);
  const more = lines.length > 2 ? `, and ${lines.length - 2} more` : '';
  const isSaid = lines.length > 0 && !['planned', 'not-ready'].includes(document.result);
  return lineIf(isSaid, `Not certain: ${lines.slice(0, 2).join('; ')}${more}.`);
}

/** If nothing changed, and if something may have changed. */
const FAILURES: Readonly<Record<ToolName, readonly [string, string?]>> = {
  deliver: ['I published nothing', 'There is no link to give you, but it may be public already'],
  withdraw: ['I removed nothing', "I couldn't verify that it is removed"],
  verify: ["I couldn't confirm the link"],
  audit: ["I couldn't verify that everything is as it was delivered"],
  list: ["I couldn't list the deliveries"],
};
