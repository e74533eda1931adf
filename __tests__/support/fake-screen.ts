import type { PageToView, ScreenView } from '../../src/browser/screen-view.ts';
import { createUncheckedView, type Screen } from '../../src/browser/screen-view.ts';

const NO_BROWSER = createUncheckedView('no browser was found', 'install Chrome, or set `CHROME_PATH`');

/** A page that is shown without any fault, but for what a test says. */
export const viewWith = (more: Partial<ScreenView> = {}): ScreenView => ({
  ...NO_BROWSER,
  verdict: 'shown',
  reason: '',
  hint: '',
  browser: 'HeadlessChrome/147.0.0.0',
  httpCode: 200,
  text: 'It works',
  painted: { characters: 8, images: 0, drawings: 0 },
  elapsed: 800,
  isStable: true,
  ...more,
});

/** A picture of one letter for each of 100 pixels. */
export const pictureOf = (letters: string): Uint8Array => Buffer.from(letters.padEnd(100, letters.slice(-1)));

/** A screen that shows what a test says, and remembers what it was asked; by default there is no browser. */
export class FakeScreen implements Screen {
  readonly asked: PageToView[] = [];
  closed = 0;
  readonly #answer: (page: PageToView, nth: number) => ScreenView | Promise<ScreenView>;

  constructor(
    answer: (page: PageToView, nth: number) => ScreenView | Promise<ScreenView> = () => NO_BROWSER,
  ) {
    this.#answer = answer;
  }

  async view(page: PageToView): Promise<ScreenView> {
    this.asked.push(page);
    return this.#answer(page, this.asked.length);
  }

  async close(): Promise<void> {
    this.closed += 1;
  }

  async compare(one: Uint8Array, other: Uint8Array): Promise<number | null> {
    return one.filter((pixel, at) => pixel !== other[at]).length / one.length;
  }
}
