import type { Screen } from '../browser/screen-view.ts';
import type { ChannelMap } from '../channels/channel.ts';
import type { RepositoryContext, RepositoryQuery } from '../github/api/repository.ts';
import type { Ports } from '../ports.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import type { Face } from '../words.ts';

/** A request and its ports. */
export interface RequestContext extends Ports {
  readonly request: DeliveryRequest;
}

/** Dependencies of a delivery, created by `context.ts`. */
export interface DeliveryContext extends RequestContext {
  /** The interface that the reports are worded for. */
  readonly face: Face;
  /** Opens pages in a browser, which starts with the first page. */
  readonly screen: Screen;
  /** Creates a private folder, which is removed when the request ends. */
  readonly openFolder: () => Promise<string>;
  /** Gets a token if needed, and loads what the query names. @see protocol 5 */
  readonly openRepository: (query: RepositoryQuery) => Promise<OpenRepository>;
}

/** The repository and its channels. */
export interface OpenRepository {
  readonly access: RepositoryContext;
  readonly channels: ChannelMap;
}
