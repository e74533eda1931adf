import type { AddAddress } from '../../rules/page/addresses.ts';
import { findCssReferences } from '../../rules/page/script-references.ts';
import { type PageFiles, PageProblem } from './page-files.ts';
import { replaceAddresses, writeInStyle } from './replace-addresses.ts';
import { decodeResource, getMediaType, readStyleCharset, toDataUrl } from './resource-text.ts';

/** Makes `data:` URLs of pictures, fonts and style sheets. */
export class Styles {
  readonly #files: PageFiles;
  readonly #made = new Map<string, string>();

  constructor(files: PageFiles) {
    this.#files = files;
  }

  /** A picture, font or other file as it is. A fragment selects a part of it. */
  async inlineData(url: URL): Promise<string> {
    const resource = await this.#files.read(url);
    const make = async (): Promise<string> => toDataUrl(getMediaType(resource), resource.bytes);
    return `${await this.#make(`data ${resource.url}`, make)}${url.hash}`;
  }

  /** @param importers the style sheets that led here */
  async inlineSheet(url: URL, importers: readonly string[] = [], declared = ''): Promise<string> {
    const resource = await this.#files.readCode(url);
    if (importers.includes(resource.url)) {
      const what = `the style sheet ${this.#files.show(url)} imports itself`;
      throw new PageProblem(what, 'remove the @import that leads back to it');
    }
    return this.#make(`sheet ${resource.url}`, async () => {
      const text = decodeResource(resource, readStyleCharset(resource) || declared);
      return toDataUrl('text/css', await this.rewrite(text, resource.url, [...importers, resource.url]));
    });
  }

  /** @param base the URL that the addresses in the text are relative to */
  rewrite = (text: string, base: string, importers: readonly string[] = []): Promise<string> =>
    replaceAddresses(text, (add: AddAddress) => findCssReferences(text, add), {
      replace: async ({ address, kind }) => {
        const url = URL.parse(address, base);
        if (url === null) return null;
        return kind === 'style' ? this.inlineSheet(url, importers) : this.inlineData(url);
      },
      write: writeInStyle,
    });

  async #make(key: string, make: () => Promise<string>): Promise<string> {
    const made = this.#made.get(key) ?? (await make());
    this.#made.set(key, made);
    return made;
  }
}
