import type { ChannelMap } from './channels/channel.ts';
import { createFilebinPublisher } from './channels/filebin/publish.ts';
import { createFilebinRemover } from './channels/filebin/remove.ts';
import { createNativeChannel } from './channels/native.ts';
import { createPagesAudit } from './channels/pages/audit/audit-pages.ts';
import { createPagesActions } from './channels/pages/publish.ts';
import { createReleaseAudit } from './channels/release/audit.ts';
import { createReleasePublisher } from './channels/release/publish.ts';
import { createReleaseRemover } from './channels/release/remove.ts';
import type { RepositoryAccess } from './channels/require-github.ts';
import type { Ports } from './ports.ts';
import type { DeliveryRequest } from './request/parse-request.ts';

export function createChannels(request: DeliveryRequest, access: RepositoryAccess, ports: Ports): ChannelMap {
  return {
    K1: {
      ...createPagesActions(request, access, ports),
      audit: createPagesAudit(request, access, ports),
    },
    K2: {
      publish: createReleasePublisher(request, access, ports),
      remove: createReleaseRemover(request, access),
      audit: createReleaseAudit(request, access, ports),
    },
    K3: { publish: createFilebinPublisher(request, ports), remove: createFilebinRemover(request, ports) },
    K4: createNativeChannel(request.url, request.binHostUrl),
  };
}
