import { parseJson, toFields } from '../../../plain-text.ts';
import type { Ports } from '../../../ports.ts';
import { withRetries } from '../../../retry.ts';
import { type JobRuntime, mayNotDeployError } from './job-runtime.ts';
import { askOnce, unusableError } from './service.ts';

const ASKING = 'asking GitHub for the identity of the job';

/**
 * A token that says to GitHub which job this is. It is valid for a few minutes, so each deployment gets its own.
 *
 * @throws {DeliveryError} `NO_PERMISSION` where the job has no environment, which GitHub would refuse later.
 * @see https://docs.github.com/actions/reference/security/oidc
 */
export async function getIdToken(
  { url, token: requestToken }: NonNullable<JobRuntime['identity']>,
  ports: Ports,
): Promise<string> {
  const headers = { accept: 'application/json', authorization: `Bearer ${requestToken}` };
  const value = await withRetries(ports, async () => {
    const { json } = await askOnce({ description: ASKING, expects: 200, method: 'GET', url, headers }, ports);
    const { value: token } = toFields(json);
    if (typeof token !== 'string' || token === '') throw unusableError(ASKING);
    ports.logger.mask(token);
    return token;
  });
  const { environment } = readTokenClaims(value);
  if (environment === undefined)
    throw mayNotDeployError('the job has no environment, and only one deploys a site');
  return value;
}

/** What a token says; nothing for one that can't be read. Whether it is true, its receiver decides. */
export const readTokenClaims = (token: string): Readonly<Record<string, unknown>> =>
  toFields(parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()));
