import { createHash, randomBytes } from 'node:crypto';
import { sendFromGit } from './git-routes.ts';
import { type Call, json, jsonOf, OWNER, REPOSITORY, type Route } from './route.ts';
import type { Store, Stored } from './store.ts';

const API = 'api.github.com';

interface Committed {
  readonly blob: string;
  readonly stored: Stored;
}

/** K1: the contents and the object API, and the site, which is built at once. */
export function pagesRoutes(store: Store, repository: string): Route[] {
  const files = new Map<string, Committed>();
  const blobs = new Map<string, Stored>();
  /** What a tree or a commit, by its sha, adds to the branch. */
  const added = new Map<string, { readonly path: string; readonly sha: string }>();
  let head = newSha();
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
    head = newSha();
  };
  const serveFile = ({ response, parts: [path = ''] }: Call): Promise<void> => {
    const file = files.get(path);
    return file === undefined ? sendFromGit(repository, path, response) : store.send(file.stored, response);
  };
  const call = (method: string, path: string, serve: Route['serve']): Route => ({
    host: API,
    method,
    path: new RegExp(`^${repo}${path}$`),
    serve,
  });
  return [
    call('GET', '/pages', ({ response }) =>
      json(response, 200, {
        html_url: `https://${OWNER}.github.io/${REPOSITORY}/`,
        build_type: 'legacy',
        source: { branch: 'main', path: '/' },
        public: true,
      }),
    ),
    call('GET', '/pages/builds/latest', ({ response }) =>
      json(response, 200, { status: 'built', commit: head }),
    ),
    call('GET', '/contents/(.+)', ({ response, parts: [path = ''] }) => {
      const file = files.get(path);
      if (file === undefined) return json(response, 404, { message: 'Not Found', status: '404' });
      json(response, 200, { type: 'file', sha: file.blob });
    }),
    call('PUT', '/contents/(.+)', async ({ request, response, parts: [path = ''] }) => {
      commit(path, await keep((await jsonOf(request)).content));
      json(response, 201, { commit: { sha: head } });
    }),
    call('POST', '/git/blobs', async ({ request, response }) =>
      json(response, 201, { sha: await keep((await jsonOf(request)).content) }),
    ),
    call('GET', '/git/ref/heads/main', ({ response }) => json(response, 200, { object: { sha: head } })),
    call('GET', '/git/commits/(\\w+)', ({ response }) => json(response, 200, { tree: { sha: newSha() } })),
    call('POST', '/git/trees', async ({ request, response }) => {
      const { tree } = (await jsonOf(request)) as { tree?: { path: string; sha: string }[] };
      const sha = newSha();
      if (tree?.[0] !== undefined) added.set(sha, tree[0]);
      json(response, 201, { sha });
    }),
    call('POST', '/git/commits', async ({ request, response }) => {
      const entry = added.get(String((await jsonOf(request)).tree));
      const sha = newSha();
      if (entry !== undefined) added.set(sha, entry);
      json(response, 201, { sha });
    }),
    call('PATCH', '/git/refs/heads/main', async ({ request, response }) => {
      const { sha } = await jsonOf(request);
      const entry = added.get(String(sha));
      if (entry !== undefined) commit(entry.path, entry.sha);
      head = String(sha);
      json(response, 200, { object: { sha } });
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

const newSha = (): string => randomBytes(20).toString('hex');
