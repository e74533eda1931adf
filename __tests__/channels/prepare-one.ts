import type {
  Channel,
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
export async function prepareOne<Task extends PreparedTask>(
  action: Channel<Task>,
  file: LocalFile | null,
  name = 'page.html',
): Promise<PreparedOne> {
  const task = getOnly(await action.prepare([itemOf(file, name)]));
  const watch = action.watch?.();
  return {
    ...task,
    perform: async () => getOnly(await action.perform([task])),
    preview: async () => getOnly(await action.preview([task])),
    progress: (placement) => watch?.ask({ task, placement }),
    recheck: async (placement) => getOnly((await action.recheck?.([{ task, placement }])) ?? []),
  };
}

/** The value of the only result; throws the error that it failed with. */
export function getOnly<Value>(results: readonly Result<Value>[]): Value {
  const [first] = results;
  if (first === undefined || results.length > 1) throw new Error(`there are ${results.length} results`);
  if (hasFailed(first)) throw first;
  return first as Value;
}

const itemOf = (file: LocalFile | null, name: string): ChannelItem => ({
  site: file && siteOfFile(file),
  name,
});

/** Prepares several files, and throws where one is refused. */
export async function prepareAll<Task extends PreparedTask>(
  action: Channel<Task>,
  files: readonly { readonly file: LocalFile | null; readonly name: string }[],
): Promise<readonly Task[]> {
  const items = files.map(({ file, name }) => itemOf(file, name));
  const prepared = await action.prepare(items);
  return prepared.map((result) => {
    if (hasFailed(result)) throw result;
    return result as Task;
  });
}
