import type { Screen } from '../browser/screen-view.ts';
import type { ChannelMap } from '../channels/channel.ts';
import type { RepositoryContext, RepositoryQuery } from '../github/api/repository.ts';
import type { Ports } from '../ports.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import type { Face } from '../words.ts';

/** What was asked for, and the ports of its run. */
export interface RequestContext extends Ports {
  readonly request: DeliveryRequest;
}

/** Dependencies of a delivery. `context.ts` makes them. */
export interface DeliveryContext extends RequestContext {
  /** The interface whose words the reports use. */
  readonly face: Face;
  /** Opens pages in a real browser, which is started for the first one. */
  readonly screen: Screen;
  /** Gets a token where one is needed, and asks the repository what the query names. @see protocol 5 */
  readonly openRepository: (query: RepositoryQuery) => Promise<OpenRepository>;
}

/** The repository as it was found, and the channels that can use it. */
export interface OpenRepository {
  readonly access: RepositoryContext;
  readonly channels: ChannelMap;
}
