import * as z from 'zod';
import type { Report, SiteReport } from '../delivery/report.ts';
import type { ScreenReport } from '../delivery/screen/screen-report.ts';
import { ERROR_CODES, type ErrorCode } from '../protocol/error-codes.ts';
import { CHANNELS, type ChannelKey, GATES, PROTOCOL, REPORT_LINES, STEPS } from '../protocol/words.ts';
import type { PersonRequest } from './authorizations.ts';
import type { ToolAnswer } from './tool-answer.ts';

/**
 * What the tools answer. It accepts what the schema that is generated from `ToolAnswer` accepts, which a test holds.
 * There are two because a client lists this one with every tool: it explains only what a caller needs, in less
 * than two thirds of the length.
 */

const CHANNEL_SCHEMA = z.enum(Object.keys(CHANNELS) as [ChannelKey, ...ChannelKey[]]);
const CODE = z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]);
const paths = () => z.array(z.string());
const count = () => z.number();

const SITE_SCHEMA = z.object({
  entry: z.string().describe('The page whose address is handed over.'),
  count: count(),
  size: count(),
  files: z.array(z.object({ path: z.string(), size: count(), sha256: z.string() })),
  changes: z
    .object({ added: paths(), changed: paths(), removed: paths(), kept: paths(), removedFolders: paths() })
    .nullable(),
  changeCounts: z.object({ added: count(), changed: count(), removed: count() }).nullable(),
  treeSha: z.string().nullable(),
  servedSize: count().nullable(),
  leftOut: paths(),
}) satisfies z.ZodType<SiteReport>;

const SCREEN_SCHEMA = z.object({
  isPublished: z.boolean(),
  verdict: z.enum(['shown', 'not-shown', 'not-checked']),
  reason: z.string(),
  hint: z.string(),
  browser: z.string(),
  httpCode: count().nullable(),
  title: z.string(),
  painted: z.object({ characters: count(), images: count(), drawings: count() }),
  isMarkerVisible: z.boolean().nullable(),
  exceptions: paths(),
  failedRequests: paths(),
  blockedRequests: paths(),
  consoleErrors: paths(),
  counts: z.object({
    exceptions: count(),
    failedRequests: count(),
    blockedRequests: count(),
    consoleErrors: count(),
  }),
  overflow: count(),
  elapsed: count(),
  isStable: z.boolean().nullable(),
  agreement: count().nullable(),
}) satisfies z.ZodType<ScreenReport>;

const REPORT_SCHEMA = z.object({
  protocol: z.literal(PROTOCOL.identifier),
  version: z.literal(PROTOCOL.version),
  operation: z.enum(['deliver', 'withdraw']),
  ready: z.boolean(),
  url: z.string().nullable().describe('The proven address; null unless every gate is passed.'),
  withdrawn: z.string().nullable().describe('The address that no longer serves the file.'),
  gone: paths().optional(),
  lines: z.record(z.enum(REPORT_LINES), z.string()),
  gates: z.array(z.object({ name: z.enum(GATES), passed: z.boolean(), evidence: z.string() })),
  file: z.object({ path: z.string(), size: count().nullable(), sha256: z.string().nullable() }).nullable(),
  site: SITE_SCHEMA.nullable(),
  screen: SCREEN_SCHEMA.nullable(),
  picture: z
    .object({
      url: z.string(),
      sha256: z.string(),
      alternative: z.string(),
      beforeUrl: z.string().nullable(),
      changed: count().nullable(),
    })
    .nullable(),
  channel: CHANNEL_SCHEMA.nullable(),
  commitSha: z.string().nullable(),
  rawUrl: z.string().nullable(),
  duplicates: z.array(
    z.object({ channel: CHANNEL_SCHEMA, url: z.string().nullable(), reason: z.string().nullable() }),
  ),
  notReady: z
    .object({
      step: z.enum(STEPS),
      httpCode: z.number().nullable(),
      code: CODE,
      reason: z.string(),
      hint: z.string(),
      findings: z.object({ about: z.string(), lines: paths() }).optional(),
    })
    .nullable(),
  unknown: paths().describe('What was not verified.'),
  notes: paths(),
  took: z.partialRecord(z.enum(STEPS), z.number()).describe('Milliseconds by step.'),
}) satisfies z.ZodType<AsParsed<Report>>;

const AUTHORIZATION_SCHEMA = z.object({
  userCode: z.string().describe('Show it to your human, with the page.'),
  page: z.string(),
  handle: z.string().describe('Call the tool again with `authorization` set to it.'),
  expiresIn: z.number().describe('Seconds.'),
}) satisfies z.ZodType<PersonRequest>;

/** The answer of every tool. */
export const TOOL_ANSWER = z.object({
  result: z.enum(['ready', 'withdrawn', 'planned', 'not-ready', 'authorization_required']),
  url: z.string().describe('Give it to your human if it is not empty; of several files a line each.'),
  reason: z.string().describe('Else give this, and `hint`.'),
  hint: z.string().describe('What to change.'),
  code: CODE.nullable().describe('Why it is not ready; the contract says what each code means.'),
  reports: z.array(REPORT_SCHEMA),
  authorization: AUTHORIZATION_SCHEMA.optional(),
}) satisfies z.ZodType<AsParsed<ToolAnswer>>;

/** The same type as zod writes it: what may be absent may also be `undefined`. */
type AsParsed<T> = T extends readonly (infer Item)[]
  ? readonly AsParsed<Item>[]
  : T extends object
    ? {
        readonly [Key in keyof T]: Record<never, never> extends Pick<T, Key>
          ? AsParsed<T[Key]> | undefined
          : AsParsed<T[Key]>;
      }
    : T;
