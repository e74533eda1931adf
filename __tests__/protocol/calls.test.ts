import { createRequire } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import { Octokit } from '@octokit/rest';
import { API, AUTH, BIN, type CallTemplate, getApiCall, getRoute, UPLOAD } from '../../src/protocol/calls.ts';

const octokit = new Octokit();

/** The request line of a template that is filled in by Octokit. */
function fillTemplate({ method, path }: CallTemplate, parameters: Record<string, unknown>): string {
  const baseUrl = 'https://host';
  const { url } = octokit.request.endpoint({ method, url: path, baseUrl, ...parameters });
  return `${method} ${url.slice(baseUrl.length)}`;
}

/** The routes of all of Octokit's endpoint methods. */
function listOctokitRoutes(): string[] {
  const methods = Object.values(octokit.rest).flatMap((scope) => Object.values(scope));
  return methods.map(({ endpoint }) => `${endpoint.DEFAULTS.method} ${endpoint.DEFAULTS.url}`);
}

describe('API', () => {
  test('names each call by the route of an Octokit endpoint method, except GraphQL', () => {
    const routes = new Set(listOctokitRoutes());
    const calls = Object.entries(API) as [string, CallTemplate][];
    const unknown = calls.filter(([, call]) => !routes.has(getRoute(call))).map(([name]) => name);
    expect(unknown).toEqual(['graphql']);
  });

  test.each<[keyof typeof API, Record<string, unknown>, string]>([
    ['get_file', { path: 'a.html', ref: 'main' }, 'GET /repos/octo/site/contents/a.html?ref=main'],
    ['put_file_le1mb', { path: 'a.html' }, 'PUT /repos/octo/site/contents/a.html'],
    ['blob', {}, 'POST /repos/octo/site/git/blobs'],
    ['get_ref', { ref: 'main' }, 'GET /repos/octo/site/git/ref/main'],
    ['tree', {}, 'POST /repos/octo/site/git/trees'],
    ['commit', {}, 'POST /repos/octo/site/git/commits'],
    ['update_ref', { ref: 'main' }, 'PATCH /repos/octo/site/git/refs/main'],
    ['pages_latest', {}, 'GET /repos/octo/site/pages/builds/latest'],
    ['create_release', {}, 'POST /repos/octo/site/releases'],
  ])('has the call %s of protocol 4.2 and 4.3', (name, parameters, expected) => {
    expect(fillTemplate(API[name], { owner: 'octo', repo: 'site', ...parameters })).toBe(expected);
  });

  test('accepts only 200 and 201 as the answer to a file write', () => {
    expect(API.put_file_le1mb.expects).toEqual([200, 201]);
  });

  test('repeats every call except writes that must be checked first and polls', () => {
    const calls = Object.entries(API) as [string, CallTemplate][];
    expect(calls.filter(([, { repeatable }]) => !repeatable).map(([name]) => name)).toEqual([
      'put_file_le1mb',
      'update_ref',
      'create_ref',
      'branch_rules',
      'compare',
      'create_pages_site',
      'pages_latest',
      'request_build',
      'create_pages_deployment',
      'pages_deployment',
      'deployments',
      'deployment_statuses',
      'dispatch_workflow',
      'workflow_runs',
      'pending_deployments',
      'create_release',
      'publish_release',
      'create_issue',
      'create_comment',
      'delete_comment',
    ]);
  });

  test('paces every write except the parts of one', () => {
    const calls = Object.entries(API) as [string, CallTemplate][];
    expect(calls.filter(([, { partOfWrite }]) => partOfWrite).map(([name]) => name)).toEqual([
      'tree',
      'commit',
      'update_ref',
      'create_ref',
      'create_release',
    ]);
  });
});

interface PublishedPermissions {
  readonly 'api.github.com': {
    readonly permissions: Readonly<Record<string, { readonly read?: string[]; readonly write?: string[] }>>;
  };
}

/** The published permissions of each route, such as `pages: read`. Their parameters may have other names. */
function readPublishedPermissions(): ReadonlyMap<string, readonly string[]> {
  // The package has no types.
  const list = createRequire(import.meta.url)('@octokit/app-permissions') as PublishedPermissions;
  const { permissions } = list['api.github.com'];
  const byRoute = new Map<string, string[]>();
  for (const [name, levels] of Object.entries(permissions)) {
    for (const level of ['read', 'write'] as const) {
      for (const route of levels[level] ?? []) {
        const key = withoutNames(route);
        byRoute.set(key, [...(byRoute.get(key) ?? []), `${name.replaceAll('_', '-')}: ${level}`]);
      }
    }
  }
  return byRoute;
}

const withoutNames = (route: string): string => route.replace(/\{[^}]*\}/g, '{}');

describe('permissions', () => {
  /** The published list lacks these, or names only `single_file`; GitHub's documentation of the call names them. */
  const DOCUMENTED: Readonly<Record<string, string>> = {
    put_file_le1mb: 'contents: write',
    compare: 'contents: read',
    asset: 'contents: write',
    branch_rules: 'metadata: read',
    pending_deployments: 'actions: read',
    create_pages_site: 'administration: write',
    create_pages_deployment: 'pages: write, id-token: write',
    pages_deployment: 'pages: read',
    archive: 'contents: read',
  };
  const published = readPublishedPermissions();
  const calls: [string, CallTemplate][] = Object.entries({ ...API, ...UPLOAD });

  test.each(calls.filter(([name]) => name !== 'graphql'))('names the one that %s needs', (name, call) => {
    const accepted =
      DOCUMENTED[name] === undefined ? published.get(withoutNames(getRoute(call))) : [DOCUMENTED[name]];
    expect(accepted).toContain(call.permission);
  });

  test('names none for GraphQL, which has no permission of its own', () => {
    expect((API.graphql as CallTemplate).permission).toBeUndefined();
  });
});

describe('getApiCall', () => {
  test('finds each by its route', () => {
    for (const call of Object.values(API)) expect(getApiCall(getRoute(call))).toBe(call);
  });

  test('throws for a route that is not in the table', () => {
    expect(() => getApiCall('GET /user')).toThrow('GET /user is not in the table of API calls');
  });
});

describe('UPLOAD, BIN and AUTH', () => {
  test('UPLOAD.asset has the percent-encoded name and label in its query', () => {
    const asset = { owner: 'octo', repo: 'site', id: 7, name: 'a b.html', label: 'я' };
    expect(fillTemplate(UPLOAD.asset, asset)).toBe(
      'POST /repos/octo/site/releases/7/assets?name=a%20b.html&label=%D1%8F',
    );
  });

  test.each<[string, CallTemplate, string]>([
    ['post', BIN.post, 'POST /sv1767323045/a.html'],
    ['get', BIN.get, 'GET /sv1767323045/a.html'],
    ['lock', BIN.lock, 'PUT /sv1767323045'],
  ])('BIN has the call %s of the file-bin', (_name, call, expected) => {
    expect(fillTemplate(call, { bin: 'sv1767323045', filename: 'a.html' })).toBe(expected);
  });

  test.each<[string, CallTemplate, string]>([
    ['device_code', AUTH.device_code, 'POST /login/device/code'],
    ['token', AUTH.token, 'POST /login/oauth/access_token'],
    ['user_entry', AUTH.user_entry, 'GET /login/device'],
  ])('AUTH has the call %s of the device flow', (_name, { method, path }, expected) => {
    expect(`${method} ${path}`).toBe(expected);
  });
});

describe('CallTemplate', () => {
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
  ])('names in %s every field of the protocol', (_name, { sends }, fields) => {
    for (const field of fields) expect(sends).toContain(field);
  });

  test('describes each call differently', () => {
    const descriptions = all.map(([, { description }]) => description);
    expect(new Set(descriptions).size).toBe(descriptions.length);
  });
});
