import { alert } from '@mdit/plugin-alert';
import { footnote } from '@mdit/plugin-footnote';
import { tasklist } from '@mdit/plugin-tasklist';
import GithubSlugger from 'github-slugger';
import MarkdownIt from 'markdown-it';
import anchor from 'markdown-it-anchor';
import { full as emoji } from 'markdown-it-emoji';
import { sha256 } from '../resources.ts';
import { highlight } from './code.ts';
import { createPageLimit, formatRest, READ_LIMIT, type Render, type Source } from './source.ts';

type Token = ReturnType<MarkdownIt['parse']>[number];

const SAFE_LINKS = ['http:', 'https:', 'mailto:'];

/** Headings may link to themselves, as on GitHub. */
const permalink = anchor.permalink.linkInsideHeader({
  class: 'anchor',
  symbol: '<span class="octicon octicon-link"></span>',
  placement: 'before',
  ariaHidden: true,
  space: false,
});

/** Text without its marks. As on GitHub, an address has an emoji's name. */
const wordsOf = (tokens: readonly Token[], isAddress: boolean): string =>
  tokens
    .filter(({ type }) => ['text', 'code_inline', 'emoji'].includes(type))
    .map(({ type, markup, content }) => (isAddress && type === 'emoji' ? markup : content))
    .join('');

/** The anchors of a page are unique, so each page has its own slugger. */
const toSlug = (title: string, { env }: { readonly env: { readonly slugger: GithubSlugger } }): string =>
  env.slugger.slug(title);

const parser = new MarkdownIt({ linkify: true, highlight })
  .use(footnote)
  .use(alert)
  .use(tasklist, { label: false, containerClass: 'contains-task-list' })
  .use(emoji, { shortcuts: {} })
  .use(anchor, {
    slugifyWithState: toSlug,
    getTokensText: (tokens) => wordsOf(tokens, true),
    tabIndex: false,
    permalink,
  });
// Otherwise names such as README.md would be links.
parser.linkify.set({ fuzzyLink: false }).add('www.', {
  validate: (text, at, linkify) => {
    const start = '//www.';
    return Math.max(0, linkify.testSchemaAt(start + text.slice(at, at + 2_000), 'http:', 0) - start.length);
  },
  normalize: (match) => {
    match.url = `http://${match.url}`;
  },
});

let [searched, from, end] = ['', 0, -1];

/** Remembers what it found: a text may open many comments and close none. */
function findCommentEnd(text: string, start: number): number {
  if (text !== searched || start < from || start > end) {
    const found = text.indexOf('-->', start);
    [searched, from, end] = [text, start, found === -1 ? Number.POSITIVE_INFINITY : found];
  }
  return end;
}

/** Comments are not for readers. @returns the length of the comment that starts here; 0 for other text */
function commentLength(text: string, start: number): number {
  const close = text.startsWith('<!--', start) ? findCommentEnd(text, start + 2) : Number.POSITIVE_INFINITY;
  if (close === Number.POSITIVE_INFINITY) return 0;
  const spaces = /[ \t]*/y;
  spaces.lastIndex = close + 3;
  return close + 3 - start + (spaces.exec(text)?.[0].length ?? 0);
}

/** Skips the lines of a comment; definitions may follow. */
const skipComment: Parameters<typeof parser.block.ruler.at>[1] = (state, start, end, silent) => {
  const position = (state.bMarks[start] ?? 0) + (state.tShift[start] ?? 0);
  const last = state.eMarks.indexOf(position + commentLength(state.src, position), start);
  const isWhole = last !== -1 && last < end;
  if (isWhole && !silent) state.line = last + 1;
  return isWhole;
};
parser.block.ruler.at('html_block', skipComment, { alt: ['paragraph', 'reference', 'blockquote'] });
parser.inline.ruler.at('html_inline', (state) => {
  const length = commentLength(state.src, state.pos);
  state.pos += length;
  return length > 0;
});

/** The lines and cells that are parsed; each needs some kilobytes of memory. */
const START = /^(?:[^\n|]*[\n|]?){0,50000}/;

const DATA = /data:image\/(?:gif|png|jpeg|webp);base64,[\w+/=-]{100,}/g;
const DATA_NAME = /data:image\/png;base64,[0-9a-f]{64}/g;

/** Replaces each embedded picture by its hash, so that the parser doesn't read it and no limit cuts it. */
function nameData(text: string): { readonly text: string; readonly dataOf: (name: string) => string } {
  const known = new Map<string, string>();
  const named = text.replace(DATA, (data) => {
    const name = `data:image/png;base64,${sha256(Buffer.from(data))}`;
    known.set(name, data);
    return name;
  });
  return { text: named, dataOf: (name) => known.get(name) ?? name };
}

/** Shows front matter as code. All lines keep their numbers. */
const fenceFrontMatter = (text: string): string =>
  text.replace(/^---\r?\n([\s\S]*?\n)---[ \t]*(?:\r?\n|$)/, '~~~~~~~~~~yaml\n$1~~~~~~~~~~\n');

/** Lists every token with its line. The parser gives tokens within a paragraph no line. */
function* walk(tokens: readonly Token[]): Generator<{ readonly token: Token; readonly line: number }> {
  let line = 1;
  for (const token of tokens) {
    line = token.map === null ? line : token.map[0] + 1;
    yield { token, line };
    let inner = line;
    for (const child of token.children ?? []) {
      yield { token: child, line: inner };
      inner += child.type === 'softbreak' || child.type === 'hardbreak' ? 1 : 0;
    }
  }
}

/** Puts a picture into the page, or its words if the picture can't be read. @returns the reason for words */
function embed(token: Token, pictureOf: Source['pictureOf']): string | null {
  const src = token.attrGet('src') ?? '';
  const picture = pictureOf(src);
  if ('data' in picture) {
    token.attrSet('src', picture.data);
    return null;
  }
  const words = wordsOf(token.children ?? [], false);
  Object.assign(token, { type: 'text', content: `[picture: ${words || src}]`, children: null });
  return `the picture ${src} ${picture.reason}`;
}

/** A formula in the source of a paragraph, as GitHub finds it. */
const FORMULA = /\$\$[^$]+\$\$|(?<![\w$\\])\$(?=\S)[^$\n]*[^\s$\\]\$(?![\w$])/;

/** What GitHub draws, and this page shows as its source; `null` for everything else. */
function nameSource({ type, info, content }: Token): string | null {
  const language = type === 'fence' && /^(?:mermaid|math)\b/.exec(info)?.[0];
  if (language === 'mermaid') return 'Mermaid diagram';
  const text = type === 'inline' ? content.replace(/(?<!\$)(`+)[^`]*\1/g, '') : '';
  return language === 'math' || FORMULA.test(text) ? 'formula' : null;
}

function disarmLink(token: Token, base: URL): void {
  const href = token.attrGet('href') ?? '';
  if (SAFE_LINKS.includes(URL.parse(href, base)?.protocol ?? '')) return;
  token.attrs = (token.attrs ?? []).filter(([name]) => name !== 'href');
}

/** Markdown as GitHub shows it; raw HTML is text. */
export const renderMarkdown: Render = (source: Source) => {
  const env = { slugger: new GithubSlugger() };
  const { text: whole, dataOf } = nameData(source.text);
  const [text = ''] = START.exec(whole.slice(0, READ_LIMIT)) ?? [];
  const tokens = parser.parse(fenceFrontMatter(text), env);
  const notes: string[] = [];
  const missing: string[] = [];
  let title: string | undefined;
  let isInHeading = false;
  for (const { token, line } of walk(tokens)) {
    const { type } = token;
    // As on GitHub, each block has the direction of its first letter.
    if (token.block && token.level === 0 && token.nesting === 1) token.attrSet('dir', 'auto');
    if (type === 'link_open') disarmLink(token, source.url);
    if (type === 'inline' && isInHeading) title ??= wordsOf(token.children ?? [], false).trim() || undefined;
    isInHeading = type === 'heading_open';
    const problem = type === 'image' ? embed(token, (address) => source.pictureOf(dataOf(address))) : null;
    if (problem !== null) missing.push(`line ${line}: ${problem}`);
    const shown = nameSource(token);
    if (shown !== null) notes.push(`line ${line}: the ${shown} is shown as code`);
  }
  const html = parser.renderer.render(tokens, parser.options, env);
  const limited = createPageLimit();
  // Code and text show what they hold.
  const shown = html.replace(DATA_NAME, (name) => limited(dataOf(name)));
  return { html: shown + formatRest(whole.length - text.length, 'character'), title, notes, missing };
};
