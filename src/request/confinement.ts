import { CONTENT } from '../protocol/limits.ts';
import { oneLine } from './input-kinds.ts';
import type { InputRule } from './input-rules.ts';
import { INPUTS } from './inputs.ts';

/** A name that every file system takes, also one that keeps names of devices for itself. */
const PAGE_NAME =
  /^(?!(?:con|prn|aux|nul|com\d|lpt\d)\.)[\p{L}\p{N}][\p{L}\p{M}\p{N}_-]*(\.[\p{L}\p{M}\p{N}_-]+)*\.html$/iu;

/**
 * The author of a page's name and content could otherwise move it with them: out of the folder by a path, over the
 * site by `CNAME` or `_config.yml`, to any address by Jekyll's front matter, and over pages of others by a service
 * worker's script. @see protocol 7 (prohibition 4), design 4
 */
export const CONFINED_RULES: readonly InputRule[] = [
  ...(['file', 'path', 'url', 'overwrite', 'operation'] as const).map(
    (name): InputRule => [
      ({ raw }) => raw[name].trim().toLowerCase() !== INPUTS[name].default,
      (w) => `${w.subject('confine')} and ${w.subject(name)} are both given`,
      (w) =>
        `leave ${w.input(name)} or ${w.input('confine')} out: a confined delivery takes ${w.input('name')} and ${w.input('content')} alone`,
    ],
  ),
  [
    ({ channel }) => channel !== 'auto' && channel.join() !== 'K1',
    (w) => `${w.subject('confine')} is for K1 alone`,
    (w) => `${w.use('K1')}, or leave ${w.input('confine')} out`,
  ],
  [
    ({ raw: { name } }) =>
      !PAGE_NAME.test(name) || !name.endsWith('.html') || Buffer.byteLength(name) > CONTENT.name,
    (w, { raw }) => `${w.subject('name')} is not the name of a page: ${oneLine(raw.name)}`,
    (w) =>
      `set ${w.input('name')} to letters, digits, -, _ and ., with the ending .html, such as answer.html`,
  ],
  // Jekyll would take an address, a layout and commands from there. @see https://jekyllrb.com/docs/front-matter/
  [
    ({ content }) => /^\s*\uFEFF?\s*---/.test(content),
    (w) => `${w.subject('content')} begins with front matter, with which a page chooses its own address`,
    (w) => `begin ${w.input('content')} with \`<!doctype html>\``,
  ],
];
