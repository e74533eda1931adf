import { describe, expect, test } from '@jest/globals';
import { API, AUTH, type CallTemplate, getRoute } from '../../src/protocol/calls.ts';
import { API_VERSION } from '../../src/protocol/words.ts';
import { listDescribedRoutes, readDescription, UNDESCRIBED_CALLS } from './openapi/description.ts';
import { findDeviations, type ValidatedExchange } from './openapi/deviations.ts';

const GITHUB = 'https://api.github.com/repos/octo/site';
const SERVER = 'https://git.corp.io/api/v3/repos/octo/site';

interface Sent {
  readonly body?: object | undefined;
  readonly accept?: string;
  readonly version?: string;
  readonly answer?: ValidatedExchange['answer'];
}

function exchange(line: string, { body, accept, version = API_VERSION, answer = null }: Sent = {}) {
  const [method = '', url = ''] = line.split(' ');
  const json = body === undefined ? '' : JSON.stringify(body);
  const headers = {
    accept: accept ?? 'application/vnd.github+json',
    'user-agent': 'screen-delivery/0.1.0',
    'x-github-api-version': version,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  return { method, url, headers, answer, body: { isWhole: true, size: json.length, text: json } };
}

describe.each(['github.com', 'ghes'] as const)('the extract of the description of %s', (host) => {
  test('has each call of the tables, apart from those that are named (if not: `npm run openapi`)', () => {
    const { operations } = readDescription(host);
    expect(Object.keys(operations)).toEqual(listDescribedRoutes());
    const tables: CallTemplate[] = [...Object.values(API), ...Object.values(AUTH)];
    const missing = tables.map(getRoute).filter((route) => !(route in operations));
    expect(missing.sort()).toEqual(Object.keys(UNDESCRIBED_CALLS).sort());
  });
});

const MESSAGE = { message: 'ADD', content: 'eA==' };
const answered = (status: number, body: object): Sent => ({ answer: { status, body } });

test.each<[title: string, line: string, sent?: Sent]>([
  ['a read', `GET ${GITHUB}/git/ref/heads%2Fmain`],
  ['a read on Enterprise Server', `GET ${SERVER}/issues/7/comments?per_page=100&page=2`],
  ['a write', `PUT ${GITHUB}/contents/a`, { body: MESSAGE, ...answered(201, { content: null, commit: {} }) }],
  ['an error that is not listed', `GET ${GITHUB}/pages`, answered(429, { message: 'Slow down' })],
  [
    'an error that fits two of the described ones',
    `PUT ${GITHUB}/contents/a`,
    {
      body: MESSAGE,
      ...answered(409, { message: 'Conflict', documentation_url: 'https://docs.github.com/' }),
    },
  ],
  [
    'an error of an upload, which the description gives no body',
    'POST https://uploads.github.com/repos/octo/site/releases/7/assets?name=a',
    answered(422, { message: 'Validation Failed', request_id: '1' }),
  ],
  ['GraphQL', 'POST https://api.github.com/graphql', { body: { query: '{viewer{login}}' } }],
  ['another host', 'GET https://octo.github.io/site/'],
])('no deviation is found in %s', (_, line, sent = {}) => {
  expect(findDeviations([exchange(line, sent)])).toEqual([]);
});

test.each<[line: string, deviation: RegExp, sent?: Sent]>([
  [`GET ${GITHUB}/contents/a/b.html`, /no such operation/],
  [`GET ${GITHUB}/issues/x/comments`, /path.* must be integer/],
  [`GET ${GITHUB}/pages?ref=main`, /query .*additional.*"ref"/],
  [`GET ${SERVER}/pages`, /pages: names the version 2026-03-10 of the API/, { version: '2026-03-10' }],
  ['POST https://git.corp.io/api/graphql', /graphql: names the version /, { version: '2026-03-10' }],
  [`POST ${GITHUB}/git/blobs`, /body is missing/],
  [`POST ${GITHUB}/git/blobs`, /body .*"colour"/, { body: { content: '', colour: 'red' } }],
  [`POST ${SERVER}/releases`, /releases: body\/tag_name must be string/, { body: { tag_name: 7 } }],
  [`POST ${GITHUB}/pages/builds`, /takes nothing, but got branch/, { body: { branch: 'main' } }],
  [
    `POST ${GITHUB}/git/blobs`,
    /answer 201\/sha must be string/,
    { body: { content: '' }, ...answered(201, { sha: 7 }) },
  ],
  [`GET ${GITHUB}/pages`, /answer 203 is not described/, answered(203, {})],
  [
    `GET ${GITHUB}/contents/a`,
    /vnd\.github\.object.*\/entries must be array/,
    { accept: 'application/vnd.github.object+json', ...answered(200, { entries: 'a' }) },
  ],
])('%s: %s is found', (line, deviation, sent = {}) => {
  expect(findDeviations([exchange(line, sent)]).join('\n')).toMatch(deviation);
});
