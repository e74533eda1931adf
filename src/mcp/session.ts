import { opendirSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { createRedactor, type Redactor } from '../credentials.ts';
import { DeliveryError } from '../errors.ts';
import type { Ports } from '../ports.ts';
import type { RawInputs, ToolName } from '../request/inputs.ts';
import { PersonAuthorizations } from './authorizations.ts';
import { createCallLogger } from './call-log.ts';
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
  readonly signal: AbortSignal;
}

interface EndedCall {
  readonly tool: ToolName;
  /** Whether the client canceled it, so that it got no answer. */
  readonly canceled: boolean;
  readonly answer: ToolAnswer;
}

/** What the calls of one server share. */
export interface McpSession extends Omit<McpSettings, 'root' | 'signal'> {
  /** The folder as given, absolute, and without symbolic links: a file may be named through either. */
  readonly roots: readonly [string, ...string[]];
  readonly redactor: Redactor;
  readonly authorizations: PersonAuthorizations;
  /** Those of the server; a call has a log and a signal of its own. */
  readonly ports: Ports;
  /** The last calls that ended, the newest last. */
  readonly ended: EndedCall[];
}

/** @throws {DeliveryError} `BAD_INPUT` where the root is no folder. */
export function createSession(settings: McpSettings, ports: Omit<Ports, 'logger'>): McpSession {
  const { root, signal: _, ...shared } = settings;
  const redactor = createRedactor();
  for (const secret of new Set([settings.token, ...settings.secrets])) redactor.addSecret(secret);
  const all = { ...ports, logger: createCallLogger('server', redactor, ports.clock) };
  return {
    ...shared,
    roots: findRoots(root),
    redactor,
    authorizations: new PersonAuthorizations(all),
    ports: all,
    ended: [],
  };
}

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
