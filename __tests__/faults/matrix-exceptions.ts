import type { MatrixCell } from './fault-runner.ts';

/** A flaw that is allowed for certain cells. */
export interface MatrixException {
  readonly request: RegExp;
  readonly fault: RegExp;
  readonly flaw: RegExp;
  readonly reason: string;
}

/** Every cell that may differ from the rule. A row that no cell needs fails the test. */
export const MATRIX_EXCEPTIONS: readonly MatrixException[] = [];

/** The same for git's own requests. */
export const GIT_EXCEPTIONS: readonly MatrixException[] = [
  {
    request: /info\/refs/,
    fault: /HTML/,
    flaw: /^not delivered: .*find remote ref/,
    reason: 'git takes a page for a repository of the oldest kind, in which the branch is missing',
  },
];

/** Finds the exception that allows a flaw. */
export function findException(
  rows: readonly MatrixException[],
  { request, fault }: MatrixCell,
  flaw: string,
): MatrixException | undefined {
  return rows.find(
    (row) => row.request.test(request.name) && row.fault.test(fault.name) && row.flaw.test(flaw),
  );
}
