import { TEXT } from '../protocol/limits.ts';

/** The host's text as it may stand in a message: one line, bounded. */
export function shortHostMessage(text: unknown): string {
  const line = String(text ?? '')
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > TEXT.hostMessage ? `${line.slice(0, TEXT.hostMessage)}…` : line;
}
