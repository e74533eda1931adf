import { lineIf, namedLine } from '../../plain-text.ts';
import type { ProbeResult } from '../../proof/probe-result.ts';

/** Describes a link's host for the line UNKNOWN. */
export function describeAdditions(seen: readonly ProbeResult[]): readonly string[] {
  const added = [...new Set(seen.flatMap((answer) => answer.added ?? []))];
  return [
    ...namedLine("what the additions by the link's host do", added),
    ...lineIf(
      seen.some((answer) => answer.added?.length === 0),
      "whether its pages look the same: the link's host has changed spaces or line breaks, which count in preformatted text",
    ),
    ...lineIf(
      seen.some((answer) => answer.isElsewhere),
      "where URLs built by styles and scripts lead: the link's host serves the page from another folder",
    ),
    ...lineIf(
      seen.some((answer) => answer.hasPolicy),
      "what the Content-Security-Policy of the link's host blocks",
    ),
  ];
}
