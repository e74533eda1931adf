import { PageElements } from './page-elements.ts';
import { type PageFiles, PageProblem } from './page-files.ts';
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
    const { ids } = new PageElements(drawing);
    const twice = [...ids].find((id) => this.#ids.has(id));
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

/** The drawing of an SVG file, without what is before it. */
const readDrawing = (svg: string): string =>
  svg.slice(Math.max(svg.search(/<svg[\s>]/), 0), svg.lastIndexOf('</svg>') + '</svg>'.length);
