import type { Ports } from '../ports.ts';
import { completeInputs, type RawInputs } from './inputs.ts';
import { createRequest, type DeliveryRequest, operationOf, type RunContext } from './parse-request.ts';
import { findRepository } from './source-repository.ts';

/** What a request outside of a workflow is made of, beside its inputs. */
interface LocalContext extends Omit<RunContext, 'job' | 'now' | 'random' | 'sourceIsPrivate' | 'sources'> {
  /** The files as they are named, which may be in other repositories. */
  readonly files: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * The request of a command or of a tool. A link and a check need no repository.
 *
 * @param task such as `deliver`, or `verify` for a link
 * @throws {DeliveryError} like `createRequest`
 */
export async function createLocalRequest(
  task: string,
  given: Partial<RawInputs>,
  { env, files, ...context }: LocalContext,
  { clock, random, logger }: Pick<Ports, 'clock' | 'random' | 'logger'>,
): Promise<DeliveryRequest> {
  const isLink = task === 'verify';
  const checkOnly = task === 'check';
  const nowhere = { repository: given.repository ?? '', sources: [], detail: null };
  const { repository, sources, detail } =
    isLink || checkOnly
      ? nowhere
      : await findRepository({ inputs: given, folder: context.folder, files, env });
  const inputs = { ...given, repository, operation: operationOf(task) };
  const raw = completeInputs(isLink ? { ...inputs, channel: 'K4', token: '' } : inputs, env, isLink);
  // Without any repository the source can't be private; a token shows that there is one, even if not which.
  const sourceIsPrivate = sources.length === 0 && raw.token === '' ? false : null;
  const around = { job: '', now: clock.now(), random, sourceIsPrivate, sources, checkOnly };
  const request = await createRequest(raw, { ...context, ...around }, logger);
  // What is wrong with a command is told before anything else.
  if (detail !== null) logger.info(`repository: ${detail}`);
  return request;
}
