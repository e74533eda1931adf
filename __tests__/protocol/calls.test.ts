import { createRequire } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import { Octokit } from '@octokit/rest';
import { API, type CallTemplate, getRoute, UPLOAD } from '../../src/protocol/calls.ts';

const octokit = new Octokit();

/** The routes of all of Octokit's endpoint methods. */
function listOctokitRoutes(): string[] {
  const methods = Object.values(octokit.rest).flatMap((scope) => Object.values(scope));
  return methods.map(({ endpoint }) => `${endpoint.DEFAULTS.method} ${endpoint.DEFAULTS.url}`);
}

const calls: readonly [string, CallTemplate][] = Object.entries(API);
const namesWith = (isMeant: (call: CallTemplate) => boolean): readonly string[] =>
  calls.filter(([, call]) => isMeant(call)).map(([name]) => name);

// The requests of protocol 4 are held by the machine contract, which prints them.
describe('the table of API calls', () => {
  test('names each call by the route of an Octokit endpoint method, except GraphQL', () => {
    const routes = new Set(listOctokitRoutes());
    expect(namesWith((call) => !routes.has(getRoute(call)))).toEqual(['graphql']);
  });

  test('repeats every call except writes that must be checked first and polls', () => {
    expect(namesWith(({ repeatable }) => !repeatable).join(' ')).toBe(
      'put_file_le1mb update_ref create_ref branch_rules compare create_pages_site pages_latest request_build ' +
        'create_pages_deployment pages_deployment deployments deployment_statuses dispatch_workflow ' +
        'workflow_runs create_release publish_release rename_asset create_issue ' +
        'create_comment delete_comment',
    );
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
  const DOCUMENTED: Readonly<Record<string, readonly string[]>> = {
    put_file_le1mb: ['contents: write'],
    compare: ['contents: read'],
    asset: ['contents: write'],
    branch_rules: ['metadata: read'],
    create_pages_site: ['administration: write'],
    create_pages_deployment: ['pages: write, id-token: write'],
    pages_deployment: ['pages: read'],
    archive: ['contents: read'],
    run_attempt: ['actions: read'],
  };

  test('are those that GitHub names for each call; GraphQL has none of its own', () => {
    const published = readPublishedPermissions();
    const wrong = Object.entries<CallTemplate>({ ...API, ...UPLOAD }).filter(([name, call]) => {
      const accepted = DOCUMENTED[name] ?? published.get(withoutNames(getRoute(call)));
      return call.permission === undefined || accepted?.includes(call.permission) !== true;
    });
    expect(wrong.map(([name]) => name)).toEqual(['graphql']);
  });
});
