import { opendirSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Redactor } from '../credentials.ts';
import { DeliveryError } from '../errors.ts';
import { toOneLine } from '../plain-text.ts';
import type { Clock, Logger, Ports } from '../ports.ts';
import { lineProgress } from '../progress.ts';
import { PROGRESS_INTERVAL } from '../protocol/limits.ts';
import type { RawInputs, ToolName } from '../request/inputs.ts';
import { PersonAuthorizations } from './authorizations.ts';
import type { ToolAnswer } from './tool-answer.ts';

export interface McpSettings {
  /** The folder that files must be in. */
  readonly root: string;
  /** Inputs that hold for every call, and that no call can change. */
  readonly fixed: Readonly<Partial<RawInputs>>;
  /** Empty if there is none. */
  readonly token: string;
  readonly secrets: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Knows the token and the secrets. */
  readonly redactor: Redactor;
}

/** What the calls of one server share. */
export interface McpSession extends McpSettings {
  /** The folder without symbolic links, and as given, absolute: a file may be named through either. */
  readonly roots: readonly [string, ...string[]];
  readonly authorizations: PersonAuthorizations;
  /** Those of the server; a call has a log and a signal of its own. */
  readonly ports: Ports;
  /** The last calls that ended, the newest last. One that the client canceled got no answer. */
  readonly ended: { readonly tool: ToolName; readonly canceled: boolean; readonly answer: ToolAnswer }[];
}

/** @throws {DeliveryError} `BAD_INPUT` where the root is no folder. */
export const createSession = (settings: McpSettings, ports: Ports): McpSession => ({
  ...settings,
  roots: findRoots(settings.root),
  authorizations: new PersonAuthorizations(),
  ports,
  ended: [],
});

function findRoots(root: string): readonly [string, ...string[]] {
  const given = resolve(root);
  try {
    opendirSync(given).closeSync();
    return [realpathSync(given), given];
  } catch (cause) {
    throw new DeliveryError('BAD_INPUT', 'the root is no folder that can be read', {
      step: 'check',
      hint: 'set `--root` to the folder with the files',
      cause,
    });
  }
}

/** Writes one line of the server's log to stderr: stdout holds messages of the protocol only. */
export function writeLogLine(line: string, { redact }: Pick<Redactor, 'redact'>): void {
  process.stderr.write(`${toOneLine(redact(line))}\n`);
}

/** The log of one call, on stderr with its name. @param report tells the client a line as progress */
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
    debug: () => undefined,
    startSection: print,
    endSection: () => undefined,
    mask: (secret) => redactor.addSecret(secret),
    progress: lineProgress(PROGRESS_INTERVAL.mcp, clock, print),
  };
}
