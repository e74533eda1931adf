import { test } from '@jest/globals';
import { playSequences } from '../scenarios/preview-sequences.ts';
import { setUpWorld } from '../world/set-up-world.ts';

const setup = setUpWorld('sequence');

test(
  'no delivery that was ready is lost, and nothing is on the site that nobody delivered',
  () => playSequences(setup, { first: 1_001, count: 200 }),
  900_000,
);
