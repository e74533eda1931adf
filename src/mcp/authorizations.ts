import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { DeliveryError } from '../errors.ts';
import {
  type DeviceFlow,
  type DeviceFlowOptions,
  pollForToken,
  startDeviceFlow,
} from '../github/device-flow.ts';
import type { Clock, Ports } from '../ports.ts';
import { MCP } from '../protocol/limits.ts';
import { refuseInput } from '../request/input-kinds.ts';
import type { ToolName } from '../request/inputs.ts';
import type { Text } from '../words.ts';
import type { ToolArguments } from './tools.ts';

/** What a person sees, and the handle that continues the call. Contains no device code. */
export interface PersonRequest {
  readonly userCode: string;
  /** The URL of the host's page. */
  readonly page: string;
  readonly handle: string;
}

export interface ToolCall {
  readonly tool: ToolName;
  readonly args: ToolArguments;
  /** Names the authorization that this call continues; `undefined` in a first call. */
  readonly handle: string | undefined;
  readonly isDeclined: boolean;
}

/** The authorizations of one server. Tokens stay in memory only. @see protocol 4.1, 5 */
export class PersonAuthorizations {
  /** The server has one app. */
  #token: string | null | undefined;
  readonly #waiting = new Map<string, Pick<ToolCall, 'tool' | 'args'> & { flow: DeviceFlow }>();

  /** The arguments of this call, or of the call that it continues. @throws {DeliveryError} `BAD_INPUT` */
  findArguments({ handle, tool, args }: ToolCall, clock: Pick<Clock, 'now'>): ToolArguments {
    if (handle === undefined) return args;
    const first = this.#waiting.get(handle);
    if (first?.tool !== tool || first.flow.deadline <= clock.now()) {
      return refuseInput(
        'no call of this tool waits for this `authorization`',
        'repeat the call without `authorization` to get a new code',
      );
    }
    // A continued call may omit its arguments.
    if (Object.keys(args).length > 0 && !isDeepStrictEqual({ ...args }, { ...first.args })) {
      refuseInput(
        'the authorization belongs to a call with other arguments',
        'send `authorization` alone, or remove it for a new call',
      );
    }
    return first.args;
  }

  /** Returns a token, or what a person must do. A first call returns at once. @throws {DeliveryError} */
  async authorize(
    { tool, args, handle = randomUUID(), isDeclined }: ToolCall,
    options: DeviceFlowOptions,
    ports: Ports,
  ): Promise<string | PersonRequest> {
    const waiting = this.#waiting.get(handle);
    try {
      if (isDeclined) {
        const hint: Text = (w) => `set ${w.input('token')}${w.orUse('K3')}`;
        const message = 'the person declined the authorization';
        throw new DeliveryError('NOT_AUTHORIZED', message, { step: 'authorize', hint });
      }
      const until = ports.clock.now() + MCP.authorization;
      this.#token ??= waiting && (await pollForToken(waiting.flow, ports, until));
      if (this.#token) return this.#token;
    } catch (thrown) {
      // A canceled call may continue later.
      if (!ports.signal.aborted) this.#waiting.delete(handle);
      throw thrown;
    }
    const flow = waiting?.flow ?? (await startDeviceFlow(options, ports));
    this.#waiting.set(handle, { tool, args, flow });
    const [oldest = handle] = this.#waiting.keys();
    if (this.#waiting.size > MCP.waiting) this.#waiting.delete(oldest);
    const { userCode, page } = flow;
    return { userCode, page, handle };
  }

  /** Forgets a token that the host rejected. */
  forget(token: string): void {
    if (this.#token === token) this.#token = undefined;
  }
}

export const authorizationRequiredError = ({ userCode, page }: PersonRequest): DeliveryError =>
  new DeliveryError('AUTHORIZATION_REQUIRED', `a person must enter the code ${userCode} at ${page}`, {
    step: 'authorize',
    hint: (w) =>
      `show your human only this code and this page, then call again with \`authorization\` set to the handle${w.orUse('K3', ' if they decline')}`,
  });
