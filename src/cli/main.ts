import { untilAborted } from '../async.ts';
import { createPorts } from '../context.ts';
import { createRedactor, readCredentials } from '../credentials.ts';
import { composeDocument } from '../delivery/report.ts';
import { type DeliveryError, toDeliveryError } from '../errors.ts';
import { lineIf } from '../plain-text.ts';
import type { Ports } from '../ports.ts';
import { CLEANUP_TIME } from '../protocol/limits.ts';
import { TOOL } from '../protocol/words.ts';
import { findCommandName, toolContract } from '../request/commands.ts';
import { refuseSecretInputs } from '../request/create-request.ts';
import { commandFace } from '../request/faces.ts';
import { completeInputs, parseInputs } from '../request/inputs.ts';
import { systemClock, watchForStop } from '../system.ts';
import { advise, type Face } from '../words.ts';
import { asksForJson, type CliCommand, parseCommand, refuseAsUsage, usageError } from './args.ts';
import { deliverAll, findTokenVariable, readAndMaskCredentials } from './deliver.ts';
import { briefLogger, createTerminal, type Terminal } from './terminal.ts';
import { usage } from './usage.ts';

export const EXIT = { ready: 0, notReady: 1, wrongUsage: 2 } as const;

const TEXTS: Readonly<Partial<Record<CliCommand['name'], (topic: string) => string>>> = {
  contract: () => JSON.stringify(toolContract(), null, 2),
  help: (topic) => usage(findCommandName(topic)),
  version: () => TOOL.version,
};

/** Inputs given as flags apply to every call. */
async function serveMcpClient(
  { flags: fixed, root, tokenEnv }: CliCommand,
  { logger, redactor }: Terminal,
  { signal }: Ports,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  // A client may start the server in any folder, such as `/`.
  if (root === undefined) {
    throw usageError(
      '--root is missing: the folder that may be delivered from',
      'add `--root /path/to/the/pages` to `mcp`',
    );
  }
  const credentials = readAndMaskCredentials(tokenEnv, env, logger);
  const given = completeInputs(fixed, env);
  await refuseAsUsage(async () => {
    await refuseSecretInputs(given, credentials.secrets, logger);
    parseInputs({ ...given, token: credentials.token });
    const { startServer } = await import(/* webpackIgnore: true */ './mcp.js');
    await startServer({ ...credentials, root, fixed, env, redactor }, signal);
  });
  return true;
}

/** Runs one command and flushes its output. @returns the exit code */
export async function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const redactor = createRedactor();
  const terminal = createTerminal(redactor, systemClock, env);
  const stop = watchForStop();
  let face = commandFace('');
  try {
    // Masked first, because a wrong argument may be a credential.
    for (const { value } of readCredentials(env)) terminal.logger.mask(value);
    const command = parseCommand(args);
    face = commandFace(command.name, findTokenVariable(command.tokenEnv, env));
    const logger = command.verbose ? terminal.logger : briefLogger(terminal.logger, terminal.showStep);
    const ports = createPorts(env, logger, stop.signal);
    const text = TEXTS[command.name]?.(command.positionals[0] ?? '');
    if (text !== undefined) {
      terminal.print(text);
      return EXIT.ready;
    }
    const perform = command.name === 'mcp' ? serveMcpClient : deliverAll;
    return (await perform(command, terminal, ports, env)) ? EXIT.ready : EXIT.notReady;
  } catch (thrown) {
    const failure = toDeliveryError(thrown);
    printFailure(terminal, failure, face, asksForJson(args));
    return failure.code === 'BAD_USAGE' ? EXIT.wrongUsage : EXIT.notReady;
  } finally {
    stop.unwatch();
    await flushOutput(stop.signal.aborted ? systemClock.timeout(CLEANUP_TIME) : undefined);
  }
}

/** Waits until all output is written or its readers are gone. @param limit for a stopped process */
async function flushOutput(limit: AbortSignal | undefined): Promise<void> {
  const written = [process.stdout, process.stderr].map(
    (stream) => new Promise<void>((resolve) => void stream.write('', () => resolve())),
  );
  await untilAborted(limit, Promise.all(written)).catch(() => undefined);
}

function printFailure(terminal: Terminal, failure: DeliveryError, face: Face, isJson: boolean): void {
  const { redact } = terminal.redactor;
  const reason = redact(failure.messageFor(face));
  const hint = redact(advise(failure.advice ?? '', face));
  if (isJson) terminal.printJson({ ...composeDocument([]), code: failure.code, reason, hint });
  else terminal.printError([`Error: ${reason}`, ...lineIf(hint !== '', `To fix: ${hint}`)].join('\n'));
}
