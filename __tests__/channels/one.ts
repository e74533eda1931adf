import type { Channel, Placement, PreparedUpload } from '../../src/channels/channel.ts';
import { hasFailed, type Result } from '../../src/errors.ts';
import type { RepositoryContext } from '../../src/github/api/repository.ts';
import type { LocalFile } from '../../src/rules/inspect.ts';
import { circumstancesWith } from './circumstances.ts';

/** One file's intent, with what its channel does with it alone. */
export interface OneIntent extends PreparedUpload {
  place(): Promise<Placement>;
  preview(): Promise<string>;
}

/** Prepares one file through a channel that takes many, and throws what it is refused with. */
export async function prepareOne<T>(
  channel: Channel<T>,
  file: LocalFile | null,
  name = 'page.html',
  circumstances: RepositoryContext = circumstancesWith(),
): Promise<OneIntent> {
  const intent = only(await channel.prepare([{ file, name }], circumstances));
  return {
    ...intent,
    place: async () => only(await channel.publish([intent])),
    preview: async () => only(await channel.preview([intent])),
  };
}

/** The one result, or the throw of its failure. */
export function only<T>(results: readonly Result<T>[]): Exclude<Result<T>, Error> {
  const [one] = results;
  if (one === undefined || results.length > 1) throw new Error(`there are ${results.length} results`);
  if (hasFailed(one)) throw one;
  return one as Exclude<Result<T>, Error>;
}
