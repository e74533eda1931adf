import { BLANK_PAGES, REPORTED_PAGES, SHOWN_PAGES } from './corpus.ts';
import { isSaid, reportPages, viewPages } from './view-pages.ts';

// Judges all pages of the corpus with a real browser, and names the wrong verdicts and reports.
const views = await viewPages([...BLANK_PAGES, ...SHOWN_PAGES]);
const said = await reportPages(REPORTED_PAGES);
const wrongReports = REPORTED_PAGES.flatMap(({ name, says }) =>
  isSaid(says, said.get(name)) ? [] : [`${name}: ${said.get(name)}`],
);
const wrongVerdicts = [
  ...BLANK_PAGES.map((page) => ({ ...page, verdict: 'not-shown' })),
  ...SHOWN_PAGES.map((page) => ({ ...page, verdict: 'shown', reason: '' })),
].flatMap(({ name, verdict, reason = '', tags = '' }) => {
  const view = views.get(name);
  const isRight =
    view?.verdict === verdict && view.reason.includes(reason) && view.unfilledTags.join(' ') === tags;
  return isRight ? [] : [`${name}: ${view?.verdict} ${view?.reason} ${view?.unfilledTags}`];
});
const wrong = [...wrongVerdicts, ...wrongReports];
for (const line of wrong) console.error(line);
console.log(`${views.size + said.size} pages, ${wrong.length} wrong`);
if (wrong.length > 0) process.exitCode = 1;
