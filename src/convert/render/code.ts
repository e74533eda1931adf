import hljs from 'highlight.js/lib/common';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import powershell from 'highlight.js/lib/languages/powershell';
import { escapeHtml, formatRest, READ_LIMIT, type Render } from './source.ts';

hljs.registerLanguage('dockerfile', dockerfile);
hljs.registerLanguage('powershell', powershell);

/** A language's name, alias or ending that the highlighter knows. */
export const isLanguage = (name: string): boolean => hljs.getLanguage(name) !== undefined;

/** Characters of code that are shown. */
const SHOWN = 2_000_000;

/** Colors code; an unknown language stays plain. */
export const highlight = (code: string, language: string): string =>
  isLanguage(language) ? hljs.highlight(code, { language, ignoreIllegals: true }).value : escapeHtml(code);

/** Code, of which only the beginning has colors if it is long. */
export function codeBlock(code: string, language: string): string {
  const html = highlight(code.slice(0, READ_LIMIT), language) + escapeHtml(code.slice(READ_LIMIT, SHOWN));
  return `<pre><code class="hljs">${html}</code></pre>${formatRest(code.length - SHOWN, 'character')}`;
}

/** Source code and diffs, in the language of the name's ending. */
export const renderCode: Render = ({ name, text }) => ({
  html: codeBlock(text, name.slice(name.lastIndexOf('.') + 1)),
});
