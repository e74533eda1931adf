import type { ServerResponse } from 'node:http';
import {
  type BenchCall,
  type BenchRoute,
  EXISTING_TAG,
  OWNER,
  REPOSITORY,
  readJson,
  sendJson,
} from './route.ts';
import type { BodyStore, StoredFile } from './store.ts';

const API = 'api.github.com';
const UPLOADS = 'uploads.github.com';
const STORAGE = 'release-assets.githubusercontent.com';
const BINS = 'filebin.net';
const BIN_STORAGE = 'storage.filebin.net';

interface BenchAsset extends StoredFile {
  readonly id: number;
  readonly name: string;
}

interface BenchRelease {
  readonly id: number;
  readonly tag: string;
  readonly assets: BenchAsset[];
}

/** K2 and K3: release assets, and bins that keep the last upload. */
export function createReleaseRoutes(store: BodyStore): BenchRoute[] {
  // The release exists already: creating it would cost the second between two writes.
  const releases: BenchRelease[] = [{ id: 1, tag: EXISTING_TAG, assets: [] }];
  const bins = new Map<string, StoredFile>();
  const repo = `/repos/${OWNER}/${REPOSITORY}`;
  const byId = (id: string | undefined): BenchRelease | undefined =>
    releases.find((release) => release.id === Number(id));
  const tell = (response: ServerResponse, release: BenchRelease | undefined, status = 200): void =>
    release === undefined
      ? sendJson(response, 404, { message: 'Not Found' })
      : sendJson(response, status, formatRelease(release));
  return [
    {
      host: API,
      method: 'GET',
      path: new RegExp(`^${repo}$`),
      serve: ({ response }) => sendJson(response, 200, { private: false }),
    },
    {
      host: API,
      method: 'GET',
      path: new RegExp(`^${repo}/releases$`),
      serve: ({ response }) => sendJson(response, 200, releases.map(formatRelease)),
    },
    {
      host: API,
      method: 'GET',
      path: new RegExp(`^${repo}/releases/tags/([^/]+)$`),
      serve: ({ response, parts: [tag] }) =>
        tell(
          response,
          releases.find((release) => release.tag === tag),
        ),
    },
    {
      host: API,
      method: 'POST',
      path: new RegExp(`^${repo}/releases$`),
      serve: async ({ request, response }) => {
        const release = {
          id: releases.length + 1,
          tag: String((await readJson(request)).tag_name),
          assets: [],
        };
        releases.push(release);
        tell(response, release, 201);
      },
    },
    ...['GET', 'PATCH'].map((method) => ({
      host: API,
      method,
      path: new RegExp(`^${repo}/releases/(\\d+)$`),
      serve: ({ request, response, parts: [id] }: BenchCall) => {
        request.resume();
        tell(response, byId(id));
      },
    })),
    {
      host: API,
      method: 'GET',
      path: new RegExp(`^${repo}/releases/(\\d+)/assets$`),
      serve: ({ response, parts: [id] }) => {
        const release = byId(id);
        sendJson(response, 200, release?.assets.map((asset) => formatAsset(release, asset)) ?? []);
      },
    },
    {
      host: UPLOADS,
      method: 'POST',
      path: new RegExp(`^${repo}/releases/(\\d+)/assets$`),
      serve: async ({ request, response, query, parts: [id] }) => {
        const release = byId(id);
        if (release === undefined) return tell(response, release);
        const stored = await store.receive(request);
        const asset = { ...stored, id: release.assets.length + 1, name: query.get('name') ?? '' };
        release.assets.push(asset);
        sendJson(response, 201, formatAsset(release, asset));
      },
    },
    {
      host: 'github.com',
      method: 'GET',
      path: new RegExp(`^/${OWNER}/${REPOSITORY}/releases/download/([^/]+)/([^/]+)$`),
      serve: ({ response, parts: [tag, name] }) =>
        sendRedirect(response, `https://${STORAGE}/${tag}/${name}`),
    },
    {
      host: STORAGE,
      method: 'GET',
      path: /^\/([^/]+)\/([^/]+)$/,
      serve: ({ response, parts: [tag, name] }) => {
        const asset = releases
          .find((release) => release.tag === tag)
          ?.assets.find((one) => one.name === name);
        return asset === undefined ? sendJson(response, 404, {}) : store.send(asset, response);
      },
    },
    {
      host: BINS,
      method: 'POST',
      path: /^\/([^/]+)\/([^/]+)$/,
      serve: async ({ request, response, parts: [bin = '', filename = ''] }) => {
        const stored = await store.receive(request);
        bins.set(`${bin}/${filename}`, stored);
        sendJson(response, 201, { bin: { id: bin }, file: { filename, bytes: stored.size } });
      },
    },
    {
      host: BINS,
      method: 'PUT',
      path: /^\/([^/]+)$/,
      serve: ({ response }) => void response.writeHead(200).end(),
    },
    {
      host: BINS,
      method: 'GET',
      path: /^\/([^/]+)\/([^/]+)$/,
      serve: ({ response, parts: [bin, name] }) =>
        sendRedirect(response, `https://${BIN_STORAGE}/${bin}/${name}`),
    },
    {
      host: BIN_STORAGE,
      method: 'GET',
      path: /^\/([^/]+)\/([^/]+)$/,
      serve: ({ response, parts: [bin, name] }) => {
        const stored = bins.get(`${bin}/${name}`);
        return stored === undefined ? sendJson(response, 404, {}) : store.send(stored, response);
      },
    },
  ];
}

function formatRelease(release: BenchRelease): object {
  const repo = `/repos/${OWNER}/${REPOSITORY}/releases/${release.id}`;
  return {
    id: release.id,
    tag_name: release.tag,
    name: release.tag,
    draft: false,
    prerelease: false,
    html_url: `https://github.com/${OWNER}/${REPOSITORY}/releases/tag/${release.tag}`,
    url: `https://${API}${repo}`,
    upload_url: `https://${UPLOADS}${repo}/assets{?name,label}`,
    assets: release.assets.map((asset) => formatAsset(release, asset)),
  };
}

function formatAsset({ tag }: BenchRelease, { id, name, size }: BenchAsset): object {
  const browser_download_url = `https://github.com/${OWNER}/${REPOSITORY}/releases/download/${tag}/${name}`;
  return { id, name, size, state: 'uploaded', digest: null, browser_download_url };
}

function sendRedirect(response: ServerResponse, location: string): void {
  response.writeHead(302, { location, 'content-length': 0 }).end();
}
