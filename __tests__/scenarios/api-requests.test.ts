import { expect, test } from '@jest/globals';
import { API_VERSION } from '../../src/protocol/words.ts';
import { findUnversionedRequests } from './api-requests.ts';

const requestOf = (line: string, version?: string) => {
  const [method = '', url = ''] = line.split(' ');
  const headers = { 'user-agent': 'screen-delivery/0.1.0', 'x-github-api-version': version };
  return { method, url, headers };
};

test('findUnversionedRequests finds requests to API and upload host that name another version, or none', () => {
  const lines = [
    'GET https://api.github.com/repos/octo/site',
    'POST https://git.corp.io/api/graphql',
    'POST https://uploads.github.com/repos/octo/site/releases/7/assets?name=a&label=b',
  ];
  for (const version of [undefined, '2026-03-10']) {
    expect(findUnversionedRequests(lines.map((line) => requestOf(line, version)))).toEqual(lines);
  }
  expect(findUnversionedRequests(lines.map((line) => requestOf(line, API_VERSION)))).toEqual([]);
  expect(findUnversionedRequests([requestOf('GET https://octo.github.io/site/')])).toEqual([]);
});
