import { createHash, randomBytes } from 'node:crypto';
import { findInGit, sendFromGit } from './git-routes.ts';
import { type BenchCall, type BenchRoute, OWNER, REPOSITORY, readJson, sendJson } from './route.ts';
import type { BodyStore, StoredFile } from './store.ts';

const API = 'api.github.com';

interface CommittedFile {
  readonly blob: string;
  readonly stored: StoredFile;
}

/** K1: the contents and the object API, and the site, which is built at once. */
export function createPagesRoutes(store: BodyStore, repository: string): BenchRoute[] {
  const files = new Map<string, CommittedFile>();
  const blobs = new Map<string, StoredFile>();
  /** The file that a tree or a commit adds to the branch, by SHA. */
  const added = new Map<string, { readonly path: string; readonly sha: string }>();
  /** The last commit by the object API; without one, the branch is as git has it. */
  let head: string | undefined;
  const readHead = async (): Promise<string> => head ?? (await findInGit(repository, 'main')) ?? createSha();
  const repo = `/repos/${OWNER}/${REPOSITORY}`;
  const keep = async (base64: unknown): Promise<string> => {
    const bytes = Buffer.from(String(base64), 'base64');
    const sha = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
    blobs.set(sha, await store.keep(bytes));
    return sha;
  };
  const commit = (path: string, blob: string): void => {
    const stored = blobs.get(blob);
    if (stored !== undefined) files.set(path, { blob, stored });
    head = createSha();
  };
  const serveFile = ({ response, parts: [path = ''] }: BenchCall): Promise<void> => {
    const file = files.get(path);
    return file === undefined ? sendFromGit(repository, path, response) : store.send(file.stored, response);
  };
  const call = (method: string, path: string, serve: BenchRoute['serve']): BenchRoute => ({
    host: API,
    method,
    path: new RegExp(`^${repo}${path}$`),
    serve,
  });
  return [
    call('GET', '/pages', ({ response }) =>
      sendJson(response, 200, {
        html_url: `https://${OWNER}.github.io/${REPOSITORY}/`,
        build_type: 'legacy',
        source: { branch: 'main', path: '/' },
        public: true,
      }),
    ),
    call('GET', '/pages/builds/latest', async ({ response }) =>
      sendJson(response, 200, { status: 'built', commit: await readHead() }),
    ),
    call('GET', '/contents/(.+)', async ({ response, parts: [path = ''] }) => {
      const sha = files.get(path)?.blob ?? (await findInGit(repository, `main:${path}`));
      if (sha === undefined) return sendJson(response, 404, { message: 'Not Found', status: '404' });
      sendJson(response, 200, { type: 'file', sha });
    }),
    call('PUT', '/contents/(.+)', async ({ request, response, parts: [path = ''] }) => {
      commit(path, await keep((await readJson(request)).content));
      sendJson(response, 201, { commit: { sha: head } });
    }),
    call('POST', '/git/blobs', async ({ request, response }) =>
      sendJson(response, 201, { sha: await keep((await readJson(request)).content) }),
    ),
    call('GET', '/git/ref/heads/main', async ({ response }) =>
      sendJson(response, 200, { object: { sha: await readHead() } }),
    ),
    call('GET', '/git/commits/(\\w+)', ({ response }) =>
      sendJson(response, 200, { tree: { sha: createSha() } }),
    ),
    call('GET', '/commits', ({ response }) => sendJson(response, 200, [])),
    call('GET', '/rules/branches/main', ({ response }) => sendJson(response, 200, [])),
    {
      host: API,
      method: 'POST',
      path: /^\/graphql$/,
      serve: ({ request, response }) => {
        request.resume();
        // No commit has touched any path yet.
        const object = Object.fromEntries(Array.from({ length: 8 }, (_, nth) => [`p${nth}`, { nodes: [] }]));
        const viewer = { login: 'bench', databaseId: 1 };
        sendJson(response, 200, { data: { viewer, repository: { object } } });
      },
    },
    call('POST', '/git/trees', async ({ request, response }) => {
      const { tree } = (await readJson(request)) as { tree?: { path: string; sha: string }[] };
      const sha = createSha();
      if (tree?.[0] !== undefined) added.set(sha, tree[0]);
      sendJson(response, 201, { sha });
    }),
    call('POST', '/git/commits', async ({ request, response }) => {
      const entry = added.get(String((await readJson(request)).tree));
      const sha = createSha();
      if (entry !== undefined) added.set(sha, entry);
      sendJson(response, 201, { sha });
    }),
    call('PATCH', '/git/refs/heads/main', async ({ request, response }) => {
      const { sha } = await readJson(request);
      const entry = added.get(String(sha));
      if (entry !== undefined) commit(entry.path, entry.sha);
      head = String(sha);
      sendJson(response, 200, { object: { sha } });
    }),
    {
      host: `${OWNER}.github.io`,
      method: 'GET',
      path: new RegExp(`^/${REPOSITORY}/(.+)$`),
      serve: serveFile,
    },
    {
      host: 'raw.githubusercontent.com',
      method: 'GET',
      path: new RegExp(`^/${OWNER}/${REPOSITORY}/main/(.+)$`),
      serve: serveFile,
    },
  ];
}

const createSha = (): string => randomBytes(20).toString('hex');
