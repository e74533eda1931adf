import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Report, ReportDocument } from '../../src/delivery/report.ts';

const schema = JSON.parse(readFileSync(new URL('../../report.schema.json', import.meta.url), 'utf8'));
const isDocument = new Ajv2020({ allErrors: true }).compile<ReportDocument>(schema);

/**
 * The document of `--json`, `report-json` and a tool.
 * @throws {Error} if it does not match report.schema.json
 */
export function parseDocument(text: string): ReportDocument {
  const document: unknown = JSON.parse(text);
  if (isDocument(document)) return document;
  throw new Error(`not as in report.schema.json: ${JSON.stringify(isDocument.errors)}\n${text}`);
}

/** The reports in the output `report-json`; empty if that output is missing. */
export const parseReports = (text: string | undefined): readonly Report[] =>
  text === undefined ? [] : parseDocument(text).reports;
