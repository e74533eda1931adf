import { test } from '@jest/globals';
import { setUpWorld } from '../world/set-up-world.ts';
import { playSequences } from './preview-sequences.ts';

/* faults/previews-property.test.ts plays many more. */

const setup = setUpWorld('sequence');

test('no delivery that was ready is lost, and nothing is on the site that nobody delivered', () =>
  playSequences(setup, { first: 4, count: 19 }));
