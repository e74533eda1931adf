import { createHash, randomUUID } from 'node:crypto';
import { opendirSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ServerContext } from '@modelcontextprotocol/server';
import { reportOnRequest } from '../context.ts';
import type { OwnCredential, Redactor } from '../credentials.ts';
import { composeDocument } from '../delivery/report.ts';
import { DeliveryError, stoppedError } from '../errors.ts';
import type { authorizeDevice } from '../github/device-flow.ts';
import { toOneLine } from '../plain-text.ts';
import type { Clock, Logger, Ports } from '../ports.ts';
import { lineProgress } from '../progress.ts';
import { MCP, PROGRESS_INTERVAL } from '../protocol/limits.ts';
import { toolFace } from '../request/faces.ts';
import type { InputName, RawInputs, ToolName } from '../request/inputs.ts';
import { createLocalRequest, type LocalContext } from '../request/local-request.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import {
  authorizationRequiredError,
  PersonAuthorizations,
  type PersonRequest,
  type ToolCall,
} from './authorizations.ts';
import { formatAnswer, sayToHuman, type ToolAnswer } from './tool-answer.ts';
import { listInputs, type ToolArguments, toRawInputs } from './tools.ts';

export interface McpSettings {
  /** The folder that files must be in. */
  readonly root: string;
  /** Inputs for every call, which no call can change. */
  readonly fixed: Readonly<Partial<RawInputs>>;
  /** Empty for no token. */
  readonly token: string;
  /** The variable that holds the token; `GITHUB_TOKEN` by default. */
  readonly tokenVariable?: string;
  readonly secrets: readonly OwnCredential[];
  readonly env: NodeJS.ProcessEnv;
  readonly redactor: Redactor;
}

/** Marks deliveries by agents. Without `--overwrite`, a call replaces or removes no others. */
const AGENT = 'an agent over MCP';

/** The calls of one server. */
export class McpSession {
  /** The root with symbolic links resolved, and as given. Files may be named through either. */
  readonly roots: readonly [string, string];
  /** The last calls, the newest last. Canceled calls got no answer. */
  readonly ended: { readonly tool: ToolName; readonly canceled: boolean; readonly answer: ToolAnswer }[] = [];
  readonly settings: McpSettings;
  readonly #ports: Ports;
  readonly #authorizations = new PersonAuthorizations();
  readonly #running = new Set<Promise<ToolAnswer>>();
  readonly #seed = randomUUID();
  #count = 0;

  /** @throws {DeliveryError} `BAD_INPUT` if the root isn't a folder */
  constructor(settings: McpSettings, ports: Ports) {
    this.roots = findRoots(settings.root);
    this.settings = settings;
    this.#ports = ports;
  }

  /** Runs a call. Never throws: a failure or a stop becomes an answer. */
  async run(call: ToolCall, { mcpReq }: Pick<ServerContext, 'mcpReq'>): Promise<ToolAnswer> {
    this.#count += 1;
    const work = this.#runAndLog(call, `${call.tool} ${this.#count}`, mcpReq);
    this.#running.add(work);
    return work.finally(() => this.#running.delete(work));
  }

  /** Resolves once no call is under way. */
  async settle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  /** A canceled call gets no answer, but the log and the resource have its outcome. */
  async #runAndLog(call: ToolCall, label: string, request: ServerContext['mcpReq']): Promise<ToolAnswer> {
    const { redactor } = this.settings;
    const { clock, signal } = this.#ports;
    const logger = createCallLogger(label, redactor, clock, createProgressReporter(request));
    // The client's abort reason may be any value, so it becomes our own.
    const stop = new AbortController();
    request.signal.addEventListener('abort', () => stop.abort(stoppedError()), { once: true });
    if (request.signal.aborted) stop.abort(stoppedError());
    const callPorts = { ...this.#ports, logger, signal: AbortSignal.any([signal, stop.signal]) };
    const answer = await this.#answer(call, callPorts);
    const canceled = request.signal.aborted;
    this.ended.push({ tool: call.tool, canceled, answer });
    if (this.ended.length > MCP.answers) this.ended.shift();
    writeLogLine(`${label}${canceled ? ', canceled' : ''}: ${formatAnswer(answer)}`, redactor);
    return answer;
  }

  async #answer(call: ToolCall, ports: Ports): Promise<ToolAnswer> {
    const { redactor, fixed, tokenVariable } = this.settings;
    let begun = call;
    let required: PersonRequest | undefined;
    let granted: string | undefined;
    const createRequest = async (): Promise<DeliveryRequest> => {
      if (this.#running.size >= MCP.calls) {
        const message = `${MCP.calls} calls are running already`;
        const hint = 'wait until one of them ends, or name several files in one call';
        throw new DeliveryError('RATE_LIMITED', message, { step: 'check', hint });
      }
      begun = { ...call, args: this.#authorizations.findArguments(call, ports.clock) };
      return this.#createRequest(begun, ports);
    };
    const authorize: typeof authorizeDevice = async (options, authorizePorts) => {
      const result = await this.#authorizations.authorize(begun, options, authorizePorts);
      if (typeof result !== 'string') {
        required = result;
        throw authorizationRequiredError(result);
      }
      granted = result;
      return granted;
    };
    const reports = await reportOnRequest(createRequest(), ports, {
      asked: { ...toRawInputs(call.args, call.tool), operation: call.tool },
      redactor,
      face: toolFace(call.tool, listInputs(call.tool, fixed), tokenVariable),
      authorize,
    });
    if (granted !== undefined && reports.some(({ notReady }) => notReady?.code === 'BAD_TOKEN')) {
      this.#authorizations.forget(granted);
    }
    const document = composeDocument(reports);
    const say = sayToHuman(document, required);
    if (required === undefined) return { say, ...document };
    return { say, ...document, result: 'authorization_required', authorization: required };
  }

  async #createRequest({ tool, args }: ToolCall, ports: Ports): Promise<DeliveryRequest> {
    const { env, fixed, secrets, token } = this.settings;
    const asked = toRawInputs(args, tool);
    // An agent may have written the folder's git remote, so only the environment names the repository.
    const { GITHUB_REPOSITORY: repository = '' } = env;
    const context: LocalContext = {
      env,
      secrets,
      folder: this.roots[0],
      allowedRoots: this.roots,
      fileSource: 'from an agent',
      soleDeliverer: AGENT,
      allowsFullPaths: false,
      refusesHidden: true,
      defaultFolder: this.#folderFor(args),
      // Fixed inputs must not be reported as having no effect.
      givenInputs: Object.keys(asked) as InputName[],
      named: { ...asked, ...fixed },
    };
    const { timeout = fixed.timeout } = asked;
    const inputs = { repository, ...asked, ...fixed, ...(timeout && { timeout }), token };
    return createLocalRequest(tool, inputs, context, ports);
  }

  /** A separate folder for each delivery of each server. A repeated call gets the same folder. */
  #folderFor({ file, content, name }: ToolArguments): string {
    const id = JSON.stringify([this.#seed, file, content, name]);
    return `agents/${createHash('sha256').update(id).digest('hex').slice(0, 12)}/`;
  }
}

function findRoots(root: string): readonly [string, string] {
  const given = resolve(root);
  try {
    opendirSync(given).closeSync();
    return [realpathSync(given), given];
  } catch (cause) {
    throw new DeliveryError('BAD_INPUT', `the root ${given} can't be read as a folder`, {
      step: 'check',
      hint: 'set `--root` to the full path of the folder with the files',
      cause,
    });
  }
}

/** Sends lines as progress if the client requested it. Ignores clients that don't read. */
function createProgressReporter({ _meta, notify, signal }: ServerContext['mcpReq']) {
  const progressToken = _meta?.progressToken;
  let progress = 0;
  return (message: string): void => {
    if (progressToken === undefined || signal.aborted || process.stdout.writableNeedDrain) return;
    progress += 1;
    const params = { progressToken, progress, message };
    notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}

/** Writes a log line to stderr, because stdout carries protocol messages only. */
export function writeLogLine(line: string, { redact }: Pick<Redactor, 'redact'>): void {
  process.stderr.write(`${toOneLine(redact(line))}\n`);
}

/** Logs one call to stderr. @param report sends a line to the client as progress */
export function createCallLogger(
  call: string,
  redactor: Redactor,
  clock: Pick<Clock, 'now'>,
  report: (line: string) => void = () => undefined,
): Logger {
  const print = (line: string): void => {
    writeLogLine(`${call}: ${line}`, redactor);
    report(toOneLine(redactor.redact(line)));
  };
  return {
    info: print,
    warning: (line) => print(`warning: ${line}`),
    // Not sent to the client, because agents must not see how to allow secrets.
    debug: (line) => writeLogLine(`${call}: ${line}`, redactor),
    startSection: print,
    endSection: () => undefined,
    mask: (secret) => redactor.addSecret(secret),
    progress: lineProgress(PROGRESS_INTERVAL.mcp, clock, print),
  };
}
