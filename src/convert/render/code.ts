import hljs from 'highlight.js/lib/common';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import powershell from 'highlight.js/lib/languages/powershell';
import { escapeHtml, formatRest, READ_LIMIT, type Render } from './source.ts';

hljs.registerLanguage('dockerfile', dockerfile);
hljs.registerLanguage('powershell', powershell);

/** A language's name, alias or ending that the highlighter knows. */
export const isLanguage = (name: string): boolean => hljs.getLanguage(name) !== undefined;

/** Colors code; an unknown language stays plain. */
export const highlight = (code: string, language: string): string =>
  isLanguage(language) ? hljs.highlight(code, { language, ignoreIllegals: true }).value : escapeHtml(code);

export const codeBlock = (code: string, language: string): string =>
  `<pre><code class="hljs">${highlight(code.slice(0, READ_LIMIT), language)}</code></pre>${formatRest(code.length - READ_LIMIT, 'character')}`;

/** Source code and diffs, in the language of the name's ending. */
export const renderCode: Render = ({ name, text }) => ({
  html: codeBlock(text, name.slice(name.lastIndexOf('.') + 1)),
});
