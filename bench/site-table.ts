import { round } from './measure.ts';
import { measureSite, type SampleSite, type SiteRow } from './site.ts';

/** A folder beside plain git and curl: the smallest ratio, because others may use the machine as well. */
export interface SiteResult {
  readonly delivery: string;
  readonly seconds: number;
  /** Seconds of git and curl together; `null` for a delivery that only changes a file. */
  readonly peer: number | null;
  readonly ratio: number | null;
  /** The highest memory of a turn, in MB. */
  readonly peak: number;
  /** Requests to the API. */
  readonly requests: number;
  /** Bytes that git received of the delivery, in MB. */
  readonly sent: number;
}

const SITES: readonly (SampleSite & { readonly turns: number })[] = [
  { files: 3_000, bytes: 150e6, turns: 3 },
  { files: 10_000, bytes: 40e6, turns: 1 },
];

/** Measures every sample folder, and prints a table. */
export async function compareSites(): Promise<readonly SiteResult[]> {
  console.log(
    '\n| Delivery | Seconds | git and curl | Ratio | Peak, MB | API requests | Sent, MB |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
  );
  const results: SiteResult[] = [];
  for (const { turns, ...sample } of SITES) {
    const measured: (readonly SiteRow[])[] = [];
    for (let turn = 0; turn < turns; turn += 1) measured.push(await measureSite(sample));
    for (const nth of (measured[0] ?? []).keys()) {
      results.push(summarizeTurns(measured.flatMap((rows) => rows[nth] ?? [])));
    }
    for (const { delivery, seconds, peer, ratio, peak, requests, sent } of results.slice(-2)) {
      console.log(
        `| ${delivery} | ${seconds} | ${peer ?? ''} | ${ratio ?? ''} | ${peak} | ${requests} | ${sent} |`,
      );
    }
  }
  return results;
}

function summarizeTurns(rows: readonly SiteRow[]): SiteResult {
  const ratio = Math.min(...rows.map(({ seconds, peer }) => seconds / (peer ?? Number.NaN)));
  const peer = Math.min(...rows.map((row) => row.peer ?? Number.NaN));
  return {
    delivery: `K1 ${rows[0]?.step}`,
    seconds: round(Math.min(...rows.map(({ seconds }) => seconds)), 2),
    peer: Number.isNaN(peer) ? null : round(peer, 2),
    ratio: Number.isNaN(ratio) ? null : round(ratio, 2),
    peak: round(Math.max(...rows.map((row) => row.peak)), 0),
    requests: Math.max(...rows.map(({ requests }) => requests)),
    sent: round(Math.max(...rows.map((row) => row.sent)) / 1e6, 3),
  };
}
