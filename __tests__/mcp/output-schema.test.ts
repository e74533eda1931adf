import { expect, test } from '@jest/globals';
import type * as z from 'zod';
import type { Report, SiteReport } from '../../src/delivery/report.ts';
import type { ScreenReport } from '../../src/delivery/screen/screen-report.ts';
import type { REPORT_SCHEMA, SCREEN_SCHEMA, SITE_SCHEMA } from '../../src/mcp/output-schema.ts';

/** The fields of a type that its schema lacks. */
type MissingFields<Type, Schema extends z.ZodType> = Exclude<keyof Type, keyof z.infer<Schema>>;

test('the schemas of the answers have every field: a client refuses what they do not know', () => {
  // The compiler asks for an entry for each field that is missing.
  const missing: Record<
    | MissingFields<Report, typeof REPORT_SCHEMA>
    | MissingFields<SiteReport, typeof SITE_SCHEMA>
    | MissingFields<ScreenReport, typeof SCREEN_SCHEMA>,
    string
  > = {};
  expect(missing).toEqual({});
});
