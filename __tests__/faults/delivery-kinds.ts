import type { RawInputs } from '../../src/request/inputs.ts';
import { commitOwned } from '../support/commit-owned.ts';
import type { RepositoryOptions, TestRepository } from '../world/repository.ts';
import { LOGINS } from '../world/tokens.ts';

/** One kind of delivery in the fault matrix. */
export interface DeliveryKind {
  readonly name: string;
  readonly file: string;
  readonly inputs: Partial<RawInputs>;
  readonly repository?: Partial<RepositoryOptions>;
  /** The owner of the step's token; the job itself by default. */
  readonly login?: string;
  /** Prepares the repository before the delivery. */
  readonly before?: (
    repository: TestRepository,
    deliver: (file: string, path?: string) => Promise<unknown>,
  ) => Promise<unknown>;
  /** A file of another delivery, which must stay as it is. */
  readonly keeps?: string;
  /** Whether the runner gives it what a deploying job gets. */
  readonly deploys?: boolean;
  /** Whether the delivery withdraws the earlier one. */
  readonly withdraws?: boolean;
  /** Only matching requests fail; the others are covered by another kind. */
  readonly requests?: RegExp;
  /** Each matching request fails, and not only the first two of a name. */
  readonly each?: RegExp;
  /** Texts of the page that is delivered in place of the file. */
  readonly becomes?: readonly string[];
  /** Faults after which the delivery may give up, although they pass. */
  readonly endsAfter?: RegExp;
}

export const PAGE_CONTENT = `<!doctype html><title>Привет</title><p>marker-42</p><p>${'a line of text. '.repeat(20)}</p>\n`;
/** Just above the limit of the single-call write. */
export const LARGE_CONTENT = Buffer.alloc(1_048_577, 32);
const OLDER_CONTENT = PAGE_CONTENT.replace('a line', 'an older line');
const STYLE_URL = 'https://cdn.octo.dev/style.css';
export const STYLE = 'p { color: teal }'.padEnd(400);
export const DELIVERY_FILES: Readonly<Record<string, string | Buffer>> = {
  'page.html': PAGE_CONTENT,
  'older.html': OLDER_CONTENT,
  'large.bin': LARGE_CONTENT,
  'inlined.html': PAGE_CONTENT.replace('<p>', `<link rel="stylesheet" href="${STYLE_URL}"><p>`),
};

const PREVIEW = 'previews/pr-7/page.html';
export const OTHER = 'other.html';

/** Every channel and method, and their rare cases. */
export const DELIVERY_KINDS: readonly DeliveryKind[] = [
  { name: 'K1, method A, a new file', file: 'page.html', inputs: { channel: 'K1' } },
  {
    name: 'K1, method A, over our earlier file, with a marker',
    file: 'page.html',
    inputs: { channel: 'K1', marker: 'marker-42' },
    repository: { pages: { buildMs: 0 } },
    before: async (repository) => {
      await commitOwned(repository, 'page.html', OLDER_CONTENT);
      await repository.pages.whenBuilt();
    },
  },
  {
    name: 'K1, method B',
    file: 'large.bin',
    inputs: { channel: 'K1' },
    requests: /\/git\/|contents/,
  },
  {
    name: 'K1, a site that a workflow builds',
    file: 'page.html',
    inputs: { channel: 'K1' },
    repository: { pages: { buildType: 'workflow', liveAfterRequests: 3 } },
    login: LOGINS.app,
    requests: /deployments|compare/,
  },
  {
    name: 'K1, method D, a site without a branch',
    file: 'page.html',
    inputs: { channel: 'K1', path: './' },
    repository: { pages: { buildType: 'workflow', built: false } },
    deploys: true,
  },
  ...(['deliver', 'withdraw'] as const).map((operation) => ({
    name: `K1, method D, a preview: ${operation}`,
    file: 'page.html',
    inputs: { channel: 'K1', path: PREVIEW, operation },
    repository: { pages: { buildType: 'workflow' as const, built: false } },
    async before(_: TestRepository, deliver: (file: string, path?: string) => Promise<unknown>) {
      await deliver('older.html', OTHER);
      if (operation === 'withdraw') await deliver('page.html');
    },
    deploys: true,
    withdraws: operation === 'withdraw',
    keeps: OTHER,
    requests: /github\.io|actions|idtoken|blob\.core|pages\/deployments/,
    each: /screen-delivery\.json|pages\/deployments/,
  })),
  {
    name: 'K1, method D, a site with a branch',
    file: 'page.html',
    inputs: { channel: 'K1', branch: 'main' },
    repository: { pages: { buildType: 'workflow', built: false } },
    deploys: true,
    requests: /tarball|codeload|pages\/deployments/,
  },
  {
    name: 'K1, a build that is never there by itself',
    file: 'page.html',
    inputs: { channel: 'K1' },
    repository: { pages: { startsBuilds: false } },
    requests: /pages\/builds/,
  },
  {
    name: 'K1, a page that is made self-contained',
    file: 'inlined.html',
    inputs: { channel: 'K1', 'self-contained': 'inline' },
    requests: /cdn\.octo\.dev/,
    becomes: ['marker-42', 'href="data:text/css'],
    endsAfter: /no answer|silence|drip|HTML/,
  },
  {
    name: 'K1, by the device flow',
    file: 'page.html',
    inputs: { channel: 'K1', token: '', 'client-id': 'Iv1.0123456789abcdef' },
    requests: /\/login\//,
  },
  { name: 'K2, a new asset', file: 'page.html', inputs: { channel: 'K2' } },
  {
    name: 'K2, over an asset',
    file: 'page.html',
    inputs: { channel: 'K2', overwrite: 'true' },
    before: async (_, deliver) => deliver('older.html'),
  },
  { name: 'K3', file: 'page.html', inputs: { channel: 'K3', token: '' } },
  { name: 'K4', file: 'page.html', inputs: { channel: 'K4', url: 'https://preview.example.com/page.html' } },
  ...(['K1', 'K2', 'K3'] as const).map((channel) => ({
    name: `${channel}, withdrawn`,
    file: 'page.html',
    inputs: { channel, operation: 'withdraw', ...(channel === 'K3' ? { token: '' } : {}) },
    before: async (_: TestRepository, deliver: (file: string) => Promise<unknown>) => deliver('page.html'),
    withdraws: true,
  })),
  { name: 'K1+K3', file: 'page.html', inputs: { channel: 'K1+K3' }, requests: /^PUT|filebin/ },
];
