import { renderText } from '../../../src/convert/render/render-text.ts';
import type { ConvertedPage, ReadResource } from '../../../src/convert/resources.ts';

const NOTHING: ReadResource = async ({ href }) => {
  throw new Error(`${href} does not exist`);
};

/** Renders a text as a file with this name. */
export const render = (
  name: string,
  text: string | Buffer,
  read = NOTHING,
  signal: AbortSignal = new AbortController().signal,
): Promise<ConvertedPage> =>
  renderText(typeof text === 'string' ? Buffer.from(text) : text, {
    name,
    url: new URL(encodeURIComponent(name), 'https://folder.example/'),
    sourceHref: name,
    read,
    signal,
  });

/** The content of a rendered page, without its frame. */
export async function contentOf(name: string, text: string, read?: ReadResource): Promise<string> {
  const { page } = await render(name, text, read);
  return /<main>\n([\s\S]*)\n<\/main>/.exec(page.toString())?.[1] ?? '';
}
