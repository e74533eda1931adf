import type { ItemResult } from '../../src/async.ts';
import type {
  ChannelAction,
  ChannelItem,
  HostProgress,
  Placement,
  PreparedTask,
} from '../../src/channels/channel.ts';
import { hasFailed, type Result } from '../../src/errors.ts';
import type { LocalFile } from '../../src/rules/inspect.ts';
import { siteOfFile } from '../../src/rules/local-site.ts';

/** The task of one file, with what its channel does with it alone. */
export interface PreparedOne extends PreparedTask {
  perform(): Promise<Placement>;
  preview(): Promise<string>;
  /** How far the host is; `undefined` where nothing has to be waited for. */
  progress(placement: Placement): Promise<HostProgress> | undefined;
  /** What the last look after the proof leaves open. */
  recheck(placement: Placement): Promise<readonly string[]>;
}

/** Prepares one file through an action that takes many, and throws the error that refuses it. */
export async function prepareOne<Data>(
  action: ChannelAction<Data>,
  file: LocalFile | null,
  name = 'page.html',
): Promise<PreparedOne> {
  const item = itemOf(file, name);
  const task = getOnly(await action.prepare([item]), item);
  return {
    ...task,
    perform: async () => getOnly(await action.perform([task]), task),
    preview: async () => getOnly(await action.preview([task]), task),
    progress: (placement) => action.progress?.({ task, placement }),
    recheck: async (placement) => {
      const placed = { task, placement };
      return getOnly((await action.recheck?.([placed])) ?? [], placed);
    },
  };
}

/** The value of the only result, which must be the item's; throws the error that it failed with. */
export function getOnly<Item, Value>(results: readonly ItemResult<Item, Value>[], item: Item): Value {
  const [first] = results;
  if (first === undefined || results.length > 1) throw new Error(`there are ${results.length} results`);
  if (first.item !== item) throw new Error('the result belongs to another item');
  if (hasFailed(first.result)) throw first.result;
  return first.result as Value;
}

const itemOf = (file: LocalFile | null, name: string): ChannelItem => ({
  site: file && siteOfFile(file),
  name,
});

/** Prepares several files, and throws where one is refused. */
export async function prepareAll<Data>(
  action: ChannelAction<Data>,
  files: readonly { readonly file: LocalFile | null; readonly name: string }[],
): Promise<readonly PreparedTask<Data>[]> {
  const items = files.map(({ file, name }) => itemOf(file, name));
  const prepared = await action.prepare(items);
  return resultsFor(prepared, items).map((result) => {
    if (hasFailed(result)) throw result;
    return result as PreparedTask<Data>;
  });
}

/** The result of each item, in the items' order; throws unless there is exactly one for each. */
export function resultsFor<Item, Value>(
  results: readonly ItemResult<Item, Value>[],
  items: readonly Item[],
): readonly Result<Value>[] {
  if (results.length !== items.length) throw new Error(`there are ${results.length} results`);
  return items.map((item) => {
    const found = results.find((one) => one.item === item);
    if (found === undefined) throw new Error('an item has no result');
    return found.result;
  });
}
