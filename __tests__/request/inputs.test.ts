import { describe, expect, test } from '@jest/globals';
import { INPUTS } from '../../src/request/inputs.ts';

describe('the defaults of INPUTS', () => {
  test('keep the limits of the protocol: 240 s in total, 5 s between polls', () => {
    expect([INPUTS.timeout.default, INPUTS['poll-interval'].default]).toEqual(['240', '5']);
  });

  test('allow nothing that the user must ask for', () => {
    expect([INPUTS.overwrite.default, INPUTS['allow-public-bin'].default]).toEqual(['false', 'false']);
    expect(INPUTS['fail-on-not-ready'].default).toBe('true');
  });

  test('name no host except the runner’s own and the public bin', () => {
    const hosts = Object.values(INPUTS).filter((input) => input.default.includes('://'));
    expect(hosts).toEqual([INPUTS['bin-host-url']]);
  });
});
