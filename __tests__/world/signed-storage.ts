import { createHmac, randomBytes } from 'node:crypto';
import type { HostReply, HostRequest } from './server/messages.ts';
import { replyText } from './server/messages.ts';

interface SignedAddress {
  readonly open: () => HostReply | Promise<HostReply>;
  readonly until: number;
}

/** A storage host with presigned addresses: only signed addresses can be fetched, for a limited time. */
export class SignedStorage {
  readonly host: string;
  readonly #key = randomBytes(32);
  readonly #grants = new Map<string, SignedAddress>();
  readonly #lifeSeconds: number;

  constructor(host: string, lifeSeconds: number) {
    this.host = host;
    this.#lifeSeconds = lifeSeconds;
  }

  /** A signed address at which `open` answers. */
  sign(path: string, open: SignedAddress['open']): string {
    const signature = createHmac('sha256', this.#key).update(`${path} ${this.#grants.size}`).digest('hex');
    this.#grants.set(signature, { open, until: Date.now() + this.#lifeSeconds * 1000 });
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    const algorithm = 'X-Amz-Algorithm=AWS4-HMAC-SHA256';
    return `https://${this.host}${encoded}?${algorithm}&X-Amz-Expires=${this.#lifeSeconds}&X-Amz-Signature=${signature}`;
  }

  /** The handler of the host. */
  readonly handler = ({ method, headers, query }: HostRequest): HostReply | Promise<HostReply> => {
    if (headers.authorization !== undefined) return replyText(400, 'Only one auth mechanism allowed');
    const grant = this.#grants.get(query.get('X-Amz-Signature') ?? '');
    if (grant === undefined || grant.until < Date.now()) return replyText(403, 'AccessDenied');
    return method === 'GET' ? grant.open() : replyText(405, 'MethodNotAllowed');
  };
}
