import { json, type Reply } from '../front/http.ts';
import type { Build, Deployment, PagesSite } from '../pages/site.ts';
import { type Call, idOf, paged } from './call.ts';
import { fail, notFound } from './errors.ts';
import { apiUrl, userView } from './repository.ts';
import { route } from './routes.ts';

const BOT = 'github-actions[bot]';
const ENVIRONMENT = 'github-pages';

function siteOf({ repository }: Call): PagesSite {
  return repository.site ?? notFound();
}

function showSite(call: Call): Reply {
  const { repository } = call;
  const site = siteOf(call);
  return json(200, {
    url: `${apiUrl(repository)}/pages`,
    status: site.buildType === 'workflow' ? null : (site.history[0]?.status ?? null),
    cname: site.cname,
    custom_404: false,
    html_url: site.url,
    build_type: site.buildType,
    source: { branch: site.branch, path: site.path },
    public: true,
    https_enforced: true,
  });
}

function buildView({ repository }: Call, build: Build) {
  return {
    url: `${apiUrl(repository)}/pages/builds/${build.id}`,
    status: build.status,
    error: { message: build.error },
    pusher: userView(BOT),
    commit: build.commit,
    duration: build.duration,
    created_at: build.createdAt.toISOString(),
    updated_at: build.updatedAt.toISOString(),
  };
}

function builds(call: Call): readonly Build[] {
  const { buildType, history } = siteOf(call);
  return buildType === 'workflow' ? [] : history;
}

function listBuilds(call: Call): Reply {
  const { page, headers } = paged(call, builds(call));
  return json(
    200,
    page.map((build) => buildView(call, build)),
    headers,
  );
}

function latestBuild(call: Call): Reply {
  return json(200, buildView(call, builds(call)[0] ?? notFound()));
}

async function requestBuild(call: Call): Promise<Reply> {
  const { repository } = call;
  const site = siteOf(call);
  const head = (await repository.head(site.branch)) ?? fail(422, 'The site has no commits.');
  site.request(head);
  return json(201, { url: `${apiUrl(repository)}/pages/builds/latest`, status: 'queued' });
}

function deployments({ repository }: Call): readonly Deployment[] {
  return repository.site?.deployments ?? [];
}

function listDeployments(call: Call): Reply {
  const { repository, request } = call;
  const { query } = request;
  const environment = query.get('environment') ?? ENVIRONMENT;
  const sha = query.get('sha');
  const wanted = deployments(call).filter(
    (deployment) => environment === ENVIRONMENT && (sha === null || sha === deployment.sha),
  );
  const { page, headers } = paged(call, wanted);
  const views = page.map(({ id, sha, createdAt }) => ({
    id,
    sha,
    ref: repository.branch,
    task: 'deploy',
    environment: ENVIRONMENT,
    creator: userView(BOT),
    created_at: createdAt.toISOString(),
    statuses_url: `${apiUrl(repository)}/deployments/${id}/statuses`,
  }));
  return json(200, views, headers);
}

function listStatuses(call: Call): Reply {
  const deployment = deployments(call).find(({ id }) => id === idOf(call, 'id')) ?? notFound();
  const views = deployment.statuses.map(({ state, description, at }, index) => ({
    id: deployment.id * 100 + deployment.statuses.length - index,
    state,
    description,
    environment: ENVIRONMENT,
    environment_url: siteOf(call).url,
    created_at: at.toISOString(),
  }));
  return json(200, views);
}

export const pagesRoutes = [
  route('GET /pages', { pages: 'read' }, showSite),
  route('GET /pages/builds', { pages: 'read' }, listBuilds),
  route('GET /pages/builds/latest', { pages: 'read' }, latestBuild),
  route('POST /pages/builds', { pages: 'write' }, requestBuild),
  route('GET /deployments', { deployments: 'read' }, listDeployments),
  route('GET /deployments/:id/statuses', { deployments: 'read' }, listStatuses),
];
