import { describe, expect, test } from '@jest/globals';
import { composeOutputs } from '../../src/action/outputs.ts';
import { composeSummary } from '../../src/action/overview.ts';
import { type Report, reportText } from '../../src/delivery/report.ts';
import type { Step } from '../../src/protocol/words.ts';
import { INPUTS } from '../../src/request/inputs.ts';
import { type PlayedDelivery, setUpPlay } from '../scenarios/play.ts';
import { createPage, MARKER } from '../scenarios/scenario.ts';
import type { FakePagesOptions } from '../world/pages/fake-pages.ts';
import type { RequestMatch } from '../world/server/interceptions.ts';

const play = setUpPlay();
const files = { 'page.html': createPage() };
const PUT: RequestMatch = { method: 'PUT', url: /contents/, times: 99 };
const SHOWN: RequestMatch = { url: /github\.io/, times: 99 };

interface Stage extends Pick<PlayedDelivery, 'inputs' | 'files'> {
  readonly pages?: FakePagesOptions;
  readonly answer?: readonly [RequestMatch, { readonly status: number; readonly body?: string }];
}

/** A page, by default to K1 with a marker, on a host that may answer otherwise. */
async function delivering({ pages = {}, answer, inputs, ...more }: Stage = {}) {
  const repository = await play.repository({ pages });
  if (answer !== undefined) play.intercept(...answer);
  return play.deliver({
    repository,
    files,
    ...more,
    inputs: { channel: 'K1', marker: MARKER, ...inputs },
  });
}

/** All output as one text. */
const everything = (report: Report): string =>
  [
    reportText(report),
    JSON.stringify(report),
    JSON.stringify(composeOutputs([report])),
    composeSummary([report]),
  ].join('\n');

/** The errors of section 7, with the reported step and HTTP code, and the gates that pass. */
const ERRORS: readonly (readonly [string, Stage, Step, number | null, number, RegExp])[] = [
  ['file write answers neither 200 nor 201', { answer: [PUT, { status: 409 }] }, 'place', 409, 0, /HTTP 409/],
  ['file write answers 202', { answer: [PUT, { status: 202, body: '{}' }] }, 'place', 202, 0, /HTTP 202/],
  [
    'build is errored: its error is read and reported',
    { pages: { builds: 'errored', errorMessage: 'bad front matter in page.html' } },
    'wait',
    404,
    2,
    /bad front matter in page\.html.*errored.*commit an empty \.nojekyll.*K2 or K3/,
  ],
  [
    'build is not built within 240 s: never faked',
    { pages: { builds: 'stuck', live: false } },
    'wait',
    404,
    2,
    /within 240 s.*our commit: building.*"pages build and deployment".*K2 or K3/,
  ],
  ['final URL does not answer 200', { answer: [SHOWN, { status: 503 }] }, 'verify', 503, 2, /HTTP 503/],
  ['URL without marker', { answer: [SHOWN, { status: 200, body: 'x' }] }, 'verify', 200, 2, /other content/],
  [
    'K3 POST answers not 201',
    {
      inputs: { channel: 'K3' },
      answer: [
        { method: 'POST', url: /filebin/, times: 99 },
        { status: 200, body: '{}' },
      ],
    },
    'place',
    200,
    0,
    /HTTP 200/,
  ],
];

describe('the errors of protocol section 7', () => {
  test.each(ERRORS)('%s: not ready', async (_, stage, step, httpCode, passed, reason) => {
    const { report, requests, took } = await delivering(stage);
    expect(report).toMatchObject({ ready: false, url: null, notReady: { step, httpCode } });
    expect(report.lines.RESULT).toMatch(/^НЕ ГОТОВО → /);
    expect(report.lines.RESULT).toMatch(reason);
    expect(report.lines.UNKNOWN).not.toBe('');
    expect(report.gates.map((gate) => gate.passed)).toEqual([0, 1, 2, 3].map((gate) => gate < passed));
    if (report.notReady?.code !== 'BUILD_TIMEOUT') return;
    expect(requests.filter((one) => one.endsWith('builds/latest'))).toHaveLength(48);
    expect(took).toBe(240_000);
  });
});

/**
 * Local links (1): rules/external-address, request/parse-request and proof/ask-address. Secrets (3), files of others (4):
 * scenarios/secrecy, scenarios/safety and scenarios/ownership. No network: happy.
 */
describe('the prohibitions of protocol section 7', () => {
  test('2. no URL is announced before VERIFY passes: not in the report, outputs, summary or log', async () => {
    const before = await delivering({ pages: { live: false } });
    expect(everything(before.report)).not.toMatch(/https?:\/\/octo/);
    expect(before.log).not.toMatch(/https?:\/\/octo/);
    const after = await delivering();
    const url = `${after.repository.pages.url}page.html`;
    expect(after.report).toMatchObject({ ready: true, url });
    expect(composeOutputs([after.report]).url).toBe(url);
    expect(after.log).not.toContain(url);
  });

  test.each<[string, Stage]>([
    ['ready', {}],
    ['not ready', { pages: { live: false } }],
  ])('5. a %s report names what was verified, never what should work', async (_, stage) => {
    const { report } = await delivering(stage);
    expect(reportText(report)).not.toMatch(/should (be|work|open)|probably|presumably|likely/i);
  });

  test('6. the tool has no form that collects tokens: no input asks for another token', () => {
    const asking = Object.keys(INPUTS).filter((name) => /token|password|secret|login|credential/i.test(name));
    expect(asking).toEqual(['token', 'allow-secret']);
    expect(INPUTS['allow-secret'].description).toMatch(/^Fingerprints/);
  });
});
