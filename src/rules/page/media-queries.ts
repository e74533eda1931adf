import type { ReferenceGrade } from './addresses.ts';

/** The window of a desktop computer, in CSS pixels; a rule for it is used when the page opens there. */
const WINDOW: Readonly<Record<string, number>> = { width: 1_280, height: 720 };

/** Pixels of a unit; the length in any other one is not known. */
const UNITS: Readonly<Record<string, number>> = { '': 1, px: 1, em: 16, rem: 16 };

/** Dots per pixel on such a screen, in each unit. */
const RESOLUTION: Readonly<Record<string, number>> = { '': 1, x: 1, dppx: 1, dpi: 96 };

/** What a browser on a desktop computer answers if nobody changed its settings. */
const ANSWERS: Readonly<Record<string, string>> = {
  'any-hover': 'hover',
  'any-pointer': 'fine',
  'display-mode': 'browser',
  'forced-colors': 'none',
  hover: 'hover',
  orientation: 'landscape',
  pointer: 'fine',
  'prefers-color-scheme': 'light',
  'prefers-contrast': 'no-preference',
  'prefers-reduced-motion': 'no-preference',
  scripting: 'enabled',
  update: 'fast',
};

/** Features that are met without a value. */
const PLAIN_FEATURES = new Set(['any-hover', 'any-pointer', 'color', 'height', 'hover', 'pointer', 'width']);

/**
 * When a browser uses what is below a list of media queries: `start` where a browser on a desktop computer meets it,
 * `later` where none with a screen does, else `conditional`.
 *
 * @see https://drafts.csswg.org/mediaqueries/
 */
export function gradeMedia(list: string): ReferenceGrade {
  const results = list.split(',').map(matchQuery);
  if (results.includes(true)) return 'start';
  return results.every((result) => result === false) ? 'later' : 'conditional';
}

/** `false` for a query that no screen meets; `null` where it depends. */
function matchQuery(query: string): boolean | null {
  const [, prefix = '', type = 'all', rest = ''] =
    /^\s*(?:(not|only)\b\s*)?([a-z-]+)?\s*(?:and\b)?(.*)$/is.exec(query) ?? [];
  const isScreen = /^(?:all|screen)$/i.test(type);
  const features = rest.split(/\band\b/i).map((feature) => feature.trim());
  const isMet = rest.trim() === '' || features.every(matchFeature);
  if (prefix.toLowerCase() !== 'not') return isScreen ? isMet || null : false;
  if (isScreen) return rest.trim() === '' ? false : null;
  return true;
}

/** Whether a browser on a desktop computer surely has a feature. */
function matchFeature(feature: string): boolean {
  const [, inner = ''] = /^\(([^()]*)\)$/.exec(feature) ?? [];
  const text = inner.trim().toLowerCase();
  if (PLAIN_FEATURES.has(text)) return true;
  const [, name = '', value = ''] = /^([a-z-]+)\s*:\s*(.*)$/.exec(text) ?? [];
  if (name === '') return matchRange(text);
  const [, side = '', bounded = ''] = /^(?:-webkit-)?(min|max)-(.*)$/.exec(name) ?? [];
  if (side === '') return ANSWERS[name] === value;
  return compare(bounded, side === 'min' ? '>=' : '<=', value);
}

/** A range such as `width >= 600px` or `400px < width < 700px`. */
function matchRange(text: string): boolean {
  const parts = text.split(/\s*([<>]=?)\s*/);
  const [first = '', sign = '', second = '', nextSign = '', third = ''] = parts;
  if (parts.length === 3) {
    return Number.isNaN(parseFloat(first))
      ? compare(first, sign, second)
      : compare(second, turn(sign), first);
  }
  return parts.length === 5 && compare(second, turn(sign), first) && compare(second, nextSign, third);
}

const turn = (sign: string): string =>
  sign.startsWith('<') ? sign.replace('<', '>') : sign.replace('>', '<');

function compare(name: string, sign: string, value: string): boolean {
  const [, digits = '', unit = ''] = /^([\d.]+)([a-z]*)$/.exec(value.trim()) ?? [];
  const isResolution = name === 'resolution' || name === 'device-pixel-ratio';
  const own = isResolution ? RESOLUTION[unit] : WINDOW[name];
  const factor = isResolution ? 1 : UNITS[unit];
  if (digits === '' || own === undefined || factor === undefined) return false;
  const bound = Number(digits) * factor;
  if (sign.startsWith('>')) return sign === '>' ? own > bound : own >= bound;
  return sign === '<' ? own < bound : own <= bound;
}
