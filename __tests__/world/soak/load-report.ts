/** Prints the progress of a load test. */
export type LogProgress = (line: string) => void;

/** The result of a load test. */
export interface LoadReport {
  readonly title: string;
  /** Rows of a label and a count. */
  readonly rows: readonly (readonly [what: string, count: string])[];
  /** All problems, one sentence each; empty after a good run. */
  readonly problems: readonly string[];
}

/** Formats the seconds since a moment of `performance.now()`. */
export const formatSecondsSince = (startedAt: number): string =>
  `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;

export function formatLoadReport({ title, rows, problems: faults }: LoadReport): string {
  const width = Math.max(...rows.map(([what]) => what.length));
  const lines = rows.map(([what, count]) => `  ${what.padEnd(width)}  ${count}`);
  return [title, ...lines, ...faults.map((fault) => `  FAULT: ${fault}`)].join('\n');
}
