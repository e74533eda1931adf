import hljs from 'highlight.js/lib/common';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import powershell from 'highlight.js/lib/languages/powershell';
import { escapeHtml, formatRest, type Render } from './source.ts';

hljs.registerLanguage('dockerfile', dockerfile);
hljs.registerLanguage('powershell', powershell);

/** A language's name, alias or ending that the highlighter knows. */
export const isLanguage = (name: string): boolean => hljs.getLanguage(name) !== undefined;

/** Characters of code; the highlighter needs some hundred times their memory, and their time in square. */
const LIMITS = { colored: 200_000, shown: 2_000_000 } as const;

/** Colors the beginning of code; an unknown language stays plain. */
export function highlight(code: string, language: string): string {
  if (!isLanguage(language)) return escapeHtml(code);
  const { value } = hljs.highlight(code.slice(0, LIMITS.colored), { language, ignoreIllegals: true });
  return value + escapeHtml(code.slice(LIMITS.colored));
}

export const codeBlock = (code: string, language: string): string =>
  `<pre><code class="hljs">${highlight(code.slice(0, LIMITS.shown), language)}</code></pre>${formatRest(code.length - LIMITS.shown, 'character')}`;

/** Source code and diffs, in the language of the name's ending. */
export const renderCode: Render = ({ name, text }) => ({
  html: codeBlock(text, name.slice(name.lastIndexOf('.') + 1)),
});
