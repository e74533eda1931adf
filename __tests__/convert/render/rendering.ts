import { renderText } from '../../../src/convert/render/render-text.ts';
import type { Converted, ReadResource } from '../../../src/convert/resources.ts';

const NOTHING: ReadResource = async ({ href }) => {
  throw new Error(`${href} does not exist`);
};

/** Renders a text as a file with this name. */
export const render = (
  name: string,
  text: string | Buffer,
  read: ReadResource = NOTHING,
): Promise<Converted> =>
  renderText(Buffer.from(text as string), {
    name,
    url: new URL(name, 'https://folder.example/'),
    sourceHref: name,
    read,
    signal: new AbortController().signal,
  });

/** The content of a rendered page, without its frame. */
export async function contentOf(name: string, text: string, read?: ReadResource): Promise<string> {
  const result = await render(name, text, read);
  if (!('page' in result)) throw new Error(`${result.problem} (${result.line})`);
  return /<main>\n([\s\S]*)\n<\/main>/.exec(result.page.toString())?.[1] ?? '';
}
