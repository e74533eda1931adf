import hljs from 'highlight.js/lib/common';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import powershell from 'highlight.js/lib/languages/powershell';
import { escapeHtml, formatRest, type Render } from './source.ts';

hljs.registerLanguage('dockerfile', dockerfile);
hljs.registerLanguage('powershell', powershell);

/** Highlighting takes much more memory than the text. */
const SHOWN_CHARACTERS = 1_000_000;

/** A language's name, alias or ending that the highlighter knows. */
export const isLanguage = (name: string): boolean => hljs.getLanguage(name) !== undefined;

/** Colors code; an unknown language stays plain. */
export const highlight = (code: string, language: string): string =>
  isLanguage(language) ? hljs.highlight(code, { language, ignoreIllegals: true }).value : escapeHtml(code);

export const codeBlock = (code: string, language: string): string =>
  `<pre><code class="hljs">${highlight(code, language)}</code></pre>`;

/** Source code and diffs, in the language of the name's ending. */
export const renderCode: Render = ({ name, text }) => {
  const shown = text.slice(0, SHOWN_CHARACTERS);
  const language = name.slice(name.lastIndexOf('.') + 1);
  return { html: codeBlock(shown, language) + formatRest(text.length - shown.length, 'character') };
};
