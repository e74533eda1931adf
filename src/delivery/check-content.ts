import type { DeliveryRequest } from '../request/parse-request.ts';
import type { LocalFile } from '../rules/inspect.ts';
import { refuseLfsPointer } from '../rules/lfs-pointer.ts';
import { refuseSecrets } from '../rules/secrets/secrets.ts';

/**
 * The checks on the content of a file, alone or in a folder, that need no host. A further one belongs here; one on
 * its name, in `refuseSecretNames`.
 *
 * @param given the file as messages name it
 * @throws {DeliveryError} `BAD_FILE` with what to change.
 * @see protocol 1 (file rules), 7 (prohibition 3), 8
 */
export async function checkContent(
  file: LocalFile,
  given: string,
  { allowedSecrets }: Pick<DeliveryRequest, 'allowedSecrets'>,
  signal: AbortSignal,
): Promise<void> {
  await refuseLfsPointer(file, given);
  await refuseSecrets(file, allowedSecrets, signal);
}
