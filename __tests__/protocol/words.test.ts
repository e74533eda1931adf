import { describe, expect, test } from '@jest/globals';
import {
  CHANNELS,
  GATE_TITLES,
  GATES,
  NOT_DELIVERY,
  PROTOCOL,
  REPORT_LINES,
  RESULTS,
  STEPS,
  TOOL,
  TRAILER,
} from '../../src/protocol/words.ts';

describe('the words of the protocol', () => {
  test('the identifier and the version are those of protocol 2.1 and 9', () => {
    expect(PROTOCOL.identifier).toMatch(/^[A-Z]+-SCREEN-DELIVERY$/);
    expect(PROTOCOL.version).toBe('1.1');
  });

  test('the identifier and the vendor name the same host', () => {
    expect(PROTOCOL.identifier).toBe(`${PROTOCOL.vendor.toUpperCase()}-SCREEN-DELIVERY`);
  });

  test('the gates have their exact names and their order', () => {
    expect(GATES).toEqual(['G1_выложено', 'G2_финальный_URL', 'G3_VERIFY_200_и_маркер', 'G4_REPORT']);
  });

  test('every gate has a different English title', () => {
    expect(Object.keys(GATE_TITLES)).toEqual([...GATES]);
    expect(new Set(Object.values(GATE_TITLES)).size).toBe(GATES.length);
  });

  test('the report has its five lines in order', () => {
    expect(REPORT_LINES).toEqual(['CLAIM', 'CODE', 'TEST', 'RESULT', 'UNKNOWN']);
  });

  test('there are two results, and neither is the beginning of the other', () => {
    expect(RESULTS).toEqual({ ready: 'ГОТОВО', notReady: 'НЕ ГОТОВО' });
    expect(RESULTS.notReady.startsWith(RESULTS.ready)).toBe(false);
  });

  test('a delivery checks and authorizes before it places, and verifies before it reports', () => {
    expect(STEPS).toEqual(['check', 'authorize', 'place', 'wait', 'verify', 'report']);
  });

  test.each(['sandbox:/', '/mnt/data/', 'local path', 'promise without a URL'])(
    '%s is listed among what never counts as a delivery',
    (word) => {
      expect(NOT_DELIVERY.filter((line) => line.includes(word))).toHaveLength(1);
    },
  );
});

describe('the channels', () => {
  test.each([
    ['K1', 'pages', 'permanent'],
    ['K2', 'release', 'permanent'],
    ['K3', 'filebin', 'about 7 days'],
    ['K4', 'native', "by the environment's rules"],
  ] as const)('%s is named %s and has the lifetime: %s', (key, name, lifetime) => {
    expect(CHANNELS[key].name).toBe(name);
    expect(CHANNELS[key].lifetime).toContain(lifetime);
  });

  test('the lifetime of the file-bin says that it is public', () => {
    expect(CHANNELS.K3.lifetime).toContain('public to anyone with the link');
  });

  test('are exactly four', () => {
    expect(Object.keys(CHANNELS)).toEqual(['K1', 'K2', 'K3', 'K4']);
  });
});

test('the commit trailer has the format of a git trailer and names the tool', () => {
  expect(TRAILER).toMatch(/^[A-Za-z][A-Za-z-]*: \S.*$/);
  expect(TRAILER.endsWith(`: ${TOOL.name}`)).toBe(true);
});
