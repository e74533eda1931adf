import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { DeployedSite, type SiteFiles } from '../hosts/deployed-site.ts';
import type { ActionContext, FakeAction } from './fake-actions.ts';

/** The artifact that `actions/deploy-pages` deploys. */
const ARTIFACT = 'github-pages';

/** Actions that deploy a folder to a host, which serves it as such a host does. */
export const DEPLOYERS: Readonly<Record<string, FakeAction>> = {
  'actions/upload-pages-artifact': {
    inputs: ['path'],
    run: ({ inputs: { path = '_site' }, workspace, runId: run, artifacts }) =>
      artifacts.save(run, ARTIFACT, join(workspace, path)),
  },
  'actions/deploy-pages': {
    inputs: [],
    async run(context) {
      const { grants, runId, artifacts, workspace } = context;
      if (grants.pages !== 'write' || grants['id-token'] !== 'write') {
        throw new Error('Ensure GITHUB_TOKEN has permission "id-token: write" and "pages: write".');
      }
      const folder = join(workspace, '..', ARTIFACT);
      await artifacts.download(runId, ARTIFACT, folder);
      return { page_url: await deploy(context, folder, 'octo-pages.github.io') };
    },
  },
  'nwtgck/actions-netlify': {
    inputs: [
      ...['publish-dir', 'alias', 'enable-pull-request-comment', 'enable-commit-comment'],
      'enable-github-deployment',
    ],
    async run(context) {
      const { 'publish-dir': folder = '', alias = '' } = context.inputs;
      const url = await deploy(context, join(context.workspace, folder), `${alias}--my-site.netlify.app`);
      // Without a slash at its end.
      return { 'deploy-url': url.slice(0, -1) };
    },
  },
  'cloudflare/wrangler-action': {
    inputs: ['apiToken', 'accountId', 'command'],
    async run(context) {
      const [, folder = '', project = ''] =
        /^pages deploy (\S+) --project-name=(\S+) --branch=\S+$/.exec(context.inputs.command ?? '') ?? [];
      const host = `a1b2c3d4.${project}.pages.dev`;
      const url = await deploy(context, join(context.workspace, folder), host, { cleans: true });
      return { 'deployment-url': url.slice(0, -1) };
    },
  },
};

/** Serves a folder at a host, and returns its address. */
async function deploy(
  { world }: ActionContext,
  folder: string,
  host: string,
  habits: ConstructorParameters<typeof DeployedSite>[1] = {},
): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  const files: SiteFiles = Object.fromEntries(
    await Promise.all(paths.map(async (path) => [relative(folder, path), await readFile(path)] as const)),
  );
  world.host(host, new DeployedSite(files, habits).answer);
  return `https://${host}/`;
}
