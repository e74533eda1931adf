import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { stylesJson } from '../../../scripts/documents.ts';
import { isRenderable } from '../../../src/convert/render/render-text.ts';
import { contentOf, render } from './rendering.ts';

const NOTEBOOK = {
  nbformat: 4,
  metadata: { language_info: { name: 'python' } },
  cells: [
    {
      cell_type: 'markdown',
      source: ['# Title\n', '![a](attachment:a%20b.png)'],
      attachments: { 'a b.png': { 'image/png': 'AAAA' } },
    },
    {
      cell_type: 'code',
      source: 'import os',
      execution_count: 3,
      outputs: [
        { output_type: 'stream', text: ['\u001b[31mred\u001b[0m <b>\n'] },
        { output_type: 'display_data', data: { 'image/png': 'AAAA"onerror=x\n', 'text/plain': 'concealed' } },
        { output_type: 'display_data', data: { 'image/svg+xml': '<svg onload="a"/>' } },
        { output_type: 'execute_result', data: { 'text/html': '<script>a</script>' } },
        { output_type: 'execute_result', data: { 'text/html': 'concealed', 'text/plain': ['shown'] } },
        { output_type: 'execute_result', data: { 'application/json': { a: 1 } } },
        { output_type: 'execute_result', data: { 'text/markdown': '*strong*' } },
        { output_type: 'error', ename: 'E', evalue: 'v', traceback: ['\u001b[32mtrace\u001b[0m'] },
      ],
    },
    { cell_type: 'raw', source: 'raw <i>' },
  ],
};

const JUNIT = `<testsuites><testsuite name="s &lt;1&gt;"><testcase classname="c" name="good" time="0.5"/>
<testcase name="bad" time="1,000.25"><failure message="a &lt; b"><![CDATA[trace <x> ]]]]><![CDATA[>]]></failure><system-out>out</system-out></testcase>
<testsuite name="inner"><testcase name="late"><error message="boom"/></testcase><testcase name="off"><skipped message="why"/></testcase>
<testcase name="again"><flakyFailure message="once"/></testcase></testsuite></testsuite></testsuites>`;

describe('each kind of text', () => {
  test.each([
    [
      'a.csv',
      'Name,Sum\n"two\nlines",1.5\n"say ""hi""",-2',
      '<tr><td>two\nlines</td><td class="number">1.5</td></tr>\n<tr><td>say &quot;hi&quot;</td><td class="number">-2</td></tr>',
    ],
    ['a.csv', 'a;b\n1,5;x', '<tr><td class="number">1,5</td><td>x</td></tr>'],
    ['a.csv', 'a,b\n<b>,', '<td>&lt;b&gt;</td><td></td>'],
    ['a.tsv', 'a\tb\n5"\t1', '<td>5&quot;</td><td class="number">1</td>'],
    ['a.csv', `a\n${'1\n'.repeat(5_002)}`, '<p class="rest">2 more rows in the source</p>'],
    [
      'a.json',
      '{"b":12345678901234567890.0,"1":{"a":[]},"b":null}',
      '&quot;b&quot;</span>: <span class="hljs-number">12345678901234567890.0</span></li>\n<li><details open><summary><span class="hljs-attr">&quot;1&quot;</span>: { <i>1 value</i> }</summary><ul><li><span class="hljs-attr">&quot;a&quot;</span>: []</li></ul></details></li>\n<li><span class="hljs-attr">&quot;b&quot;</span>: <span class="hljs-literal">null</span>',
    ],
    ['a.json', '"<b>\\u00e9"', '<span class="hljs-string">&quot;&lt;b&gt;é&quot;</span>'],
    [
      'a.json',
      `[[${'1,'.repeat(150)}1]]`,
      '<details open><summary>[ <i>1 value</i> ]</summary><ul><li><details><summary>[ <i>151 values</i> ]</summary>',
    ],
    ['a.json', `[${'1,'.repeat(50_001)}1]`, '<p class="rest">3 more values in the source</p>'],
    ['a.json', `${'['.repeat(200)}${']'.repeat(200)}`, '<p class="rest">1 more value in the source</p>'],
    [
      'a.log',
      '\u001b[31mred\nstill\u001b[0m <b>',
      '<div id="L1"><a href="#L1">1</a><span class="ansi-red-fg">red</span></div>\n<div id="L2"><a href="#L2">2</a><span class="ansi-red-fg">still</span> &lt;b&gt;</div>',
    ],
    ['a.log', '10%\r100%\r\n', '</a>100%</div>'],
    ['a.log', '\u2819\u001b[1G\u001b[0K\u2839\u001b[1G\u001b[0Kadded', '</a>added</div>'],
    ['a.log', '\u001b[2mfaint', '<span style="opacity:0.85">faint</span>'],
    ['a.log', 'a\u001b[\nb\u001b]8;;https://a.example', '</a>a[</div>'],
    ['a.log', 'a \u001b]8;id=1;file:///b.c#1\u001b\\b.c:1\u001b]8;;\u001b\\ c', '</a>a b.c:1 c</div>'],
    [
      'a.log',
      'a \u001b]8;;https://a.example\u0007\u001b[31mred\u001b[0m\u001b]8;;\u0007 \u00e9',
      '</a>a <span class="ansi-red-fg">red</span> é</div>',
    ],
    ['a.log', '\u001b]0;title\u0007a\u001bP1$r0m\u001b\\b\u001b]133;A\u001b\\c', '</a>abc</div>'],
    ['a.md', `${'# a\n'.repeat(60_000)}`, '<p class="rest">40,000 more characters in the source</p>'],
    [
      'a.log',
      '\u001b]8;;https://a.example/"x\u001b\\a\u001b]8;;\u001b\\',
      '<a href="https://a.example/&quot;x">a</a>',
    ],
    [
      'a.txt',
      'line\n'.repeat(26_000),
      '<div id="L5000"><a href="#L5000">5000</a>line</div><p class="rest">1,000 more lines in the source</p><div id="L6001">',
    ],
    [
      'a.diff',
      '-<b>\n+c',
      '<span class="hljs-deletion">-&lt;b&gt;</span>\n<span class="hljs-addition">+c</span>',
    ],
    ['a.py', 'import os', '<span class="hljs-keyword">import</span> os'],
    ['Dockerfile', 'FROM a', '<span class="hljs-keyword">FROM</span> a'],
    ['a.xml', '<a>b</a>', '<span class="hljs-name">a</span>'],
    [
      'a.ipynb',
      JSON.stringify({ nbformat: 4, cells: [{ cell_type: 'code', source: 'a' }] }),
      '<p class="count">[ ]</p><pre><code class="hljs">a</code></pre>',
    ],
  ])('%s shows %j', async (name, text, expected) => {
    expect(await contentOf(name, text)).toContain(expected);
  });

  test.each([
    ['a.py', `${' '.repeat(2_000_000)}abc`, '<p class="rest">3 more characters in the source</p>'],
    ['a.py', `${' '.repeat(200_000)}1`, `${' '.repeat(200_000)}1</code>`],
    ['a.json', `[${'1,'.repeat(900_000)}1]`, '<p class="rest">850,002 more values in the source</p>'],
    ['a.csv', 'a\n'.repeat(5_003), '<p class="rest">2 more rows in the source</p>'],
    [
      'a.ipynb',
      JSON.stringify({
        nbformat: 4,
        cells: Array(5).fill({ cell_type: 'markdown', source: 'a '.repeat(125_000) }),
      }),
      '<p class="rest">3 more cells in the source</p>',
    ],
  ])('a long %s shows its beginning (%#)', async (name, text, expected) => {
    expect((await contentOf(name, text)).includes(expected)).toBe(true);
  });

  test('a notebook shows texts, code and outputs, HTML as text', async () => {
    const html = await contentOf('a.ipynb', JSON.stringify(NOTEBOOK));
    const parts = [
      '<img src="data:image/png;base64,AAAA" alt="a">',
      '<p class="count">[3]</p><pre><code class="hljs"><span class="hljs-keyword">import</span> os',
      '<pre><span class="ansi-red-fg">red</span> &lt;b&gt;</pre>',
      `<img src="data:image/png;base64,${Buffer.from('AAAAonerror', 'base64').toString('base64')}" alt="output">`,
      `<img src="data:image/svg+xml;base64,${Buffer.from('<svg onload="a"/>').toString('base64')}"`,
      '<pre>&lt;script&gt;a&lt;/script&gt;</pre>',
      '<pre>shown</pre>',
      '<pre>{\n  &quot;a&quot;: 1\n}</pre>',
      '<em>strong</em>',
      '<span class="ansi-green-fg">trace</span>',
      '<pre>raw &lt;i&gt;</pre>',
    ];
    expect(parts.filter((part) => !html.includes(part))).toEqual([]);
    expect(html).not.toContain('concealed');
    const notes = ['cell 2, the HTML output is shown as text'];
    expect(await render('a.ipynb', JSON.stringify(NOTEBOOK))).toMatchObject({ notes });
  });

  test('test results show the counts, then the failures, then all tests', async () => {
    const html = await contentOf('a.xml', JUNIT);
    const parts = [
      '<b class="error">1 error</b>, <b class="failed">1 failed</b>, <b class="flaky">1 flaky</b>, <b class="skipped">1 skipped</b>, <b class="passed">1 passed</b>, 5 tests, <i>1000.75 s</i>',
      '<b class="failed">failed</b> bad <i>1000.25 s</i></summary>\n<pre>a &lt; b\ntrace &lt;x&gt; ]]&gt;\nsystem-out:\nout</pre>',
      '<b class="error">error</b> late <i>0 s</i></summary>\n<pre>boom</pre>',
      '<h2>All tests</h2>',
      '<summary>s &lt;1&gt; <b class="failed">1 failed</b>, <b class="passed">1 passed</b>, 2 tests, <i>1000.75 s</i></summary>',
      'c › good',
      '<summary>inner ',
      '<pre>why</pre>',
    ];
    const places = parts.map((part) => html.indexOf(part));
    expect(places).not.toContain(-1);
    expect(places.toSorted((a, b) => a - b)).toEqual(places);
  });

  test.each([
    [
      'a suite that failed as a whole',
      '<testsuite name="s"><error>setup</error><testcase/></testsuite>',
      '1 error, 1 passed, 2 tests',
      [],
    ],
    ['a disabled test', '<testcase status="notrun" result="suppressed"/>', '1 skipped, 1 test', []],
    ['a failed status', '<testcase status="failed"/>', '1 failed, 1 test', []],
    ['an unknown status', '<testcase status="queued"/>', '1 skipped, 1 test', []],
    ['a passed status', '<testcase status="run" result="completed"/>', '1 passed, 1 test', []],
    [
      'failures that it does not list',
      '<testsuite tests="5"><testsuite errors="2"><testcase/></testsuite></testsuite>',
      '1 passed, 1 test',
      ['the file counts failures, but lists none'],
    ],
    [
      'assertions that are counted as tests',
      '<testsuite tests="100" failures="2"><testcase><failure/></testcase></testsuite>',
      '1 failed, 1 test',
      [],
    ],
  ])('test results tell of %s', async (_, xml, counts, notes) => {
    const result = await render('a.xml', `<testsuites>${xml}</testsuites>`);
    const page = result.page.toString();
    expect(page.replace(/<[^>]*>/g, '')).toContain(`${counts}, 0 s`);
    expect(result.notes).toEqual(notes);
    expect(notes.filter((note) => !page.includes(`<b class="failed">${note}</b>`))).toEqual([]);
  });

  test.each([
    ['a.json', '{"a": 1,\n"b": [1,]}', 'the JSON is not valid: Value expected', 2],
    ['a.json', '{}\n{}', 'the JSON is not valid: End of file expected', 2],
    ['a.json', '// a\n1', 'the JSON is not valid: Invalid comment token', 1],
    ['a.json', '['.repeat(100_000), 'the file is nested too deeply', undefined],
    ['a.csv', 'a,b\n1,2\n3,"4\n5,6', "a row can't be read: quote not closed", 3],
    ['a.csv', 'a\n"b"c', "a row can't be read: invalid closing quote", 2],
    ['a.xml', '<a>\n<b></a>', 'the XML is not valid: unexpected close tag', 2],
    ['a.xml', 'text', 'the XML is not valid: text data outside of root node', 1],
    [
      'a.xml',
      '<!DOCTYPE a [<!ENTITY b "c">]><testsuite>&b;</testsuite>',
      'the XML is not valid: undefined entity',
      1,
    ],
    [
      'a.xml',
      `<testsuite>${'<testcase/>'.repeat(300_001)}`,
      'the XML has over 300000 elements and attributes',
      1,
    ],
    ['a.csv', ','.repeat(2_000_000), "a row can't be read: max record size", 1],
    [
      'a.xml',
      `<testsuite>${`<testcase><failure>${'#x1B[31ma'.repeat(2_000)}</failure></testcase>`.repeat(1_000)}</testsuite>`,
      'the page is larger than 30 MB',
      undefined,
    ],
    [
      'a.ipynb',
      `{"nbformat":4,"cells":[${'{},'.repeat(500_000)}{}]}`,
      'the notebook has over 500000 objects, lists and fields',
      undefined,
    ],
    ['a.ipynb', '{"nbformat":3}', 'the file is not a notebook of format 4', undefined],
    ['a.md', Buffer.from('ok\nnot \xe9', 'latin1'), 'the file is not in UTF-8', 2],
    ['a.log', `${'\u001b[31ma'.repeat(1_500)}\n`.repeat(700), 'the page is larger than 30 MB', undefined],
  ])('a broken %s is refused with its line', async (name, text, problem, line) => {
    const fault = { message: problem, line, hint: expect.stringMatching(/./) };
    await expect(render(name, text)).rejects.toMatchObject(fault);
  });

  test('a CSV with a very long row gets the limit as a hint', async () => {
    const hint = 'split or shorten rows over 1000000 characters, and close each quote';
    await expect(render('a.csv', 'a,'.repeat(1_000_000))).rejects.toMatchObject({ hint });
  });
});

describe('the page', () => {
  test('names itself, its source and its digest, and allows nothing from elsewhere', async () => {
    const result = await render('a "b".md', '# T & `c`');
    const page = result.page.toString();
    expect(page).toContain('<title>T &amp; c</title>');
    expect(page).toContain("content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:;");
    expect(page).toContain('Source: <a href="a &quot;b&quot;.md">a &quot;b&quot;.md</a>, SHA-256 <code>');
    expect(page.replace(/<style>.*?<\/style>/s, '')).not.toMatch(/<script|<link|https?:/);
    expect(await render('a "b".md', '# T & `c`')).toEqual(result);
  });

  test('has the current styles of the libraries', () => {
    expect(readFileSync(new URL('../../../src/convert/render/styles.json', import.meta.url), 'utf8')).toBe(
      stylesJson(),
    );
  });

  test.each([
    'a.md',
    'A.MARKDOWN',
    'a.csv',
    'a.tsv',
    'a.json',
    'a.log',
    'a.txt',
    'a.ipynb',
    'a.xml',
    'a.patch',
    'a.ts',
    'Makefile',
  ])('renders %s', (name) => {
    expect(isRenderable(name)).toBe(true);
  });

  test.each(['a.html', 'a.xhtml', 'a.svg', 'a.png', 'a.zip', 'a', 'constructor'])(
    'does not render %s',
    (name) => {
      expect(isRenderable(name)).toBe(false);
    },
  );
});
