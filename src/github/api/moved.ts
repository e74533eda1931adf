import { DeliveryError } from '../../errors.ts';
import { MOVED_HINT } from '../hints.ts';
import type { RepositoryName } from '../hosts.ts';

/** Where GitHub says that a repository was renamed or transferred. */
export interface MovedRepository {
  readonly apiUrl: URL;
  /** The name that was asked for. */
  readonly repository: RepositoryName;
  /** The `Location` of the answer. */
  readonly location: unknown;
}

/** Asks for the repository with this id; its answer is read as JSON. */
export type ReadRepositoryById = (id: number) => Promise<unknown>;

/**
 * The error of a call that was redirected. GitHub sends it on to the repository's id, so the repository is asked for
 * its name: nothing is written there, because the new one may be somebody else's.
 *
 * @param description what the call does
 * @see https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
 */
export async function movedError(
  { description, httpCode }: { readonly description: string; readonly httpCode: number },
  moved: MovedRepository,
  readById: ReadRepositoryById,
): Promise<DeliveryError> {
  const id = findId(moved);
  const newName = id === undefined ? undefined : parseName(await readById(id).catch(() => undefined));
  const { owner, repo } = moved.repository;
  const oldName = `${owner}/${repo}`;
  if (newName === undefined || newName.toLowerCase() === oldName.toLowerCase()) {
    const message = `${description} was redirected: the repository has moved`;
    return new DeliveryError('NOT_FOUND', message, { httpCode, hint: MOVED_HINT });
  }
  return new DeliveryError(
    'NOT_FOUND',
    `${description} was redirected: the repository ${oldName} has moved, its name is ${newName} now`,
    { httpCode, hint: `set \`repository: ${newName}\` if that is where it belongs` },
  );
}

/** The id in an address of the same API; no other address is asked, because the token would go there. */
function findId({ apiUrl, location }: MovedRepository): number | undefined {
  const target = typeof location === 'string' ? URL.parse(location, apiUrl.href) : null;
  const base = apiUrl.href.replace(/\/$/, '');
  const [, id] = /^\/repositories\/(\d{1,15})(?=[/?#]|$)/.exec(target?.href.slice(base.length) ?? '') ?? [];
  return id === undefined || !target?.href.startsWith(`${base}/`) ? undefined : Number(id);
}

function parseName(repository: unknown): string | undefined {
  const { full_name: name } = (repository ?? {}) as { full_name?: unknown };
  return typeof name === 'string' && /^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(name) ? name : undefined;
}
