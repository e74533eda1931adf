import { sha256 } from '../resources.ts';
import { escapeHtml, type Rendered } from './source.ts';
import styles from './styles.json' with { type: 'json' };

/** A browser runs no script and contacts no other host, whatever the content is. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

interface PageSource {
  readonly name: string;
  readonly bytes: Buffer;
  /** The link to the source; `null` if it is not delivered. */
  readonly href: string | null;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&amp;': '&',
  '&#x27;': "'",
};

/** What readers see: colors, emphasis and links may divide a secret. Text from the source has no tags. */
export const readShownText = (html: string): string =>
  html
    .replace(/<p class="rest">.*?<\/p>|<a href="#L\d+">\d+<\/a>|<\/?(?:span|strong|em|s|code|a)\b[^>]*>/g, '')
    .replace(/<[^>]*>/g, '\n')
    .replace(/&(?:lt|gt|quot|amp|#x27);/g, (sign) => ENTITIES[sign] ?? sign);

/** Puts rendered content into a page of its own. */
export function framePage({ html, title }: Rendered, { name, bytes, href }: PageSource): Buffer {
  const link = href === null ? escapeHtml(name) : `<a href="${escapeHtml(href)}">${escapeHtml(name)}</a>`;
  return Buffer.from(`<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title ?? name)}</title>
<style>${styles.css}</style>
</head>
<body class="markdown-body">
<main>
${html}
</main>
<footer>Source: ${link}, SHA-256 <code>${sha256(bytes)}</code></footer>
</body>
</html>
`);
}
