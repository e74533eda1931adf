import { getAttribute } from '../../rules/page/addresses.ts';
import { type PageElement, PageElements } from './page-elements.ts';
import { type PageFiles, PageProblem } from './page-files.ts';
import { decodeResource } from './resource-text.ts';

const listIds = (elements: readonly PageElement[]): readonly string[] =>
  elements.map(({ tag }) => getAttribute(tag, 'id')).filter((id) => id !== '');

/** Drawings of which `<use>` shows a part. Browsers refuse a `data:` URL there, so the drawings join the page. */
export class Sprites {
  readonly #drawings = new Map<string, string>();
  readonly #ids: Set<string>;

  /** @param page its elements have ids, too */
  constructor(page: readonly PageElement[]) {
    this.#ids = new Set(listIds(page));
  }

  /** @returns the address of the part within the page */
  async add(url: URL, files: PageFiles): Promise<string> {
    const resource = await files.read(url);
    const [drawing] = /<svg[\s>].*<\/svg>/is.exec(decodeResource(resource)) ?? [];
    const { size } = this.#drawings;
    if (drawing !== undefined) this.#drawings.set(resource.url, drawing);
    const ids = this.#drawings.size > size ? listIds(new PageElements(drawing ?? '').all) : [];
    const twice = ids.find((id) => this.#ids.has(id));
    for (const id of ids) this.#ids.add(id);
    if (twice === undefined && this.#ids.has(url.hash.slice(1))) return url.hash;
    const what =
      twice === undefined ? 'has no such part' : `has the id ${twice}, which the page uses already`;
    throw new PageProblem(`the drawing ${files.show(url)} ${what}`, 'correct the drawing or the <use>');
  }

  /** All drawings as one, which takes no space. */
  write(): string {
    const all = [...this.#drawings.values()]
      .join('')
      .replace(/\P{ASCII}/gu, (sign) => `&#${sign.codePointAt(0)};`);
    return all && `<svg style="position:absolute;width:0;height:0" aria-hidden="true">${all}</svg>`;
  }
}
