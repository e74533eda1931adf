import { describe, expect, test } from '@jest/globals';
import type { RawInputs } from '../../src/request/inputs.ts';
import { requestWith } from '../delivery/builders.ts';

const PAGE = { file: '', name: 'answer.html', content: '<!doctype html><p>x</p>', confine: 'agent/' };

const parse = (inputs: Partial<RawInputs>, job = 'Deliver/answer') =>
  requestWith({ ...PAGE, ...inputs }, { job });

test('a confined delivery goes to K1 alone, and owns what the same job delivered to that folder', () => {
  for (const channel of ['auto', 'K1', 'pages']) {
    expect(parse({ channel })).toMatchObject({
      channels: ['K1'],
      path: undefined,
      overwrite: false,
      confine: 'agent/',
      soleDeliverer: 'agent/ Deliver/answer',
    });
  }
  expect(parse({}, 'Deliver\n\nother/answer').soleDeliverer).toBe('agent/ Deliver other/answer');
  expect(requestWith({}).soleDeliverer).toBeUndefined();
});

describe('a confined delivery is refused', () => {
  test.each([
    ...'../index.html a/b.html a\\b.html .. .html _config.yml CNAME .nojekyll _page.html -page.html'.split(
      ' ',
    ),
    ...'page.md page.html.md worker.js feed.xml page.htm page.HTML'.split(' '),
    ...['page..html', 'a\u202eb.html', 'a\u0000.html'],
    ...["a'$(id)'.html", '<b>.html', 'CON.html', 'lpt1.x.html', `${'x'.repeat(251)}.html`],
  ])('with the name %j', (name) => {
    expect(() => parse({ name })).toThrow(/`name` is not/);
  });

  test('without a name', () => {
    expect(() => parse({ name: '' })).toThrow(/`name` is missing$/);
  });

  test.each(['---\npermalink: /\n---\n', '---', '\uFEFF---\n', '\n\n---\npermalink: /', ' \uFEFF ---'])(
    'with the front matter %j, by which a page chooses its own address',
    (content) => {
      expect(() => parse({ content: `${content}<p>x</p>` })).toThrow(/front matter/);
    },
  );

  test.each<Partial<RawInputs>>([
    { file: 'page.html' },
    { path: 'other/' },
    { url: 'https://example.com/' },
    { overwrite: 'true' },
    { operation: 'withdraw' },
    { channel: 'K2' },
    { channel: 'K1+K3' },
    { content: '' },
    { content: ' \n' },
  ])('with the input %j', (inputs) => {
    expect(() => parse(inputs)).toThrow();
  });

  test.each(['agent', '/', './', '../', '/agent/', 'a/../', '.github/', 'a b/', 'a//'])(
    'to the folder %j',
    (confine) => {
      expect(() => parse({ confine })).toThrow(/`confine`/);
    },
  );
});

test('names that people give to pages are taken, with - for a space', () => {
  for (const name of [
    'answer.html',
    'Отчёт_7.html',
    'v1.2-rc.html',
    '0.html',
    'index.html',
    'my page.html',
  ]) {
    expect(parse({ name }).file).toEqual([name.replace(' ', '-')]);
  }
});
