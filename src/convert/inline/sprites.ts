import { getAttribute } from '../../rules/page/addresses.ts';
import { type PageElement, PageElements } from './page-elements.ts';
import { type PageFiles, PageProblem } from './page-files.ts';
import { decodeResource } from './resource-text.ts';

/** Drawings of which `<use>` shows a part. A browser shows no part of a `data:` URL, so they become part of the page. */
export class Sprites {
  readonly #files: PageFiles;
  readonly #drawings = new Map<string, string>();

  constructor(files: PageFiles) {
    this.#files = files;
  }

  /** @returns the address of the part within the page */
  async add(url: URL): Promise<string> {
    const resource = await this.#files.read(url);
    const [drawing = ''] = /<svg[\s>].*<\/svg>/is.exec(decodeResource(resource)) ?? [];
    if (drawing === '' || url.hash === '') {
      const what = `<use> shows no part of a drawing: ${this.#files.show(url)}`;
      throw new PageProblem(what, 'name an SVG file and, after #, the id of a part of it');
    }
    this.#drawings.set(this.#files.show(url), drawing);
    return url.hash;
  }

  /** All drawings as one, which takes no space. @param page the elements of the page, which may have the same ids */
  async write(page: readonly PageElement[]): Promise<string> {
    const ids = new Set(listIds(page));
    for (const [name, drawing] of this.#drawings) {
      for (const id of listIds(new PageElements(drawing).all)) {
        if (!ids.has(id)) ids.add(id);
        else throw new PageProblem(`${name} has the id ${id}, which is used twice`, 'rename one of them');
      }
    }
    const drawings = [...this.#drawings.values()].join('');
    const ascii = drawings.replace(/\P{ASCII}/gu, (sign) => `&#${sign.codePointAt(0)};`);
    return ascii && `<svg style="position:absolute;width:0;height:0" aria-hidden="true">${ascii}</svg>`;
  }
}

const listIds = (elements: readonly PageElement[]): readonly string[] =>
  elements.map(({ tag }) => getAttribute(tag, 'id')).filter((id) => id !== '');
