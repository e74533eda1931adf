import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { API, AUTH, type CallTemplate, getRoute } from '../../src/protocol/calls.ts';
import { findDeviations, type ValidatedExchange } from './openapi/deviations.ts';
import {
  type ApiDescription,
  getExtractPath,
  listDescribedRoutes,
  UNDESCRIBED_CALLS,
} from './openapi/extract.ts';

const GITHUB = 'https://api.github.com/repos/octo/site';
const SERVER = 'https://git.corp.io/api/v3/repos/octo/site';

interface Sent {
  readonly body?: object | undefined;
  readonly accept?: string;
  readonly answer?: ValidatedExchange['answer'];
}

function exchange(line: string, { body, accept = 'application/vnd.github+json', answer = null }: Sent = {}) {
  const [method = '', url = ''] = line.split(' ');
  const json = body === undefined ? '' : JSON.stringify(body);
  const headers = { accept, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  return { method, url, headers, answer, body: { sha256: 'seen', size: json.length, head: json, json } };
}

describe.each(['github.com', 'ghes'] as const)('the extract of the description of %s', (host) => {
  test('has each call of the tables, apart from those that are named (if not: `npm run openapi`)', () => {
    const { operations } = JSON.parse(readFileSync(getExtractPath(host), 'utf8')) as ApiDescription;
    expect(Object.keys(operations)).toEqual(listDescribedRoutes());
    const tables: CallTemplate[] = [...Object.values(API), ...Object.values(AUTH)];
    const missing = tables.map(getRoute).filter((route) => !(route in operations));
    expect(missing.sort()).toEqual(Object.keys(UNDESCRIBED_CALLS).sort());
  });
});

test.each([
  ['a read', exchange(`GET ${GITHUB}/git/ref/heads%2Fmain`)],
  ['a read on Enterprise Server', exchange(`GET ${SERVER}/issues/7/comments?per_page=100&page=2`)],
  [
    'a write',
    exchange(`PUT ${GITHUB}/contents/a%2Fb.html`, {
      body: { message: 'ADD', content: 'eA==', branch: 'main' },
      answer: { status: 201, body: { content: null, commit: {} } },
    }),
  ],
  [
    'an error that the operation does not list',
    exchange(`GET ${GITHUB}/pages`, { answer: { status: 429, body: { message: 'Slow down' } } }),
  ],
  [
    'an error that fits two of the described ones',
    exchange(`PUT ${GITHUB}/contents/a`, {
      body: { message: 'ADD', content: '' },
      answer: {
        status: 409,
        body: { message: 'Conflict', documentation_url: 'https://docs.github.com/rest' },
      },
    }),
  ],
  [
    'an error of an upload, which the description gives no body',
    exchange('POST https://uploads.github.com/repos/octo/site/releases/7/assets?name=a', {
      answer: { status: 422, body: { message: 'Validation Failed', request_id: '1' } },
    }),
  ],
  ['GraphQL', exchange('POST https://api.github.com/graphql', { body: { query: '{viewer{login}}' } })],
  ['another host', exchange('GET https://octo.github.io/site/')],
])('no deviation is found in %s', (_, seen) => {
  expect(findDeviations([seen])).toEqual([]);
});

test.each([
  ['an unknown endpoint', exchange(`GET ${GITHUB}/nothing`), /^GET \/repos\/octo\/site\/nothing: .*no such/],
  ['an unencoded slash', exchange(`GET ${GITHUB}/contents/a/b.html`), /no such operation/],
  [
    'a path parameter of the wrong type',
    exchange(`GET ${GITHUB}/issues/x/comments`),
    /path.* must be integer/,
  ],
  ['an extra query parameter', exchange(`GET ${GITHUB}/pages?ref=main`), /query .*additional.*"ref"/],
  [
    'a query parameter of the wrong type',
    exchange(`GET ${GITHUB}/commits?per_page=x`),
    /query\/per_page .*int/,
  ],
  ['a missing body', exchange(`POST ${GITHUB}/git/blobs`), /body is missing/],
  [
    'a missing field',
    exchange(`POST ${GITHUB}/git/blobs`, { body: { encoding: 'base64' } }),
    /body .*'content'/,
  ],
  [
    'an extra field',
    exchange(`POST ${GITHUB}/git/blobs`, { body: { content: '', colour: 'red' } }),
    /body .*"colour"/,
  ],
  [
    'an extra field within a list',
    exchange(`POST ${GITHUB}/git/trees`, { body: { tree: [{ path: 'a', colour: 'red' }] } }),
    /body\/tree\/0 .*"colour"/,
  ],
  [
    'a field of the wrong type',
    exchange(`POST ${SERVER}/releases`, { body: { tag_name: 7 } }),
    /^POST \/repos\/octo\/site\/releases: body\/tag_name must be string/,
  ],
  [
    'a body for a call that takes none',
    exchange(`POST ${GITHUB}/pages/builds`, { body: { branch: 'main' } }),
    /takes nothing, but got branch/,
  ],
  [
    'an answer without a required property',
    exchange(`POST ${GITHUB}/git/blobs`, {
      body: { content: '' },
      answer: { status: 201, body: { url: 'https://api.github.com/x' } },
    }),
    /answer 201 must have required property 'sha'/,
  ],
  [
    'an answer of a status that is not described',
    exchange(`GET ${GITHUB}/pages`, { answer: { status: 203, body: {} } }),
    /answer 203 is not described/,
  ],
  [
    'an error without a message of the right type',
    exchange(`GET ${GITHUB}/pages`, { answer: { status: 404, body: { message: 7 } } }),
    /answer 404\/message must be string/,
  ],
  [
    'an answer in another media type without what that one requires',
    exchange(`GET ${GITHUB}/contents/a`, {
      accept: 'application/vnd.github.object+json',
      answer: { status: 200, body: { name: 'a' } },
    }),
    /vnd\.github\.object.* must have required property '_links'/,
  ],
])('%s is found', (_, seen, deviation) => {
  expect(findDeviations([seen]).join('\n')).toMatch(deviation);
});
