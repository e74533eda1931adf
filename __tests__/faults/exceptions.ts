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
    request: /-before$/,
    fault: /drip/,
    flaw: /^it took/,
    because: 'the page that stands there is looked at without a bound',
  },
  {
    request: /^GET (release-assets|situla|preview)\./,
    fault: /drip/,
    flaw: /^not delivered/,
    because: 'a look may last as long as a large file needs, and a drip uses up the whole verification',
  },
  {
    request: /^POST .*pages\/builds/,
    fault: /./,
    flaw: /^not delivered/,
    because: 'a build is requested once, even where the request did not get through',
  },
  {
    request: /^POST uploads\./,
    fault: /./,
    flaw: /^left behind: incoming-/,
    because: 'each attempt uploads under a new interim name, and nobody takes the earlier one away',
  },
  {
    request: /^(DELETE|PATCH) .*releases\/assets/,
    fault: /./,
    flaw: /^(left behind: incoming-|the earlier asset is lost)/,
    because: 'the old asset is deleted before the new one has its name, and a failed swap is not undone',
  },
  {
    request: /^POST filebin/,
    fault: /truncated|HTML/,
    flaw: /^(no hint|not delivered)/,
    because: 'an answer of the bin that is not its JSON is not tried again',
  },
];

export function allowed({ request, fault }: Cell, flaw: string): Exception | undefined {
  return EXCEPTIONS.find(
    (row) => row.request.test(request.name) && row.fault.test(fault.name) && row.flaw.test(flaw),
  );
}
