import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Report, ReportDocument } from '../../src/delivery/report.ts';

const schema = JSON.parse(readFileSync(new URL('../../report.schema.json', import.meta.url), 'utf8'));
const isDocument = new Ajv2020({ allErrors: true }).compile<ReportDocument>(schema);

/** What `--json`, `report-json` and a tool answer. @throws {Error} where report.schema.json does not describe it */
export function parseDocument(text: string): ReportDocument {
  const document: unknown = JSON.parse(text);
  if (isDocument(document)) return document;
  throw new Error(`not as in report.schema.json: ${JSON.stringify(isDocument.errors)}\n${text}`);
}

/** The reports in the output `report-json`; none where the step has no such output. */
export const parseReports = (text: string | undefined): readonly Report[] =>
  text === undefined ? [] : parseDocument(text).reports;
