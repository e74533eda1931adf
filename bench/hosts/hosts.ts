import { execFile } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createGitRoutes } from './git-routes.ts';
import { createPagesRoutes } from './pages-routes.ts';
import { createReleaseRoutes } from './release-routes.ts';
import { type BenchRoute, sendJson } from './route.ts';
import { createStore } from './store.ts';

export interface LocalHosts {
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>;
  cutAfter(bytes: number): void;
  forget(): Promise<void>;
}

/** Simulates every host, only for the calls that a delivery makes; data stays until `forget` is called. */
export async function createHosts(folder: string): Promise<LocalHosts> {
  const store = await createStore(folder);
  const repository = join(folder, 'repository.git');
  await promisify(execFile)('sh', ['-c', BARE_REPOSITORY, 'sh', repository]);
  const createRoutes = (): BenchRoute[] => [
    ...createReleaseRoutes(store),
    ...createPagesRoutes(store, repository),
    ...createGitRoutes(repository),
  ];
  let routes = createRoutes();
  return {
    async serve(request, response) {
      const url = new URL(request.url ?? '/', `https://${request.headers.host}`);
      for (const route of routes) {
        if (route.host !== url.host || route.method !== request.method) continue;
        // Octokit encodes the slash of a reference.
        const match = route.path.exec(url.pathname.replaceAll('%2F', '/'));
        if (match === null) continue;
        const parts = match.slice(1).map(decodeURIComponent);
        return route.serve({ request, response, query: url.searchParams, parts });
      }
      sendJson(response, 404, { message: 'Not Found', status: '404' });
    },
    cutAfter: store.cutAfter,
    async forget() {
      await store.forget();
      await promisify(execFile)('git', [
        '-C',
        repository,
        'update-ref',
        'refs/heads/main',
        'refs/bench/start',
      ]);
      routes = createRoutes();
    },
  };
}

const BARE_REPOSITORY = `
  git init --quiet --bare --initial-branch=main "$1" && cd "$1" && git config http.receivepack true &&
  git config core.compression 0 && git config core.bigFileThreshold 1m && git config gc.auto 0 &&
  git config uploadpack.allowFilter true &&
  git update-ref refs/bench/start \\
    "$(git -c user.name=bench -c user.email=bench@example.com commit-tree -m start "$(git mktree </dev/null)")" &&
  git config transfer.hideRefs refs/bench && git update-ref refs/heads/main refs/bench/start`;
