import { expect, test } from '@jest/globals';
import { API_VERSION } from '../../src/protocol/words.ts';
import { findUnknownApiRequests, findUnversionedRequests } from './api-requests.ts';

const request = (line: string, agent = 'screen-delivery/0.1.0') => {
  const [method = '', url = ''] = line.split(' ');
  return { method, url, headers: { 'user-agent': agent } };
};

test('findUnknownApiRequests finds the requests of the product that are in no table of calls', () => {
  const known = [
    'GET https://api.github.com/repos/octo/site',
    'GET https://api.github.com/repos/octo/site/contents/a%2Fb.html?ref=main',
    'GET https://api.github.com/repos/octo/site/compare/abc...def?per_page=1',
    'POST https://api.github.com/graphql',
    'POST https://git.corp.io/api/graphql',
    'GET https://git.corp.io/api/v3/repos/octo/site/pages',
    'POST https://uploads.github.com/repos/octo/site/releases/7/assets?name=a&label=b',
    'POST https://git.corp.io/api/uploads/repos/octo/site/releases/7/assets?name=a&label=b',
    'GET https://octo.github.io/site/a.html?v=1',
  ];
  const unknown = [
    'GET https://api.github.com/user',
    'PUT https://api.github.com/repos/octo/site',
    'GET https://api.github.com/repos/octo/site/contents/a/b.html?ref=main',
    'GET https://api.github.com/repos/octo/site/pages?ref=main',
    'GET https://git.corp.io/api/v3/repos/octo/site/branches',
    'POST https://uploads.github.com/repos/octo/site/assets',
  ];
  const others = request('GET https://api.github.com/user', 'curl/8');
  const sent = [...known, ...unknown].map((line) => request(line));
  expect(findUnknownApiRequests([...sent, others])).toEqual(unknown);
});

test('findUnversionedRequests finds requests to API and upload host that name another version, or none', () => {
  const lines = [
    'GET https://api.github.com/repos/octo/site',
    'POST https://git.corp.io/api/graphql',
    'POST https://uploads.github.com/repos/octo/site/releases/7/assets?name=a&label=b',
  ];
  const withVersion = (line: string, version: string) => {
    const { headers, ...rest } = request(line);
    return { ...rest, headers: { ...headers, 'x-github-api-version': version } };
  };
  expect(findUnversionedRequests(lines.map((line) => request(line)))).toEqual(lines);
  expect(findUnversionedRequests(lines.map((line) => withVersion(line, '2026-03-10')))).toEqual(lines);
  expect(findUnversionedRequests(lines.map((line) => withVersion(line, API_VERSION)))).toEqual([]);
  expect(findUnversionedRequests([request('GET https://octo.github.io/site/')])).toEqual([]);
});
