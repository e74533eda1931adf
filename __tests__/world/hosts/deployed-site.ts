import { gzipSync } from 'node:zlib';
import { getMediaType } from '../media-types.ts';
import { decodeComponent, type HostReply, type HostRequest, replyRedirect } from '../server/messages.ts';

/** The files of a site by their paths. */
export type SiteFiles = Readonly<Record<string, string | Buffer>>;

/** How a host serves a deployed site. */
interface SiteHabits {
  /** The site's folder on the host. */
  readonly below?: string;
  /** Whether `/about.html` leads to `/about`, and `/docs/index.html` to `/docs/`; `bare`: to `/docs`. */
  readonly cleans?: boolean | 'bare';
  /** The file that is served with 200 instead of a missing one; by default 404. */
  readonly fallback?: string;
  /** Names in another spelling than browsers use: `sirv` answers 404, `serve` and Cloudflare redirect. */
  readonly otherNames?: 'unknown' | 'redirected';
  /** Whether a connection always gets the same node. */
  readonly balancesConnections?: boolean;
  /** How the host changes a page. */
  readonly alter?: (page: string, path: string) => string;
  /** Whether it compresses for clients that accept it. */
  readonly compresses?: boolean;
  /** A `Content-Security-Policy` for all that it serves. */
  readonly policy?: string;
  /** Other content types than the usual ones, by path. */
  readonly types?: Readonly<Record<string, string>>;
}

/** A host like Netlify, Vercel, Cloudflare Pages, Firebase, S3, nginx or Caddy. */
export class DeployedSite {
  /** The files that it serves. Several nodes answer in turn, or by connection. */
  nodes: readonly SiteFiles[];
  /** Answers instead of the host if it returns a reply. */
  before: (path: string) => HostReply | undefined = () => undefined;
  /** The requested paths, in order. */
  readonly asked: string[] = [];
  readonly #habits: SiteHabits;

  constructor(files: SiteFiles, habits: SiteHabits = {}) {
    this.nodes = [files];
    this.#habits = habits;
  }

  readonly answer = (request: HostRequest): HostReply => {
    const { below = '/', cleans = false, fallback, otherNames, balancesConnections } = this.#habits;
    const turn = balancesConnections ? request.connection : this.asked.length;
    const files = this.nodes[turn % this.nodes.length] ?? {};
    this.asked.push(request.path);
    const early = this.before(request.path);
    if (early !== undefined) return early;
    if (`${request.path}/` === below) return replyRedirect(below, 301);
    if (!request.path.startsWith(below)) return { status: 404 };
    const named = request.path.slice(below.length);
    const path = otherNames === 'unknown' ? decodeURI(named) : decodeComponent(named);
    const usual = encodeURI(path).replace(/[?#]/g, encodeURIComponent);
    if (otherNames === 'redirected' && named !== usual) return replyRedirect(below + usual, 301);
    const has = (name: string): boolean => files[name] !== undefined;
    if (cleans !== false && has(path) && path.endsWith('.html')) {
      const clean = request.path.replace(/\.html$/, '').replace(/(?<=\/)index$/, '');
      return replyRedirect(cleans === 'bare' ? clean.replace(/(?<=.)\/$/, '') : clean, 308);
    }
    const found = [path, `${path.replace(/\/$/, '')}/index.html`, `${path}.html`].find((name) =>
      has(name.replace(/^\//, '')),
    );
    const name = found?.replace(/^\//, '') ?? fallback;
    return name === undefined ? { status: 404, body: 'nothing here' } : this.#serve(files, name, request);
  };

  #serve(files: SiteFiles, name: string, { headers }: HostRequest): HostReply {
    const { alter, compresses = false, policy, types = {} } = this.#habits;
    const content = files[name] ?? '';
    const isPage = name.endsWith('.html');
    const body = Buffer.from(isPage && alter !== undefined ? alter(String(content), name) : content);
    const type = {
      'content-type': types[name] ?? getMediaType(name),
      ...(policy && { 'content-security-policy': policy }),
    };
    return compresses && String(headers['accept-encoding']).includes('gzip')
      ? { status: 200, headers: { ...type, 'content-encoding': 'gzip' }, body: gzipSync(body) }
      : { status: 200, headers: type, body };
  }
}
