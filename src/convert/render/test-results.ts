import { SaxesParser } from 'saxes';
import { renderCode } from './code.ts';
import { terminalBlock } from './log.ts';
import { countOf, escapeHtml, formatRest, type Render, SourceProblem } from './source.ts';

const LIMITS = { parts: 300_000, shown: 1_000 } as const;

/** From good to bad. */
const TEST_OUTCOMES = ['passed', 'skipped', 'flaky', 'failed', 'error'] as const;

/** What an element within a test says about the test. */
const ELEMENTS: Readonly<Record<string, (typeof TEST_OUTCOMES)[number]>> = {
  failure: 'failed',
  error: 'error',
  skipped: 'skipped',
  flakyFailure: 'flaky',
  flakyError: 'flaky',
  'system-out': 'passed',
  'system-err': 'passed',
};

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

/** @throws {SourceProblem} if the XML is not well-formed */
function parseXml(xml: string): Element {
  const parser = new SaxesParser();
  const root: Element = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  let room: number = LIMITS.parts;
  const refuse = (problem: string, hint: string): never => {
    throw new SourceProblem(`the XML ${problem}`, parser.line, hint);
  };
  const count = (): void => {
    room -= 1;
    if (room < 0) refuse(`has over ${LIMITS.parts} elements and attributes`, 'render a smaller file');
  };
  const addText = (text: string): void => {
    const element = open.at(-1) ?? root;
    element.text += text;
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
  readonly outcome: (typeof TEST_OUTCOMES)[number];
  readonly seconds: number;
  /** Messages, traces and what the test wrote. */
  readonly text: string;
}

function toTest({ attributes, children }: Element): Test {
  const parts = children.filter((child) => Object.hasOwn(ELEMENTS, child.name));
  const texts = parts.flatMap(({ name, attributes: { message = '' }, text }) => [
    ELEMENTS[name] === 'passed' ? `${name}:` : text.includes(message) ? '' : message,
    text.trim() === '' ? '' : text,
  ]);
  return {
    name: [...new Set([attributes.classname, attributes.name])].filter(Boolean).join(' › '),
    outcome: TEST_OUTCOMES.findLast((one) => parts.some(({ name }) => ELEMENTS[name] === one)) ?? 'passed',
    seconds: Number.parseFloat(attributes.time?.replaceAll(',', '') ?? '') || 0,
    // XML can't hold an escape character, so pytest writes this.
    text: texts.filter(Boolean).join('\n').replaceAll('#x1B[', '\u001b['),
  };
}

interface Suite {
  readonly name: string;
  readonly tests: readonly Test[];
}

/** A suite may hold tests, further suites, or both. */
function listSuites({ attributes, children }: Element): Suite[] {
  const tests = children.filter(({ name }) => name === 'testcase').map(toTest);
  const inner = children.filter(({ name }) => name === 'testsuite').flatMap(listSuites);
  return tests.length > 0 ? [{ name: attributes.name ?? '', tests }, ...inner] : inner;
}

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

const formatFailedTest = ({ name, outcome, seconds, text }: Test): string =>
  `<details open><summary>${formatTestOutcome(outcome)} ${escapeHtml(name)} ${formatDuration(seconds)}</summary>
${terminalBlock(text)}</details>`;

function formatSuite({ name, tests }: Suite): string {
  const rows = tests.slice(0, LIMITS.shown).map(
    (test) => `<tr><td>${formatTestOutcome(test.outcome)}</td><td>${escapeHtml(test.name)}
${test.outcome === 'skipped' ? terminalBlock(test.text) : ''}</td><td>${formatDuration(test.seconds)}</td></tr>`,
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
  const failed = tests.filter(({ outcome }) => outcome === 'failed' || outcome === 'error');
  const html = [
    `<h1>${escapeHtml(source.name)}</h1><p>${formatCounts(tests)}</p>`,
    ...failed.slice(0, LIMITS.shown).map(formatFailedTest),
    formatRest(failed.length - LIMITS.shown, 'failed test'),
    '<h2>All tests</h2>',
    ...suites.map(formatSuite),
  ];
  return { html: html.join('\n') };
};
