import { DeliveryError, type ErrorCode } from '../../errors.ts';
import { connectionError } from '../../http/client.ts';
import {
  discard,
  firstHeader,
  parseJson,
  parseRetryAfter,
  readText,
  shortHostMessage,
} from '../../http/response.ts';
import { sendUpload, type UploadResponse } from '../../http/upload.ts';
import type { HttpResponse, Ports } from '../../ports.ts';
import { BIN, type CallTemplate } from '../../protocol/calls.ts';
import { EXCHANGE } from '../../protocol/limits.ts';
import type { LocalFile } from '../../rules/inspect.ts';

/** A file in a bin, as the host stores it. */
export interface BinFile {
  readonly bin: string;
  readonly filename: string;
  /** Lowercase hex. */
  readonly sha256: string | undefined;
  /** In the host's own words. */
  readonly expires: string | undefined;
}

/** One bin of the file-bin host. No credential is ever sent. */
export interface BinClient {
  /**
   * Posts a file, once; the host decides on the names.
   *
   * @throws {DeliveryError} by status; what has arrived is unknown when the exchange broke off.
   * @see protocol 4.4
   */
  post(file: LocalFile, filename: string): Promise<BinFile>;
  /** What the bin holds; nothing where it isn't there, or doesn't say. */
  files(): Promise<readonly BinFile[]>;
  /** Locks the bin against further uploads, and tells whether it is; a failure is none of the delivery. */
  lock(): Promise<boolean>;
  /** Deletes a file; `false` where it wasn't there. */
  remove(filename: string): Promise<boolean>;
  address(filename: string): URL;
}

interface BinRecord {
  readonly bin?: { readonly id?: string; readonly expired_at?: string };
  readonly file?: { readonly filename?: string; readonly sha256?: string };
  readonly files?: readonly { readonly filename?: string; readonly sha256?: string }[];
}

/** @param host the host's address */
export function createBinClient(host: URL, name: string, ports: Ports): BinClient {
  const { http, clock, logger } = ports;
  const signal = (): AbortSignal => AbortSignal.any([ports.signal, clock.timeout(EXCHANGE.api)]);
  const at = (call: CallTemplate, filename?: string): URL => address(call, host, name, filename);

  async function ask(call: CallTemplate, filename?: string): Promise<HttpResponse> {
    const headers = { accept: 'application/json' };
    return http({ method: call.method, url: at(call, filename), headers, signal: signal() });
  }

  return {
    address: (filename) => at(BIN.get, filename),
    async post(file, filename) {
      const answer = await sendUpload(http, {
        method: BIN.post.method,
        url: at(BIN.post, filename),
        headers: {
          accept: 'application/json',
          'content-type': 'application/octet-stream',
          // The host itself refuses other bytes; sending twice overwrites like with like.
          'content-sha256': file.sha256,
        },
        length: file.size,
        body: () => file.read(),
        startProgress: () => logger.progress('uploaded', file.size, 'bytes'),
        signal: ports.signal,
        clock,
      });
      if (answer.status !== 201) throw uploadRefusedError(answer, clock.now());
      return storedFile(answer, file, { bin: name, filename });
    },
    async files() {
      const answer = await ask(BIN.list);
      if (answer.status !== 200) {
        discard(answer);
        return [];
      }
      const text = await readText(answer.body, EXCHANGE.apiBody).catch((thrown: unknown) => {
        throw connectionError(thrown, { url: at(BIN.list), signal: ports.signal });
      });
      const said = (parseJson(text) ?? {}) as BinRecord;
      return (said.files ?? []).flatMap(({ filename, sha256 }) =>
        filename === undefined ? [] : [{ bin: name, filename, sha256, expires: said.bin?.expired_at }],
      );
    },
    async lock() {
      try {
        const answer = await ask(BIN.lock);
        discard(answer);
        return answer.status === 200;
      } catch (thrown) {
        if (thrown instanceof DeliveryError || ports.signal.aborted) return false;
        throw thrown;
      }
    },
    async remove(filename) {
      const answer = await ask(BIN.remove, filename);
      discard(answer);
      if (answer.status === 404) return false;
      // The host itself answers in plain text; a page comes from what stands between us and it.
      const isPage = /html/.test(firstHeader(answer, 'content-type') ?? '');
      const isDone = answer.status >= 200 && answer.status < 300;
      if (isDone && !isPage) return true;
      const limited = answer.status === 429;
      throw new DeliveryError(
        limited ? 'RATE_LIMITED' : 'HOST_ERROR',
        `${BIN.remove.description} answered HTTP ${answer.status}${isDone ? ' with a page' : ''}`,
        {
          httpCode: answer.status,
          retryable: isDone || limited || answer.status >= 500,
          retryAfter: parseRetryAfter(answer, ports.clock.now()),
          hint: 'check `bin:` and `bin-host-url:`, or run the step again',
        },
      );
    },
  };
}

/** What the host says of the file that it took. */
function storedFile(
  { json, status }: UploadResponse,
  { sha256 }: LocalFile,
  asked: { readonly bin: string; readonly filename: string },
): BinFile {
  if (typeof json !== 'object' || json === null) {
    throw new DeliveryError('HOST_ERROR', 'posting to the bin was answered with something that is not JSON', {
      httpCode: status,
      retryable: true,
      hint: 'run the step again, or use channel: K1 or K2',
    });
  }
  const { bin, file } = json as BinRecord;
  if (file?.sha256 !== undefined && file.sha256 !== sha256) {
    throw new DeliveryError('HOST_ERROR', "the bin host stored other bytes than the file's", {
      httpCode: status,
      retryable: true,
    });
  }
  return {
    bin: bin?.id ?? asked.bin,
    filename: file?.filename ?? asked.filename,
    sha256,
    expires: bin?.expired_at,
  };
}

/** What each refusal of an upload means, and what to change; the last row fits any other. */
const REFUSALS: readonly {
  statuses: readonly number[];
  code: ErrorCode;
  hint: string;
  passing?: boolean;
}[] = [
  { statuses: [400, 404], code: 'BAD_INPUT', hint: 'set `bin:` to 8 to 60 letters, digits, _ or -' },
  {
    statuses: [403],
    code: 'NO_PERMISSION',
    hint: 'set `path:` to a name with another ending, or use channel: K1 or K2',
  },
  {
    statuses: [405],
    code: 'CONFLICT',
    hint: 'the bin is locked or expired: leave `bin:` out, or set another name',
  },
  { statuses: [413], code: 'TOO_LARGE', hint: 'use channel: K2' },
  { statuses: [429], code: 'RATE_LIMITED', hint: 'try again later, or use channel: K1 or K2', passing: true },
  { statuses: [507], code: 'HOST_ERROR', hint: 'the host is full for now: use channel: K1 or K2' },
  {
    statuses: [500, 502, 503, 504],
    code: 'HOST_ERROR',
    hint: 'try again later, or use channel: K1 or K2',
    passing: true,
  },
  // What stands between us and the host may answer with a page of its own.
  {
    statuses: [200],
    code: 'HOST_ERROR',
    hint: 'check `bin-host-url:`, or use channel: K1 or K2',
    passing: true,
  },
  { statuses: [], code: 'HOST_ERROR', hint: 'check `bin-host-url:`, or use channel: K1 or K2' },
];

/** @see protocol 7 (K3 POST does not return 201) */
function uploadRefusedError(answer: UploadResponse, now: number): DeliveryError {
  const row = REFUSALS.find(({ statuses }) => statuses.length === 0 || statuses.includes(answer.status));
  const text = answer.text.startsWith('<') ? '' : shortHostMessage(answer.text);
  return new DeliveryError(
    row?.code ?? 'HOST_ERROR',
    `${BIN.post.description} answered HTTP ${answer.status} and not 201${text === '' ? '' : `: ${text}`}`,
    {
      httpCode: answer.status,
      hint: row?.hint,
      retryable: row?.passing,
      retryAfter: parseRetryAfter(answer, now),
    },
  );
}

function address(call: CallTemplate, host: URL, bin: string, filename = ''): URL {
  const path = call.path
    .replace('{bin}', encodeURIComponent(bin))
    .replace('{filename}', encodeURIComponent(filename));
  return new URL(host.href.replace(/\/$/, '') + path);
}
