import { BLANK_PAGES, SHOWN_PAGES } from './corpus.ts';
import { viewPages } from './view-pages.ts';

// Judges all pages of the corpus with a real browser, and names the wrong verdicts.
const views = await viewPages([...BLANK_PAGES, ...SHOWN_PAGES]);
const wrong = [
  ...BLANK_PAGES.map((page) => ({ ...page, verdict: 'not-shown' })),
  ...SHOWN_PAGES.map((page) => ({ ...page, verdict: 'shown', reason: '' })),
].flatMap(({ name, verdict, reason = '' }) => {
  const view = views.get(name);
  const isRight = view?.verdict === verdict && view.reason.includes(reason);
  return isRight ? [] : [`${name}: ${view?.verdict} ${view?.reason}`];
});
for (const line of wrong) console.error(line);
console.log(`${views.size} pages, ${wrong.length} wrong verdicts`);
if (wrong.length > 0) process.exitCode = 1;
