import { createPorts } from '../context.ts';
import { failureDocument } from '../delivery/report-document.ts';
import { DeliveryError, toDeliveryError } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { TOOL } from '../protocol/words.ts';
import { createRedactor } from '../redact.ts';
import { toolContract } from '../request/tool-contract.ts';
import { systemClock } from '../system.ts';
import { type CliCommand, parseCommand, UsageError } from './args.ts';
import { checkFiles } from './check.ts';
import { deliverAll } from './deliver.ts';
import { quietLogger } from './quiet-logger.ts';
import { readAndMaskCredentials } from './request.ts';
import { CLI_WORDING, createTerminal, type Terminal } from './terminal.ts';
import { usage } from './usage.ts';

/** Exit codes. */
export const EXIT = { ready: 0, notReady: 1, wrongUsage: 2 } as const;

type RunCommand = (
  command: CliCommand,
  terminal: Terminal,
  ports: Ports,
  env: NodeJS.ProcessEnv,
) => Promise<boolean>;

const COMMANDS: Readonly<Record<CliCommand['name'], RunCommand>> = {
  deliver: deliverAll,
  withdraw: deliverAll,
  verify: deliverAll,
  check: checkFiles,
  mcp: serveMcpClient,
  contract: async (_, terminal) => {
    terminal.print(JSON.stringify(toolContract(), null, 2));
    return true;
  },
  help: async (_, terminal) => {
    terminal.print(usage());
    return true;
  },
  version: async (_, terminal) => {
    terminal.print(TOOL.version);
    return true;
  },
};

/** The flags that are inputs hold for every call of the client. */
async function serveMcpClient(
  command: CliCommand,
  { logger }: Terminal,
  { signal }: Ports,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const credentials = readAndMaskCredentials(command, env, logger);
  const { startServer } = await import(/* webpackIgnore: true */ './mcp.js');
  await startServer({ ...credentials, root: command.root, fixed: command.flags, env, signal });
  return true;
}

/**
 * Runs one command of the command line.
 *
 * @returns the exit code
 */
export async function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const redactor = createRedactor();
  const terminal = createTerminal(redactor, systemClock, env);
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  process.once('SIGINT', abort).once('SIGTERM', abort);
  try {
    const command = parseCommand(args);
    const logger = command.quiet ? quietLogger(terminal.logger) : terminal.logger;
    const ports = createPorts(logger, stop.signal);
    return (await COMMANDS[command.name](command, terminal, ports, env)) ? EXIT.ready : EXIT.notReady;
  } catch (thrown) {
    const failure = thrown instanceof UsageError ? usageError(thrown) : asUsageError(toDeliveryError(thrown));
    printFailure(terminal, failure, asksForJson(args));
    return failure.code === 'BAD_USAGE' ? EXIT.wrongUsage : EXIT.notReady;
  } finally {
    process.off('SIGINT', abort).off('SIGTERM', abort);
  }
}

/** Arguments that can't be parsed may still ask for JSON. */
function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? args.length : end).includes('--json');
}

const usageError = ({ message }: UsageError): DeliveryError =>
  new DeliveryError('BAD_USAGE', message, { hint: `see ${TOOL.name} --help` });

/** An input with which a command could not even begin, such as the root of `mcp`. */
const asUsageError = (failure: DeliveryError): DeliveryError =>
  failure.code === 'BAD_INPUT'
    ? new DeliveryError('BAD_USAGE', failure.message, { hint: failure.hint })
    : failure;

/** What could not even begin, in the form that was asked for. */
function printFailure(terminal: Terminal, { code, message, hint }: DeliveryError, isJson: boolean): void {
  const { redact } = terminal.redactor;
  const clean = { code, message: redact(CLI_WORDING(message)), hint: redact(CLI_WORDING(hint ?? '')) };
  if (isJson) terminal.printJson(failureDocument(clean));
  else terminal.printError([clean.message, clean.hint].filter((part) => part !== '').join('; '));
}
