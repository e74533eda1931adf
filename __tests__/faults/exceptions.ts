import type { Cell } from './cells.ts';

/** Flaws that certain cells are allowed. */
export interface Exception {
  readonly request: RegExp;
  readonly fault: RegExp;
  readonly flaw: RegExp;
  readonly because: string;
}

/** Every cell that doesn't go as all the others do. A row that no cell needs is a mistake. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    request: /^DELETE .*releases\/assets/,
    fault: /404/,
    flaw: /^left behind: outgoing-/,
    because: 'an answer that an asset is gone is believed',
  },
];

/** The same for what git does by itself. */
export const GIT_EXCEPTIONS: readonly Exception[] = [
  {
    request: /info\/refs/,
    fault: /HTML/,
    flaw: /^not delivered: .*find remote ref/,
    because: 'git takes a page for a repository of the oldest kind, in which the branch is missing',
  },
];

/** The row that allows a flaw. */
export function allowing(
  rows: readonly Exception[],
  { request, fault }: Cell,
  flaw: string,
): Exception | undefined {
  return rows.find(
    (row) => row.request.test(request.name) && row.fault.test(fault.name) && row.flaw.test(flaw),
  );
}
