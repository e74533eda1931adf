import hljs from 'highlight.js/lib/common';
import { escapeHtml, formatRest, type Render } from './source.ts';

/** Highlighting takes much more memory than the text, and a browser can't show much more either. */
const SHOWN = 1_000_000;

/** A language's name, alias or ending that the highlighter knows. */
export const isLanguage = (name: string): boolean => hljs.getLanguage(name) !== undefined;

/** Colors code; plain text for an unknown language. */
export const highlight = (code: string, language: string): string =>
  isLanguage(language) ? hljs.highlight(code, { language, ignoreIllegals: true }).value : escapeHtml(code);

export const codeBlock = (code: string, language: string): string =>
  `<pre><code class="hljs">${highlight(code, language)}</code></pre>`;

/** Source code and diffs, by the ending of their name. */
export const renderCode: Render = ({ name, text }) => {
  const end = text.length > SHOWN ? text.lastIndexOf('\n', SHOWN) : text.length;
  const shown = text.slice(0, end === -1 ? SHOWN : end);
  const rest = text.slice(shown.length).split('\n').length - 1;
  return { html: codeBlock(shown, name.slice(name.lastIndexOf('.') + 1)) + formatRest(rest, 'line') };
};
