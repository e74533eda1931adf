import { untilAborted } from '../async.ts';
import { DeliveryError } from '../errors.ts';
import type { Ports } from '../ports.ts';
import { MCP } from '../protocol/limits.ts';
import { type DeviceFlow, type DeviceFlowOptions, pollForToken, startDeviceFlow } from './device-flow.ts';

/** What a person sees. Contains no device code. */
export interface PersonRequest {
  readonly userCode: string;
  /** The URL of the host's page. */
  readonly page: string;
}

/** The authorization of one server, which has one app. The token stays in memory only. @see protocol 4.1, 5 */
export class PersonAuthorization {
  #token: string | null | undefined;
  #flow: Promise<DeviceFlow> | undefined;
  #polling: Promise<string | null> | undefined;
  readonly #ports: Ports;

  /** @param ports of the server, because several calls wait for the same answer */
  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Returns a token, or what a person must do. The call that brings a new code returns at once; later calls wait. */
  async authorize(
    options: DeviceFlowOptions,
    { signal }: Pick<Ports, 'signal'>,
  ): Promise<string | PersonRequest> {
    if (this.#token) return this.#token;
    const isNew = this.#flow === undefined;
    this.#flow ??= this.#forgetIfFailed(startDeviceFlow(options, this.#ports));
    const flow = await untilAborted(signal, this.#flow);
    if (!isNew) {
      const until = this.#ports.clock.now() + MCP.authorization;
      this.#polling ??= this.#forgetIfFailed(pollForToken(flow, this.#ports, until)).finally(() => {
        this.#polling = undefined;
      });
      this.#token = await untilAborted(signal, this.#polling);
    }
    const { userCode, page } = flow;
    return this.#token || { userCode, page };
  }

  #forgetIfFailed<T>(work: Promise<T>): Promise<T> {
    return work.catch((thrown) => {
      this.#flow = undefined;
      throw thrown;
    });
  }

  /** Forgets the code that a person declined. @throws {DeliveryError} `NOT_AUTHORIZED` */
  decline(): never {
    this.#flow = undefined;
    throw new DeliveryError('NOT_AUTHORIZED', 'the person declined the authorization', {
      step: 'authorize',
      hint: (w) => `set ${w.input('token')}${w.orUse('K3')}`,
    });
  }

  /** Forgets a token that the host rejected. */
  forget(token: string): void {
    if (this.#token === token) this.#token = this.#flow = undefined;
  }
}

export const authorizationRequiredError = ({ userCode, page }: PersonRequest): DeliveryError =>
  new DeliveryError('AUTHORIZATION_REQUIRED', `a person must enter the code ${userCode} at ${page}`, {
    step: 'authorize',
    hint: 'show your human only this code and this page, then call again with the same arguments; if they decline, do not insist',
  });
