import { describe, expect, test } from '@jest/globals';
import { type PollOptions, poll } from '../src/poll.ts';
import { FakeClock, NOON } from './support/ports.ts';

function patience(over: Partial<PollOptions> = {}): PollOptions & { readonly clock: FakeClock } {
  const clock = new FakeClock();
  const signal = new AbortController().signal;
  return { interval: 5_000, deadline: NOON + 12_000, signal, ...over, clock };
}

/** A look that finds something at the nth time, and notes when it looked. */
function finding(nth: number, clock: FakeClock): { look: () => Promise<string | undefined>; at: number[] } {
  const at: number[] = [];
  const look = async (): Promise<string | undefined> => {
    at.push(clock.now() - NOON);
    return at.length === nth ? 'found' : undefined;
  };
  return { look, at };
}

describe('poll', () => {
  test('looks at once, before any pause', async () => {
    const asked = patience();
    const { look, at } = finding(1, asked.clock);
    expect(await poll(asked, look)).toBe('found');
    expect(at).toEqual([0]);
    expect(asked.clock.slept).toEqual([]);
  });

  test('looks every interval until it finds something', async () => {
    const asked = patience();
    const { look, at } = finding(3, asked.clock);
    expect(await poll(asked, look)).toBe('found');
    expect(at).toEqual([0, 5_000, 10_000]);
  });

  test('looks a last time right at the deadline, and then gives up', async () => {
    const asked = patience();
    const { look, at } = finding(0, asked.clock);
    expect(await poll(asked, look)).toBeUndefined();
    expect(at).toEqual([0, 5_000, 10_000, 12_000]);
  });

  test('looks once at the deadline where that falls on an interval', async () => {
    const asked = patience({ deadline: NOON + 10_000 });
    const { look, at } = finding(0, asked.clock);
    await poll(asked, look);
    expect(at).toEqual([0, 5_000, 10_000]);
  });

  test('looks once even when the deadline has passed already', async () => {
    const asked = patience({ deadline: NOON - 1 });
    const { look, at } = finding(1, asked.clock);
    expect(await poll(asked, look)).toBe('found');
    expect(at).toEqual([0]);
  });

  test('makes 49 looks of the 240 s of the protocol: one at once, and 48 polls 5 s apart', async () => {
    const asked = patience({ deadline: NOON + 240_000 });
    const { look, at } = finding(0, asked.clock);
    await poll(asked, look);
    expect(at).toHaveLength(49);
  });

  test('gives the time that a look takes no pause back', async () => {
    const asked = patience();
    const at: number[] = [];
    await poll(asked, async () => {
      at.push(asked.clock.now() - NOON);
      asked.clock.time += 4_000;
      return undefined;
    });
    expect(at).toEqual([0, 9_000]);
  });

  test.each([0, '', false, null])('takes %j for something that was found', async (found) => {
    expect(await poll<unknown>(patience(), async () => found)).toBe(found);
  });

  test('ends with the error of a look', async () => {
    const look = async (): Promise<never> => {
      throw new Error('the look failed');
    };
    await expect(poll(patience(), look)).rejects.toThrow('the look failed');
  });

  test('does not look at all when it was stopped before', async () => {
    const asked = patience({ signal: AbortSignal.abort(new Error('stopped')) });
    const { look, at } = finding(1, asked.clock);
    await expect(poll(asked, look)).rejects.toThrow('stopped');
    expect(at).toEqual([]);
  });

  test('stops without the pause that would come next', async () => {
    const stop = new AbortController();
    const asked = patience({ signal: stop.signal });
    const { look, at } = finding(0, asked.clock);
    const polling = poll(asked, async () => {
      stop.abort(new Error('stopped'));
      return look();
    });
    await expect(polling).rejects.toThrow('stopped');
    expect(at).toEqual([0]);
    expect(asked.clock.slept).toEqual([]);
  });
});
