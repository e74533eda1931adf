import { expect, test } from '@jest/globals';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { render } from './rendering.ts';

const ATTACK = `</style></title></script>--><script>alert(1)</script><img src=x onerror=alert(1)>" onclick="alert(1)' x='`;

/** Each with its own ways out of the text. */
const HOSTILE: readonly (readonly [string, string])[] = [
  ['a.md', `# ${ATTACK}\n\n${ATTACK}\n\n![${ATTACK}](x.png "${ATTACK}") ![a](<x.png" onerror="a>)`],
  [
    'a.md',
    '[a](javascript:a) [b](JaVaScRiPt:a) [c](java&#10;script:a) [d](&#1;javascript:a) [e](vbscript:a) <javascript:a>',
  ],
  [
    'a.md',
    '[a](data:text/html,<script>a</script>) [b](data:image/svg+xml;base64,PHN2Zz4=) [c](data:image/png,a) <data:a,b>',
  ],
  ['a.md', '[a](blob:a) [b](file:///a) [c](vscode:a) [d](feed:javascript:a) [e]\n\n[e]: <javascript:a>'],
  [
    'a.md',
    `![a](javascript:a) ![b](data:text/html,a) ![c](data:image/svg+xml,<svg/onload=a>) ![d](data:image/png,"onerror="a)`,
  ],
  ['a.md', `\`\`\`"${ATTACK}\n${ATTACK}\n\`\`\`\n\n\`\`\`html\n${ATTACK}\n\`\`\`\n\n    ${ATTACK}`],
  [
    'a.md',
    `> [!NOTE] ${ATTACK}\n> a\n\n> [!NOTE]\n> ${ATTACK}\n\n| ${ATTACK} |\n|---|\n| ${ATTACK} |\n\n- [x] ${ATTACK}`,
  ],
  [
    'a.md',
    `a[^${ATTACK.replaceAll(' ', '')}]\n\n[^${ATTACK.replaceAll(' ', '')}]: ${ATTACK}\n\n---\n\n:${ATTACK}:`,
  ],
  ['a.md', `---\n~~~~~~~~~~\n${ATTACK}\n---\n${ATTACK}`],
  [
    `${ATTACK.replaceAll('/', '')}.csv`,
    `"${ATTACK.replaceAll('"', '""')}",b\n"${ATTACK.replaceAll('"', '""')}",1`,
  ],
  ['a.json', JSON.stringify({ [ATTACK]: [ATTACK, { [ATTACK]: null }] })],
  [
    'a.log',
    `${ATTACK}\n\u001b[31m${ATTACK}\n\u001b]8;;javascript:a\u0007b\u001b]8;;\u0007\u001b]8;;https:${ATTACK.replaceAll(' ', '')}\u0007b\u001b]8;;\u0007`,
  ],
  [
    'a.log',
    `\u001b]8;;data:text/html,a\u0007b\u001b]8;;\u0007\u001b]8;;constructor:a\u0007b\u001b]8;;\u0007\u001b[38;2;1;2;"onclick=am${ATTACK}`,
  ],
  ['a.diff', `-${ATTACK}\n+${ATTACK}`],
  ['a.html.xml', `<a b="&quot;${ATTACK.replaceAll(/[<"]/g, '')}">${ATTACK.replaceAll('<', '&lt;')}</a>`],
  ['a.js', `\`\${${ATTACK}}\`; /* ${ATTACK} */`],
  ...['name', 'classname', 'time', 'message'].map((attribute): readonly [string, string] => {
    const value = ATTACK.replaceAll('<', '&lt;').replaceAll('"', '&quot;');
    const suite = `<testsuite name="${value}"><testcase ${attribute}="${value}">`;
    return [
      'a.xml',
      `${suite}<failure ${attribute}="${value}"><![CDATA[${ATTACK}]]></failure></testcase></testsuite>`,
    ];
  }),
  [
    'a.ipynb',
    JSON.stringify({
      nbformat: 4,
      metadata: { language_info: { name: ATTACK } },
      cells: [
        {
          cell_type: 'markdown',
          source: [`${ATTACK} ![a](attachment:a)`],
          attachments: { a: { 'image/png': ATTACK } },
        },
        { cell_type: 'raw', source: ATTACK },
        {
          cell_type: 'code',
          source: ATTACK,
          execution_count: ATTACK,
          outputs: [
            { output_type: 'stream', text: ATTACK },
            { output_type: 'error', ename: ATTACK, evalue: ATTACK, traceback: [ATTACK] },
            ...[
              'text/html',
              'text/plain',
              'text/markdown',
              'image/png',
              'image/svg+xml',
              'application/json',
            ].map((type) => ({
              output_type: 'display_data',
              data: { [type]: ATTACK },
            })),
          ],
        },
      ],
    }),
  ],
];

/** All elements with their attributes, as a browser reads them. */
function* elementsOf(node: DefaultTreeAdapterTypes.Node): Generator<DefaultTreeAdapterTypes.Element> {
  if ('tagName' in node) yield node;
  for (const child of 'childNodes' in node ? node.childNodes : []) yield* elementsOf(child);
}

const ELEMENTS =
  'a,b,body,code,details,div,em,footer,h1,h2,head,hr,html,i,img,input,li,main,meta,ol,p,pre,section,span,strong,style,summary,sup,table,tbody,td,th,thead,title,tr,ul,blockquote,br,s';
const ATTRIBUTES =
  'alt,aria-hidden,charset,checked,class,content,dir,disabled,href,http-equiv,id,name,open,src,style,title,type';

test.each(HOSTILE)('a hostile %s is only text: %j', async (name, text) => {
  const { page } = await render(name, text);
  const elements = [...elementsOf(parse(page.toString()))];
  expect(elements.length).toBeGreaterThan(10);
  expect(elements.map(({ tagName }) => tagName).filter((tag) => !ELEMENTS.split(',').includes(tag))).toEqual(
    [],
  );
  const attributes = elements.flatMap(({ attrs }) => attrs);
  expect(attributes.filter((one) => !ATTRIBUTES.split(',').includes(one.name))).toEqual([]);
  const links = attributes
    .filter((one) => one.name === 'href')
    .map(({ value }) => new URL(value, 'https://a.example/b'));
  expect(links.filter(({ protocol }) => !['https:', 'http:', 'mailto:'].includes(protocol))).toEqual([]);
  const pictures = attributes.filter((one) => one.name === 'src').map(({ value }) => value);
  expect(pictures.filter((src) => !src.startsWith('data:image/'))).toEqual([]);
});
