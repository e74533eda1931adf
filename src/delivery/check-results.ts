import { type DeliveryError, toDeliveryError } from '../errors.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { checkPages, closeFiles, openFiles } from './check-file.ts';
import type { DeliveryContext } from './delivery-context.ts';
import type { FileDelivery } from './file-delivery.ts';

/** The result of all checks on one file or folder. */
export interface CheckResult {
  readonly file: string;
  /** Whether it can be delivered. */
  readonly deliverable: boolean;
  /** Bytes; of a folder those of all its files. */
  readonly size?: number;
  /** Of a folder that of its entry page. */
  readonly sha256?: string;
  /** Of a folder: how many files, and the page whose address is handed over. */
  readonly files?: number;
  readonly entry?: string;
  readonly notes?: readonly string[];
  /** What the checks could not see, or were told to ignore. */
  readonly unknown?: readonly string[];
  readonly reason?: string;
  readonly hint?: string | undefined;
}

/** Runs the checks of a delivery on every file, without any request to a host. It never throws. */
export async function checkRequest(
  request: DeliveryRequest,
  context: DeliveryContext,
): Promise<readonly CheckResult[]> {
  let files: readonly FileDelivery[] = [];
  try {
    files = await openFiles(request, context);
    const { channels } = request;
    const isForScreen = channels === 'auto' || channels.includes('K1');
    return (await checkPages(files, request, () => isForScreen, context)).map(toCheckResult);
  } catch (thrown) {
    return [refusedResult(request.fileLines[0] ?? '', toDeliveryError(thrown))];
  } finally {
    await closeFiles(files);
  }
}

function toCheckResult({ subject, file, site, failure, unknown, notes }: FileDelivery): CheckResult {
  if (failure !== null) return refusedResult(subject, failure);
  const found = { file: subject, deliverable: true, sha256: file?.sha256 ?? '', unknown };
  if (site === null) return { ...found, size: file?.size ?? 0 };
  return { ...found, size: site.size, files: site.files.length, entry: site.entry, notes };
}

/** What a file that can't be delivered is answered with. */
export const refusedResult = (file: string, { message, hint }: DeliveryError): CheckResult => ({
  file,
  deliverable: false,
  reason: message,
  hint,
});
