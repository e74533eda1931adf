import { describe, expect, test } from '@jest/globals';
import { expectNotReady } from './expect-report.ts';
import { setUpScenario } from './scenario.ts';

const scenario = setUpScenario();

/** `Привет` in windows-1251. */
const PRIVET = Buffer.from('cff0e8e2e5f2', 'hex');
const inWindows1251 = (before: string): Buffer => Buffer.concat([Buffer.from(before), PRIVET]);
const OLD_PAGE = inWindows1251('<!doctype html>\n<meta charset="windows-1251">\n<p>');

describe('a page that Pages would show with wrong letters', () => {
  test('is refused before anything is written, on the screen alone', async () => {
    const repository = await scenario.repository();
    const before = await repository.log();
    const files = { 'old.html': OLD_PAGE };
    const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K1' } });
    expectNotReady(delivered, {
      step: 'check',
      reason:
        /^old\.html line 3: the page is in windows-1251, and Pages makes browsers read it as UTF-8, so it would be unreadable$/,
      hint: /^save it as UTF-8$/,
    });
    expect(await repository.log()).toEqual(before);
    const asDownload = await scenario.deliver({ repository, files, inputs: { channel: 'K2' } });
    expect(asDownload.outputs.result).toBe('ready');
  });

  test('refuses the folder, by name; of scripts and attachments it is a note', async () => {
    const repository = await scenario.repository();
    const before = await repository.log();
    const files = {
      'dist/index.html': '<!doctype html><p>Привет</p><script src="app.js"></script>',
      'dist/app.js': inWindows1251('// '),
      'dist/data/saved.html': OLD_PAGE,
      'dist/data/plain.html': '<meta charset="iso-8859-1"><p>Hello',
    };
    const inputs = { channel: 'K1', file: 'dist/', path: 'site/' };
    const broken = { ...files, 'dist/a.html': OLD_PAGE, 'dist/b.html': inWindows1251('<p>') };
    expectNotReady(await scenario.deliver({ repository, files: broken, inputs }), {
      step: 'check',
      reason:
        /^the folder dist\/ has pages that would be unreadable: a\.html line 3: the page is in windows-1251, .*; b\.html line 1: the page is not in UTF-8, /,
      hint: /^save it as UTF-8$/,
    });
    expect(await repository.log()).toEqual(before);
    const { report } = await scenario.deliver({ repository, files, inputs });
    expect(report.notReady).toBeNull();
    expect(report.notes.filter((note) => note.includes('UTF-8'))).toEqual([
      expect.stringMatching(/^app\.js line 1: the text is not in UTF-8, /),
      expect.stringMatching(/^data\/saved\.html line 3: the page is in windows-1251, /),
    ]);
  });
});

test('a page in UTF-16 with its mark is shown as it is', async () => {
  const repository = await scenario.repository();
  const files = { 'page.html': Buffer.from('\ufeff<!doctype html><p>Привет', 'utf16le') };
  const delivered = await scenario.deliver({ repository, files, inputs: { channel: 'K1' } });
  expect(delivered.outputs.result).toBe('ready');
});
