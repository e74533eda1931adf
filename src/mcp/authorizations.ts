import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { untilAborted } from '../async.ts';
import { DeliveryError, stoppedError } from '../errors.ts';
import {
  type DeviceFlow,
  type DeviceFlowOptions,
  pollForToken,
  startDeviceFlow,
} from '../github/device-flow.ts';
import type { Clock, Ports } from '../ports.ts';
import { MCP, SECOND } from '../protocol/limits.ts';
import { refuseInput } from '../request/input-kinds.ts';
import type { ToolName } from '../request/inputs.ts';
import type { ToolArguments } from './arguments.ts';

/** What a person is shown, and the handle with which the call goes on. The device code is not in it. */
export interface PersonRequest {
  readonly userCode: string;
  /** Address of the host's own page. */
  readonly page: string;
  readonly handle: string;
  /** Seconds. */
  readonly expiresIn: number;
}

export interface ToolCall {
  readonly tool: ToolName;
  readonly args: ToolArguments;
  /** The handle of the authorization that the call waits for; `undefined` in a first call. */
  readonly handle: string | undefined;
  readonly isDeclined: boolean;
}

/** A flow of one app: it goes on until the person has decided or the code expires, whatever becomes of the calls. */
interface OpenFlow {
  readonly started: Promise<DeviceFlow>;
  readonly granted: Promise<string>;
  /** Ends the polling. */
  readonly stop: AbortController;
  token?: string;
  /** Whether there will be no token. */
  isOver: boolean;
}

interface WaitingCall extends Pick<ToolCall, 'tool' | 'args'> {
  /** When its code expires: milliseconds since the epoch. */
  readonly deadline: number;
}

/** The authorizations of one server; tokens stay in memory, until it ends. @see protocol 4.1, 5 */
export class PersonAuthorizations {
  readonly #ports: Ports;
  readonly #flows = new Map<string, OpenFlow>();
  readonly #waiting = new Map<string, WaitingCall>();

  /** @param ports those of the server: a call may end before the person decides */
  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** The arguments of a call; of one that waited those of its beginning. @throws {DeliveryError} `BAD_INPUT` */
  findArguments({ handle, tool, args }: ToolCall, clock: Pick<Clock, 'now'>): ToolArguments {
    if (handle === undefined) return args;
    const first = this.#waiting.get(handle);
    if (first?.tool !== tool || first.deadline <= clock.now()) {
      return refuseInput(
        'input `authorization` is no handle of a call that waits for an authorization',
        'leave `authorization` out and give the other arguments again: the answer has a new code',
      );
    }
    // They need not be sent again.
    if (Object.keys(args).length > 0 && !isDeepStrictEqual({ ...args }, { ...first.args })) {
      refuseInput(
        'the authorization belongs to a call with other arguments',
        'give `authorization` alone, or leave it out for a new call',
      );
    }
    return first.args;
  }

  /**
   * A token that a person granted, before or after a short wait for them. A call is answered at once with a new code;
   * one that goes on with a code waits a while for the person.
   *
   * @returns what to show the person, where they have not decided yet
   * @throws {DeliveryError} `NOT_AUTHORIZED` where they declined.
   */
  async authorize(
    call: ToolCall,
    options: DeviceFlowOptions,
    { clock, signal }: Ports,
  ): Promise<string | PersonRequest> {
    const key = `${options.authUrl.origin} ${options.clientId}`;
    const goesOn = call.handle !== undefined;
    const known = this.#flows.get(key);
    if (call.isDeclined) {
      const declined = declinedError();
      known?.stop.abort(declined);
      this.#flows.delete(key);
      throw declined;
    }
    const isNew = known === undefined || (known.isOver && !goesOn);
    const open = isNew ? this.#begin(key, options) : known;
    const { userCode, page, deadline } = await untilAborted(signal, open.started);
    if (goesOn && !isNew) {
      const time = AbortSignal.any([signal, clock.timeout(MCP.authorization)]);
      await untilAborted(time, open.granted).catch((thrown) => {
        signal.throwIfAborted();
        if (!open.isOver) return;
        // It is told once: the next call gets a new code.
        this.#flows.delete(key);
        throw thrown;
      });
    }
    if (open.token !== undefined) return open.token;
    // The handle stays valid until its code expires: a client may give up while the delivery goes on.
    const { tool, args, handle = randomUUID() } = call;
    this.#waiting.set(handle, { tool, args, deadline });
    removeOldest(this.#waiting);
    const expiresIn = Math.max(Math.floor((deadline - clock.now()) / SECOND), 0);
    return { userCode, page, handle, expiresIn };
  }

  /** Forgets a token that the host does not accept any more. */
  forget(token: string): void {
    for (const [key, open] of this.#flows) if (open.token === token) this.#flows.delete(key);
  }

  /** Calls for the same app share one code, also while the host is asked for it: a person enters it once. */
  #begin(key: string, options: DeviceFlowOptions): OpenFlow {
    const stop = new AbortController();
    const ports = { ...this.#ports, signal: AbortSignal.any([this.#ports.signal, stop.signal]) };
    const started = startDeviceFlow(options, ports);
    const granted = started.then((flow) => pollForToken(flow, ports));
    const open: OpenFlow = { started, granted, stop, isOver: false };
    granted.then(
      (token) => {
        open.token = token;
      },
      () => {
        open.isOver = true;
      },
    );
    this.#flows.set(key, open);
    removeOldest(this.#flows)?.stop.abort(stoppedError());
    return open;
  }
}

/** A map lists its entries in the order in which they were added. @returns what was too much */
function removeOldest<Value>(entries: Map<string, Value>): Value | undefined {
  const [oldest] = entries;
  if (entries.size <= MCP.waiting || oldest === undefined) return undefined;
  entries.delete(oldest[0]);
  return oldest[1];
}

export const authorizationRequiredError = ({ userCode, page }: PersonRequest): DeliveryError =>
  new DeliveryError('AUTHORIZATION_REQUIRED', `a person must enter the code ${userCode} at ${page}`, {
    step: 'authorize',
    hint: (w) =>
      `show your human only this code and this page, then call again with \`authorization\` set to the handle${w.orUse('K3', ' if they decline')}`,
  });

const declinedError = (): DeliveryError =>
  new DeliveryError('NOT_AUTHORIZED', 'the person declined the authorization', {
    step: 'authorize',
    hint: (w) => `set ${w.input('token')}${w.orUse('K3')}`,
  });
