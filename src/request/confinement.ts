import type { Confinement } from '../channels/pages/destination.ts';
import { CONTENT } from '../protocol/limits.ts';
import { repositoryPath } from '../rules/naming.ts';
import type { InputName, RawInputs } from './inputs.ts';
import { oneLine, refuseInput } from './values.ts';

/** Inputs that would lead elsewhere. */
const LEADING_ELSEWHERE: readonly InputName[] = ['file', 'path', 'url'];

/**
 * The confinement that `confine` asks for. The author of a page's name and content could otherwise move it with
 * them: out of the folder by a path, over the site by `CNAME` or `_config.yml`, to any address by Jekyll's
 * front matter, and over pages of others by a service worker's script.
 *
 * @param job the workflow and job that delivers
 * @throws {DeliveryError} `BAD_INPUT` for anything but a page as content, on K1 alone.
 * @see protocol 7 (prohibition 4), design 4
 */
export function parseConfinement(raw: RawInputs, job: string): Confinement | undefined {
  if (raw.confine === '') return undefined;
  const folder = parseFolder(raw.confine);
  for (const name of LEADING_ELSEWHERE) {
    if (raw[name].trim() !== '') refuseTogether(name);
  }
  if (raw.overwrite.trim().toLowerCase() !== 'false') refuseTogether('overwrite');
  if (raw.operation.trim().toLowerCase() !== 'deliver') refuseTogether('operation');
  if (!['auto', 'k1', 'pages'].includes(raw.channel.trim().toLowerCase())) {
    refuseInput('input `confine` is for K1 alone', (w) => w.use('K1'));
  }
  refuseOtherName(raw.name);
  refuseFrontMatter(raw.content);
  return { folder, owner: oneLine(`${folder} ${job}`) };
}

function parseFolder(text: string): string {
  if (!text.endsWith('/')) refuseInput('input `confine` does not end in /', 'add it');
  return `${repositoryPath(text.slice(0, -1), 'input `confine`')}/`;
}

const refuseTogether = (name: InputName): never =>
  refuseInput(
    `inputs \`confine\` and \`${name}\` are both given`,
    'leave one of them out: a confined delivery takes a name and its content alone',
  );

/** A name that every file system takes, also one that keeps names of devices for itself. */
function refuseOtherName(name: string): void {
  const isPage = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_-]*(\.[\p{L}\p{M}\p{N}_-]+)*\.html$/u.test(name);
  const isDevice = /^(con|prn|aux|nul|com\d|lpt\d)\./i.test(name);
  if (isPage && !isDevice && Buffer.byteLength(name) <= CONTENT.name) return;
  refuseInput(
    `input \`name\` is not the name of a page: ${oneLine(name)}`,
    (w) => `set ${w.input('name')} to letters, digits, -, _ and ., such as answer.html`,
  );
}

/** Jekyll would take an address, a layout and commands from there. @see https://jekyllrb.com/docs/front-matter/ */
function refuseFrontMatter(content: string): void {
  if (!/^\s*\uFEFF?\s*---/.test(content)) return;
  refuseInput(
    'the content begins with front matter, with which a page chooses its own address',
    'begin it with `<!doctype html>`',
  );
}
