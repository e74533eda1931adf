import { faultError } from '../../errors.ts';
import { decodePercents } from '../../rules/page/addresses.ts';
import { PageElements } from './page-elements.ts';
import type { PageFiles } from './page-files.ts';
import { decodeResource } from './resource-text.ts';

/** Drawings of which `<use>` shows a part. Browsers refuse a `data:` URL there, so the drawings join the page. */
export class Sprites {
  readonly #drawings = new Map<string, string>();
  readonly #ids: Set<string>;

  /** @param ids of the page */
  constructor(ids: ReadonlySet<string>) {
    this.#ids = new Set(ids);
  }

  /** @returns the address of the part within the page */
  async add(url: URL, files: PageFiles): Promise<string> {
    const resource = await files.read(url);
    const isKnown = this.#drawings.has(resource.url);
    const drawing = isKnown ? '' : readDrawing(decodeResource(resource));
    if (!isKnown) this.#drawings.set(resource.url, drawing);
    const { ids, all, hasHandler } = new PageElements(drawing);
    const twice = [...ids].find((id) => this.#ids.has(id));
    for (const id of ids) this.#ids.add(id);
    const problem =
      hasHandler || all.some(({ tag }) => tag.tagName !== 'svg')
        ? 'has scripts, styles or files, which would become part of the page'
        : twice !== undefined
          ? `has the id ${twice}, which the page uses already`
          : this.#ids.has(decodePercents(url.hash.slice(1)))
            ? null
            : 'has no such part';
    if (problem === null) return url.hash;
    throw faultError(`the drawing ${files.show(url)} ${problem}`, 'correct the drawing or the <use>');
  }

  /** All drawings as one, which takes no space. */
  write(): string {
    const all = [...this.#drawings.values()]
      .join('')
      .replace(/\P{ASCII}/gu, (sign) => `&#${sign.codePointAt(0)};`);
    return all && `<svg style="position:absolute;width:0;height:0" aria-hidden="true">${all}</svg>`;
  }
}

/** The drawing of an SVG file, without what is before it. */
const readDrawing = (svg: string): string => svg.slice(Math.max(svg.search(/<svg[\s>]/), 0));
