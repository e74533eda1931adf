import { describe, expect, test } from '@jest/globals';
import { Octokit } from '@octokit/core';
import { API, AUTH, BIN, type CallTemplate, UPLOAD } from '../../src/protocol/calls.ts';

/** The template as Octokit fills it in before sending. */
function filled({ method, path }: CallTemplate, parameters: Record<string, unknown>): string {
  const { url } = new Octokit().request.endpoint({
    method,
    url: path,
    baseUrl: 'https://host',
    ...parameters,
  });
  return `${method} ${url.slice('https://host'.length)}`;
}

const REPO = { owner: 'octo', repo: 'site' };

describe('calls of the hosting API', () => {
  test.each<[string, CallTemplate, Record<string, unknown>, string]>([
    [
      'get_file',
      API.get_file,
      { path: 'docs/a.html', ref: 'main' },
      'GET /repos/octo/site/contents/docs/a.html?ref=main',
    ],
    [
      'put_file_le1mb',
      API.put_file_le1mb,
      { path: 'docs/a.html' },
      'PUT /repos/octo/site/contents/docs/a.html',
    ],
    ['blob', API.blob, {}, 'POST /repos/octo/site/git/blobs'],
    ['get_ref', API.get_ref, { branch: 'main' }, 'GET /repos/octo/site/git/ref/heads/main'],
    ['tree', API.tree, {}, 'POST /repos/octo/site/git/trees'],
    ['commit', API.commit, {}, 'POST /repos/octo/site/git/commits'],
    ['update_ref', API.update_ref, { branch: 'main' }, 'PATCH /repos/octo/site/git/refs/heads/main'],
    ['pages_latest', API.pages_latest, {}, 'GET /repos/octo/site/pages/builds/latest'],
    ['create_release', API.create_release, {}, 'POST /repos/octo/site/releases'],
  ])('%s is the call of protocol 4.2 and 4.3', (_name, call, parameters, wire) => {
    expect(filled(call, { ...REPO, ...parameters })).toBe(wire);
  });

  test.each<[string, CallTemplate, Record<string, unknown>, string]>([
    ['get_repository', API.get_repository, {}, 'GET /repos/octo/site'],
    [
      'commits_of_path',
      API.commits_of_path,
      { sha: 'gh-pages', path: 'a b.html', per_page: 1 },
      'GET /repos/octo/site/commits?sha=gh-pages&path=a%20b.html&per_page=1',
    ],
    ['get_commit', API.get_commit, { sha: 'abc' }, 'GET /repos/octo/site/git/commits/abc'],
    [
      'compare',
      API.compare,
      { base: 'abc', head: 'def', per_page: 1 },
      'GET /repos/octo/site/compare/abc...def?per_page=1',
    ],
    ['pages_site', API.pages_site, {}, 'GET /repos/octo/site/pages'],
    ['request_build', API.request_build, {}, 'POST /repos/octo/site/pages/builds'],
    [
      'deployments',
      API.deployments,
      { environment: 'github-pages', per_page: 5 },
      'GET /repos/octo/site/deployments?environment=github-pages&per_page=5',
    ],
    [
      'deployment_statuses',
      API.deployment_statuses,
      { id: 7, per_page: 1 },
      'GET /repos/octo/site/deployments/7/statuses?per_page=1',
    ],
    [
      'release_by_tag',
      API.release_by_tag,
      { tag: 'files-20260102' },
      'GET /repos/octo/site/releases/tags/files-20260102',
    ],
    [
      'list_assets',
      API.list_assets,
      { id: 7, per_page: 100, page: 2 },
      'GET /repos/octo/site/releases/7/assets?per_page=100&page=2',
    ],
    ['rename_asset', API.rename_asset, { id: 7 }, 'PATCH /repos/octo/site/releases/assets/7'],
    ['delete_asset', API.delete_asset, { id: 7 }, 'DELETE /repos/octo/site/releases/assets/7'],
    ['viewer', API.viewer, { graphql: 'https://host/graphql' }, 'POST /graphql'],
    [
      'list_pulls',
      API.list_pulls,
      { head: 'human:a/b', state: 'all', per_page: 100 },
      'GET /repos/octo/site/pulls?head=human%3Aa%2Fb&state=all&per_page=100',
    ],
    [
      'list_comments',
      API.list_comments,
      { number: 7, per_page: 100, page: 2 },
      'GET /repos/octo/site/issues/7/comments?per_page=100&page=2',
    ],
    ['create_comment', API.create_comment, { number: 7 }, 'POST /repos/octo/site/issues/7/comments'],
    ['update_comment', API.update_comment, { id: 9 }, 'PATCH /repos/octo/site/issues/comments/9'],
    ['delete_comment', API.delete_comment, { id: 9 }, 'DELETE /repos/octo/site/issues/comments/9'],
  ])("%s is the host's documented call", (_name, call, parameters, wire) => {
    expect(filled(call, { ...REPO, ...parameters })).toBe(wire);
  });

  test('a path keeps its slashes and the percent-encoding it comes with', () => {
    const path = 'отчёты/a+b.html'.split('/').map(encodeURIComponent).join('/');
    expect(filled(API.put_file_le1mb, { ...REPO, path })).toBe(`PUT /repos/octo/site/contents/${path}`);
  });

  test('a branch keeps its slashes', () => {
    expect(filled(API.get_ref, { ...REPO, branch: 'feature/x' })).toMatch(/\/heads\/feature\/x$/);
  });

  test('only 200 and 201 count as a written file', () => {
    expect(API.put_file_le1mb.expects).toEqual([200, 201]);
  });
});

describe('calls of the other hosts', () => {
  test('an asset is uploaded under its percent-encoded name', () => {
    const asset = { ...REPO, id: 7, name: 'a b.html', label: 'я' };
    expect(filled(UPLOAD.asset, asset)).toBe(
      'POST /repos/octo/site/releases/7/assets?name=a%20b.html&label=%D1%8F',
    );
  });

  test.each<[string, CallTemplate, string]>([
    ['post', BIN.post, 'POST /sv1767323045/a.html'],
    ['get', BIN.get, 'GET /sv1767323045/a.html'],
    ['lock', BIN.lock, 'PUT /sv1767323045'],
  ])('%s is the call of the file-bin', (_name, call, wire) => {
    expect(filled(call, { bin: 'sv1767323045', filename: 'a.html' })).toBe(wire);
  });

  test.each<[string, CallTemplate, string]>([
    ['device_code', AUTH.device_code, 'POST /login/device/code'],
    ['token', AUTH.token, 'POST /login/oauth/access_token'],
    ['user_entry', AUTH.user_entry, 'GET /login/device'],
  ])('%s is the call of the device flow', (_name, { method, path }, wire) => {
    expect(`${method} ${path}`).toBe(wire);
  });
});

describe('what a call sends is said in its template', () => {
  const all: [string, CallTemplate][] = Object.entries({ ...API, ...UPLOAD, ...BIN, ...AUTH });

  test.each<[string, CallTemplate, readonly string[]]>([
    ['put_file_le1mb', API.put_file_le1mb, ['message', 'content (base64)', 'branch', 'sha']],
    ['blob', API.blob, ['content (base64)', 'encoding (base64)']],
    ['tree', API.tree, ['base_tree', 'path', 'mode 100644', 'type blob', 'sha']],
    ['commit', API.commit, ['message', 'tree', 'parents']],
    ['update_ref', API.update_ref, ['sha', 'force (false)']],
    ['create_release', API.create_release, ['tag_name', 'name']],
    ['asset', UPLOAD.asset, ['raw bytes', 'Content-Type: application/octet-stream']],
    ['post', BIN.post, ['raw bytes', 'Content-Type: application/octet-stream']],
    ['device_code', AUTH.device_code, ['client_id', 'scope (repo)']],
    [
      'token',
      AUTH.token,
      ['client_id', 'device_code', 'grant_type (urn:ietf:params:oauth:grant-type:device_code)'],
    ],
  ])('%s names every field of the protocol', (_name, { sends }, fields) => {
    for (const field of fields) expect(sends).toContain(field);
  });

  test.each(all.filter(([, { method }]) => method === 'GET' || method === 'DELETE'))(
    '%s sends nothing',
    (_name, { sends }) => {
      expect(sends).toBeUndefined();
    },
  );

  test('two calls never share the words by which a failure names them', () => {
    const said = all.map(([, { description }]) => description);
    expect(new Set(said).size).toBe(said.length);
  });
});
