import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { untilAborted } from '../async.ts';
import { DeliveryError } from '../errors.ts';
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

/** A flow that waits for a person; several calls may need it. */
interface OpenFlow {
  flow: DeviceFlow;
  /** The poll that is under way: the host limits how often it is asked. */
  polling: Promise<unknown> | null;
  /** Whether the person has decided, or the code has expired. */
  isOver: boolean;
}

interface WaitingCall extends Pick<ToolCall, 'tool' | 'args'> {
  /** When its code expires: milliseconds since the epoch. */
  readonly deadline: number;
}

/** The authorizations of one server; tokens stay in memory, until it ends. @see protocol 4.1, 5 */
export class PersonAuthorizations {
  readonly #tokens = new Map<string, string>();
  readonly #flows = new Map<string, Promise<OpenFlow>>();
  readonly #waiting = new Map<string, WaitingCall>();

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
  async authorize(call: ToolCall, options: DeviceFlowOptions, ports: Ports): Promise<string | PersonRequest> {
    const key = `${options.authUrl.origin} ${options.clientId}`;
    if (call.isDeclined) {
      this.#flows.delete(key);
      throw declinedError();
    }
    const known = this.#tokens.get(key);
    if (known !== undefined) return known;
    const { open, isNew } = await this.#openFlow(key, options, ports);
    const goesOn = call.handle !== undefined && !isNew;
    const token = goesOn ? await this.#waitForPerson(key, open, ports) : undefined;
    if (token !== undefined) return token;
    // The handle stays valid until its code expires: a client may give up while the delivery goes on.
    const { tool, args, handle = randomUUID() } = call;
    const { userCode, page, deadline } = open.flow;
    this.#waiting.set(handle, { tool, args, deadline });
    removeOldest(this.#waiting);
    const expiresIn = Math.max(Math.floor((deadline - ports.clock.now()) / SECOND), 0);
    return { userCode, page, handle, expiresIn };
  }

  /** Forgets a token that the host does not accept any more. */
  forget(token: string): void {
    for (const [key, known] of this.#tokens) if (known === token) this.#tokens.delete(key);
  }

  /** Calls for the same app share one code, also while the host is asked for it: a person enters it once. */
  async #openFlow(
    key: string,
    options: DeviceFlowOptions,
    ports: Ports,
  ): Promise<{ readonly open: OpenFlow; readonly isNew: boolean }> {
    for (;;) {
      const current = this.#flows.get(key);
      if (current === undefined) {
        const starting = startDeviceFlow(options, ports).then((flow) => ({
          flow,
          polling: null,
          isOver: false,
        }));
        this.#flows.set(key, starting);
        removeOldest(this.#flows);
        return { open: await starting, isNew: true };
      }
      const known = current.catch(() => undefined);
      const open = await untilAborted(ports.signal, known);
      if (open?.isOver === false && open.flow.nextPoll < open.flow.deadline) return { open, isNew: false };
      if (this.#flows.get(key) === current) this.#flows.delete(key);
    }
  }

  async #waitForPerson(key: string, open: OpenFlow, ports: Ports): Promise<string | undefined> {
    const until = ports.clock.now() + MCP.authorization;
    while (open.polling !== null) await untilAborted(ports.signal, open.polling);
    const known = this.#tokens.get(key);
    if (known !== undefined) return known;
    if (open.isOver) throw authorizationOverError();
    const work = this.#poll(key, open, until, ports);
    open.polling = work.catch(() => undefined);
    return work.finally(() => {
      open.polling = null;
    });
  }

  async #poll(key: string, open: OpenFlow, until: number, ports: Ports): Promise<string | undefined> {
    try {
      const result = await pollForToken(open.flow, until, ports);
      if (typeof result !== 'string') {
        open.flow = result;
        return undefined;
      }
      this.#tokens.set(key, result);
      open.isOver = true;
      return result;
    } catch (thrown) {
      // A call that was canceled leaves the code to the next one.
      if (ports.signal.aborted) open.flow = { ...open.flow, nextPoll: ports.clock.now() + open.flow.pause };
      else open.isOver = true;
      throw thrown;
    }
  }
}

/** A map lists its entries in the order in which they were added. */
function removeOldest(entries: Map<string, unknown>): void {
  const [oldest] = entries.keys();
  if (entries.size > MCP.waiting && oldest !== undefined) entries.delete(oldest);
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

const authorizationOverError = (): DeliveryError =>
  new DeliveryError('NOT_AUTHORIZED', 'the authorization was refused or has expired', {
    step: 'authorize',
    hint: (w) => `call again without \`authorization\`${w.orUse('K3')}`,
  });
