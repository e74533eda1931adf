/** Says how far a load is. */
export type LogProgress = (line: string) => void;

/** What a load left behind. */
export interface LoadReport {
  readonly title: string;
  /** A row each: what was counted, and the count. */
  readonly rows: readonly (readonly [what: string, count: string])[];
  /** Everything that is not as it must be, a sentence each; empty after a good run. */
  readonly problems: readonly string[];
}

/** Seconds since a moment of `performance.now()`, as a person reads them. */
export const formatSecondsSince = (startedAt: number): string =>
  `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;

export function formatLoadReport({ title, rows, problems: faults }: LoadReport): string {
  const width = Math.max(...rows.map(([what]) => what.length));
  const lines = rows.map(([what, count]) => `  ${what.padEnd(width)}  ${count}`);
  return [title, ...lines, ...faults.map((fault) => `  FAULT: ${fault}`)].join('\n');
}
