import type { ChannelMap } from './channels/channel.ts';
import { createFilebinPublisher } from './channels/filebin/publish.ts';
import { createFilebinRemover } from './channels/filebin/remove.ts';
import { createNativeChannel } from './channels/link/link.ts';
import { createPagesAudit } from './channels/pages/audit/audit-pages.ts';
import { createPagesList } from './channels/pages/audit/list-site.ts';
import { createPagesChannels } from './channels/pages/publish.ts';
import { createReleaseAudit, createReleaseList } from './channels/release/audit.ts';
import { createReleasePublisher } from './channels/release/publish.ts';
import { createReleaseRemover } from './channels/release/remove.ts';
import type { RepositoryContext } from './github/api/repository.ts';
import type { Ports } from './ports.ts';
import type { DeliveryRequest } from './request/parse-request.ts';

/** Creates the channels for an operation. Nothing can be withdrawn from K4. */
export function createChannels(
  request: DeliveryRequest,
  access: RepositoryContext,
  ports: Ports,
): ChannelMap {
  const isRemoval = request.operation === 'withdraw';
  const pages = createPagesChannels(request, access, ports);
  const releases = isRemoval
    ? createReleaseRemover(request, access, ports)
    : createReleasePublisher(request, access, ports);
  return {
    K1: {
      ...(isRemoval ? pages.remove : pages.publish),
      audit: createPagesAudit(request, access, ports),
      list: createPagesList(request, access, ports),
    },
    K2: { ...releases, audit: createReleaseAudit(request, access), list: createReleaseList(request, access) },
    K3: isRemoval ? createFilebinRemover(request, ports) : createFilebinPublisher(request, ports),
    K4: createNativeChannel(request.url, request.binHostUrl, request.marker ? undefined : request.delivered),
  };
}
