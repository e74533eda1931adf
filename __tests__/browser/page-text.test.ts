import { describe, expect, test } from '@jest/globals';
import { isOnlyWaiting, toPlainLine } from '../../src/browser/error-text.ts';

describe('isOnlyWaiting', () => {
  test.each([
    ...['Loading', 'loading...', 'Loading… 40%', 'Please wait', 'Loading the app', 'LOADING data…'],
    ...['Wird geladen …', 'Chargement…', 'Загрузка…', '読み込み中', '加载中...', 'Loading… Please wait…'],
  ])('%s tells only to wait', (text) => {
    expect(isOnlyWaiting(text)).toBe(true);
  });

  test.each([
    ...['Loading times', 'Reloading', 'Report of the loading dock', 'Done', '', '40%', 'Loaded'],
    'Loading… if this takes long, call 555-1234',
  ])('%s is content', (text) => {
    expect(isOnlyWaiting(text)).toBe(false);
  });
});

describe('toPlainLine', () => {
  test('removes control characters, shows invisible ones and cuts what is too long', () => {
    expect(toPlainLine('a\u001b[31mb\n\tc\u0000d')).toBe('a [31mb c d');
    expect(toPlainLine('safe\u202egnp.exe')).toBe('safe\\u202egnp.exe');
    expect(toPlainLine('x'.repeat(400))).toHaveLength(300);
    expect(toPlainLine(`${'x'.repeat(298)}🙂🙂`).isWellFormed()).toBe(true);
  });
});
