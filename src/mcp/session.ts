import { createHash, randomUUID } from 'node:crypto';
import { opendirSync, realpathSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { ServerContext } from '@modelcontextprotocol/server';
import { listOnRequest, reportOnRequest } from '../context.ts';
import type { OwnCredential, Redactor } from '../credentials.ts';
import { composeDocument, type Report, type ReportDocument } from '../delivery/report.ts';
import { DeliveryError, stoppedError } from '../errors.ts';
import type { authorizeDevice } from '../github/device-flow.ts';
import {
  authorizationRequiredError,
  PersonAuthorization,
  type PersonRequest,
} from '../github/person-authorization.ts';
import { formatTime } from '../plain-text.ts';
import type { Ports } from '../ports.ts';
import { noteEarlier } from '../proof/probe-result.ts';
import { MCP, SITE_CACHE } from '../protocol/limits.ts';
import { TOOL } from '../protocol/words.ts';
import { type TellHuman, toolFace } from '../request/faces.ts';
import type { InputName, RawInputs, ToolName } from '../request/inputs.ts';
import { createLocalRequest, type LocalContext } from '../request/local-request.ts';
import type { DeliveryRequest } from '../request/parse-request.ts';
import { agentPath, withoutVersion, withVersion } from '../rules/naming.ts';
import { createCallLogger, createProgressReporter, writeLogLine } from './call-log.ts';
import { composeAnswer, type ForHuman, type ToolAnswer } from './tool-answer.ts';
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

export interface ToolCall {
  readonly tool: ToolName;
  readonly args: ToolArguments;
  /** Whether the person refused to open the page with the code. */
  readonly isDeclined: boolean;
}

/** Marks deliveries by agents. Without `--overwrite`, a call replaces and removes only these. */
const AGENT = 'an agent over MCP';

/** The calls of one server. */
export class McpSession {
  /** The root with symbolic links resolved, and as given. Files may be named through either. */
  readonly roots: readonly [string, string];
  /** The last calls, the newest last. Canceled calls got no answer. */
  readonly ended: {
    tool: ToolName;
    canceled: boolean;
    answer: ToolAnswer;
    document: ReportDocument;
  }[] = [];
  readonly settings: McpSettings;
  readonly #ports: Ports;
  readonly #authorization: PersonAuthorization;
  readonly #running = new Set<Promise<ToolAnswer>>();
  readonly #seed = randomUUID();
  /** What was delivered, by its URL. */
  readonly #delivered = new Map<string, DeliveryRequest['delivered']>();
  #hasAskedForBin = false;
  #count = 0;

  /** @throws {DeliveryError} `BAD_INPUT` if the root isn't a folder */
  constructor(settings: McpSettings, ports: Ports) {
    this.roots = findRoots(settings.root);
    this.settings = settings;
    this.#ports = ports;
    this.#authorization = new PersonAuthorization(ports);
  }

  /** Runs a call. Never throws: a failure or a stop becomes an answer. */
  async run(call: ToolCall, { mcpReq }: Pick<ServerContext, 'mcpReq'>): Promise<ToolAnswer> {
    this.#count += 1;
    const work = this.#runAndLog(call, this.#count, mcpReq);
    this.#running.add(work);
    return work.finally(() => this.#running.delete(work));
  }

  /** Resolves once no call is under way. */
  async settle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  /** A canceled call gets no answer, but the log and the resource have its outcome. */
  async #runAndLog(call: ToolCall, nth: number, request: ServerContext['mcpReq']): Promise<ToolAnswer> {
    const { redactor } = this.settings;
    const label = `${call.tool} ${nth}`;
    const { clock, signal } = this.#ports;
    const logger = createCallLogger(label, redactor, clock, createProgressReporter(request));
    // The client's abort reason may be any value, so it becomes our own.
    const stop = new AbortController();
    const abort = (): void => stop.abort(stoppedError('call it again with the same arguments'));
    request.signal.addEventListener('abort', abort, { once: true });
    if (request.signal.aborted) abort();
    const callPorts = { ...this.#ports, logger, signal: AbortSignal.any([signal, stop.signal]) };
    const { answer, document } = await this.#answer(call, `${TOOL.name}://reports/${nth}`, callPorts);
    const canceled = request.signal.aborted;
    this.ended.push({ tool: call.tool, canceled, answer, document });
    if (this.ended.length > MCP.answers) this.ended.shift();
    writeLogLine(`${label}${canceled ? ', canceled' : ''}: ${answer.result}: ${answer.say}`, redactor);
    return answer;
  }

  async #answer(call: ToolCall, report: string, ports: Ports) {
    const outcome: CallOutcome = { tool: call.tool, ways: [] };
    if (call.tool === 'list') {
      const [request, parts] = this.#open(call, outcome, ports);
      const document = await listOnRequest(request, ports, parts);
      return { document, answer: composeAnswer(document, report, outcome) };
    }
    const reports = await this.#verifyOwn(call, outcome, ports);
    const document = composeDocument(reports);
    const isAsked = this.#needsConsent(call) && document.reports[0]?.channel === 'K3';
    if (isAsked) this.#hasAskedForBin = true;
    const hint = isAsked ? 'ask your human; if they agree, make the same call again' : document.hint;
    return { document, answer: composeAnswer({ ...document, hint }, report, { ...outcome, reports }) };
  }

  /** Before its first upload to the public bin, a server says what that means. */
  #needsConsent({ tool }: ToolCall): boolean {
    const { fixed, token } = this.settings;
    const isAllowed = token || fixed['client-id'] || fixed.channel || fixed['allow-public-bin'] === 'true';
    return tool === 'deliver' && !isAllowed && !this.#hasAskedForBin;
  }

  /** Verifies this server's own deliveries past caches first, because a cache may show the earlier version. */
  async #verifyOwn(call: ToolCall, outcome: CallOutcome, ports: Ports): Promise<readonly Report[]> {
    const url = withoutVersion(`${call.args.url}`);
    if (call.tool !== 'verify' || !this.#delivered.has(url)) return this.#perform(call, outcome, ports);
    const verify = (args: ToolArguments) =>
      this.#perform({ ...call, args: { ...call.args, ...args } }, outcome, ports);
    const now = ports.clock.date();
    const fresh = await verify({ url: withVersion(url, `${now}`).href });
    const opened = fresh.every(({ ready }) => ready) ? await verify({ url, timeout: 1 }) : fresh;
    if (opened.every(({ ready }) => ready)) return opened;
    return fresh.map((report) =>
      report.ready ? { ...report, urlNote: noteEarlier(`until ${formatTime(now + SITE_CACHE)}`) } : report,
    );
  }

  /** The request of a call, and what its face needs. */
  #open(call: ToolCall, outcome: CallOutcome, ports: Ports) {
    const { fixed, redactor, tokenVariable } = this.settings;
    const createRequest = async (): Promise<DeliveryRequest> => {
      if (this.#running.size >= MCP.calls) {
        const message = `${MCP.calls} calls are running already`;
        throw new DeliveryError('RATE_LIMITED', message, { step: 'check', hint: 'wait until one ends' });
      }
      return this.#createRequest(call, ports);
    };
    const authorize: typeof authorizeDevice = async (options, authorizePorts) => {
      if (call.isDeclined) return this.#authorization.decline();
      const result = await this.#authorization.authorize(options, authorizePorts);
      if (typeof result === 'string') {
        outcome.granted = result;
        return result;
      }
      outcome.required = result;
      throw authorizationRequiredError(result);
    };
    const tellHuman: TellHuman = (way, isSecret) => {
      // An agent must not learn how to allow it.
      if (isSecret) ports.logger.debug(`a person may allow it: ${way}`);
      else outcome.ways.push(redactor.redact(way));
    };
    const parts = {
      asked: { ...toRawInputs(call.args, call.tool), operation: call.tool },
      redactor,
      face: toolFace(call.tool, listInputs(call.tool, fixed), tokenVariable, tellHuman),
      authorize,
    };
    return [createRequest(), parts] as const;
  }

  async #perform(call: ToolCall, outcome: CallOutcome, ports: Ports): Promise<readonly Report[]> {
    const [request, parts] = this.#open(call, outcome, ports);
    const reports = await reportOnRequest(request, ports, parts);
    const { granted } = outcome;
    if (granted !== undefined && reports.some(({ notReady }) => notReady?.code === 'BAD_TOKEN')) {
      this.#authorization.forget(granted);
    }
    if (call.tool === 'deliver') this.#remember(reports);
    return reports;
  }

  #remember(reports: readonly Report[]): void {
    for (const { url, mayBeAt, file, proven } of reports) {
      const known = url ?? mayBeAt;
      // The site's build may change a page.
      const { sha256 = file?.sha256 } = proven?.[0] ?? {};
      if (known && sha256) this.#delivered.set(withoutVersion(known), { size: file?.size ?? 0, sha256 });
    }
    const [oldest = ''] = this.#delivered.keys();
    if (this.#delivered.size > MCP.remembered) this.#delivered.delete(oldest);
  }

  async #createRequest(call: ToolCall, ports: Ports): Promise<DeliveryRequest> {
    const { tool, args } = call;
    const { env, fixed, secrets, token } = this.settings;
    const url = withoutVersion(`${args.url}`);
    const delivered = this.#delivered.get(url);
    // An agent may give the text of its page.
    const isPage = tool === 'verify' && delivered !== undefined && url.endsWith('.html');
    const asked = { ...toRawInputs(args, tool), ...(isPage && { render: 'true' }) };
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
      isAgent: true,
      defaultFolder: tool === 'deliver' && fixed.path === undefined ? this.#folderFor(args) : undefined,
      delivered,
      // Fixed inputs must not be reported as having no effect.
      givenInputs: Object.keys(asked) as InputName[],
      named: { ...asked, ...fixed },
    };
    const { timeout = fixed.timeout } = asked;
    const dryRun = this.#needsConsent(call) && { 'dry-run': 'true' };
    const inputs = { repository, ...asked, ...fixed, ...(timeout && { timeout }), ...dryRun, token };
    return createLocalRequest(tool, inputs, context, ports);
  }

  /** A separate folder for each source of each server: a correction goes to the same folder again. */
  #folderFor({ file, name = '' }: ToolArguments): string {
    const source = file === undefined ? name : relative(this.roots[1], resolve(this.roots[1], `${file}`));
    const id = createHash('sha256').update(`${this.#seed} ${source}`).digest('hex').slice(0, 8);
    return agentPath(`${id}/`);
  }
}

/** What is known of a running call. */
interface CallOutcome extends ForHuman {
  required?: PersonRequest;
  granted?: string;
  readonly ways: string[];
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
