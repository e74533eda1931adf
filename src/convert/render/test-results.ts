import { SaxesParser } from 'saxes';
import { faultError } from '../../errors.ts';
import { renderCode } from './code.ts';
import { terminalBlock } from './log.ts';
import { countOf, createPageLimit, escapeHtml, flatten, formatRest, type Render } from './source.ts';

const LIMITS = { parts: 300_000, shown: 1_000 } as const;

/** From good to bad. */
const TEST_OUTCOMES = ['passed', 'skipped', 'flaky', 'failed', 'error'] as const;

/** The outcome of a test by an element in it. */
const ELEMENTS: Readonly<Record<string, TestOutcome>> = {
  failure: 'failed',
  error: 'error',
  skipped: 'skipped',
  flakyFailure: 'flaky',
  flakyError: 'flaky',
  'system-out': 'passed',
  'system-err': 'passed',
};

type TestOutcome = (typeof TEST_OUTCOMES)[number];

/** What a test's `status` or `result` says. An unknown word does not say that it passed. */
const readOutcome = (word = ''): TestOutcome =>
  /^(?:|run|completed|expected|pass\w*|ok|success\w*)$/i.test(word)
    ? 'passed'
    : /^(?:fail|err|broken|unexpected|crash|abort|time)/i.test(word)
      ? 'failed'
      : 'skipped';

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

/** @throws {DeliveryError} `BAD_FILE` if the XML is not well-formed */
function parseXml(xml: string): Element {
  const parser = new SaxesParser();
  const root: Element = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  let room: number = LIMITS.parts;
  const refuse = (problem: string, hint: string): never => {
    throw faultError(`the XML ${problem}`, hint, parser.line);
  };
  const count = (): void => {
    room -= 1;
    if (room < 0) refuse(`has over ${LIMITS.parts} elements and attributes`, 'render a smaller file');
  };
  const addText = (text: string): void => {
    const element = open.at(-1) ?? root;
    element.text += flatten(text);
  };
  parser.on('error', ({ message }) =>
    refuse(`is not valid: ${message.replace(/^\d+:\d+: |\.$/g, '')}`, 'write well-formed XML'),
  );
  parser.on('opentag', ({ name, attributes }) => {
    const element: Element = { name, attributes, children: [], text: '' };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('opentagstart', count);
  parser.on('attribute', count);
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => void open.pop());
  parser.write(xml).close();
  return root.children[0] ?? root;
}

interface Test {
  readonly name: string;
  readonly outcome: TestOutcome;
  readonly seconds: number;
  /** Messages, traces and what the test wrote, made only if it is shown. */
  readonly writeText: () => string;
}

function toTest({ attributes, children }: Element): Test {
  const parts = children.filter((child) => Object.hasOwn(ELEMENTS, child.name));
  const words = [attributes.status, attributes.result].map(readOutcome);
  const said = [...words, ...parts.flatMap(({ name }) => ELEMENTS[name] ?? [])];
  const outcome = TEST_OUTCOMES.findLast((one) => said.includes(one)) ?? 'passed';
  const listTexts = (): string[] =>
    parts.flatMap(({ name, attributes: { message = '' }, text }) => [
      ELEMENTS[name] === 'passed' ? `${name}:` : text.includes(message) ? '' : message,
      text.trim() === '' ? '' : text,
    ]);
  return {
    name: [...new Set([attributes.classname, attributes.name])].filter(Boolean).join(' › '),
    outcome,
    seconds: Number.parseFloat(attributes.time?.replaceAll(',', '') ?? '') || 0,
    // XML can't hold an escape character, so pytest writes this.
    writeText: () => listTexts().filter(Boolean).join('\n').replaceAll('#x1B[', '\u001b['),
  };
}

const isProblem = ({ outcome }: Test): boolean => outcome === 'failed' || outcome === 'error';

interface Suite {
  readonly name: string;
  readonly tests: readonly Test[];
}

/** A suite may hold tests, further suites, or both. */
function listSuites({ attributes, children }: Element): Suite[] {
  const { name: title = '' } = attributes;
  const whole = toTest({ name: '', attributes: { name: title }, children, text: '' });
  const cases = children.filter(({ name }) => name === 'testcase').map(toTest);
  const tests = whole.outcome === 'passed' ? cases : [whole, ...cases];
  const inner = children.filter(({ name }) => name === 'testsuite').flatMap(listSuites);
  return tests.length > 0 ? [{ name: title, tests }, ...inner] : inner;
}

/** Whether an element counts failures. Their number means nothing: some reporters count assertions. */
const countsFailures = ({ attributes: { failures, errors }, children }: Element): boolean =>
  Number(failures) > 0 || Number(errors) > 0 || children.some(countsFailures);

const formatDuration = (seconds: number): string => `<i>${Number(seconds.toFixed(3))} s</i>`;

const formatTestOutcome = (outcome: string, count = ''): string =>
  `<b class="${outcome}">${count}${outcome}</b>`;

function formatCounts(tests: readonly Test[]): string {
  const counts = TEST_OUTCOMES.toReversed().flatMap((outcome) => {
    const count = tests.filter((test) => test.outcome === outcome).length;
    return count > 0 ? formatTestOutcome(outcome, `${count.toLocaleString('en-US')} `) : [];
  });
  const seconds = tests.reduce((sum, test) => sum + test.seconds, 0);
  return [...counts, countOf(tests.length, 'test'), formatDuration(seconds)].join(', ');
}

const formatFailedTest = ({ name, outcome, seconds, writeText }: Test): string =>
  `<details open><summary>${formatTestOutcome(outcome)} ${escapeHtml(name)} ${formatDuration(seconds)}</summary>
${terminalBlock(writeText())}</details>`;

function formatSuite({ name, tests }: Suite): string {
  const rows = tests.slice(0, LIMITS.shown).map(
    (test) => `<tr><td>${formatTestOutcome(test.outcome)}</td><td>${escapeHtml(test.name)}
${test.outcome === 'skipped' ? terminalBlock(test.writeText()) : ''}</td><td>${formatDuration(test.seconds)}</td></tr>`,
  );
  return `<details><summary>${escapeHtml(name)} ${formatCounts(tests)}</summary>
<table>${rows.join('\n')}</table>${formatRest(tests.length - LIMITS.shown, 'test')}</details>`;
}

/** The results of tests, failures first; other XML is shown as code. */
export const renderTestResults: Render = (source) => {
  const root = parseXml(source.text);
  if (root.name !== 'testsuites' && root.name !== 'testsuite') return renderCode(source);
  const suites = listSuites(root);
  const tests = suites.flatMap((suite) => suite.tests);
  const failed = tests.filter(isProblem);
  const hidesFailures = failed.length === 0 && countsFailures(root);
  const notes = hidesFailures ? ['the file counts failures, but lists none'] : [];
  const limited = createPageLimit();
  const html = [
    `<h1>${escapeHtml(source.name)}</h1><p>${formatCounts(tests)}</p>`,
    ...notes.map((note) => `<p><b class="failed">${note}</b></p>`),
    ...failed.slice(0, LIMITS.shown).map((test) => limited(formatFailedTest(test))),
    formatRest(failed.length - LIMITS.shown, 'failed test'),
    '<h2>All tests</h2>',
    ...suites.map((suite) => limited(formatSuite(suite))),
  ];
  return { html: html.join('\n'), notes };
};
