import { renderText } from '../../../src/convert/render/render-text.ts';
import type { Converted, ReadResource } from '../../../src/convert/resources.ts';

const NOTHING: ReadResource = async ({ href }) => {
  throw new Error(`${href} does not exist`);
};

/** Renders a text as a file with this name. */
export const render = (
  name: string,
  text: string | Buffer,
  read = NOTHING,
  signal: AbortSignal = new AbortController().signal,
): Promise<Converted> =>
  renderText(typeof text === 'string' ? Buffer.from(text) : text, {
    name,
    url: new URL(encodeURIComponent(name), 'https://folder.example/'),
    sourceHref: name,
    read,
    signal,
  });

/** The content of a rendered page, without its frame. */
export async function contentOf(name: string, text: string, read?: ReadResource): Promise<string> {
  const result = await render(name, text, read);
  if (!('page' in result)) throw new Error(`${result.problem} (${result.line})`);
  return /<main>\n([\s\S]*)\n<\/main>/.exec(result.page.toString())?.[1] ?? '';
}
