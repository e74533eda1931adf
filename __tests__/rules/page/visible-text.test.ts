import { describe, expect, test } from '@jest/globals';
import { hasVisibleText } from '../../../src/rules/page/visible-text.ts';

describe('the visible text of a page', () => {
  test.each([
    ['a paragraph', '<p>build-42</p>'],
    ['two elements', '<b>build-</b><i>42</i>'],
    ['an entity', '<p>build&#45;42</p>'],
    ['other line breaks', '<p>build-\n42</p>'],
    ['an open detail', '<details open><p>build-42</p></details>'],
    ['the title of a closed detail', '<details><summary>build-42</summary>x</details>'],
    ['a drawing', '<svg><text>build-42</text></svg>'],
    ['plain text without elements', 'build-42'],
  ])('has what stands in %s', (_, html) => {
    expect(hasVisibleText(html, 'build-42')).toBe(true);
  });

  test.each([
    ['a comment', '<!-- build-42 --><p>x</p>'],
    ['an attribute', '<p data-build="build-42">x</p>'],
    ['a title', '<title>build-42</title><p>x</p>'],
    ['a script', '<script>const build = "build-42"</script><p>x</p>'],
    ['a template', '<template><p>build-42</p></template>'],
    ['a hidden element', '<p hidden>build-42</p>'],
    ['an element below a hidden one', '<div style="color: red; display:none"><p>build-42</p></div>'],
    ['a closed detail', '<details><summary>x</summary>build-42</details>'],
    ['a closed dialog', '<dialog>build-42</dialog>'],
  ])('has nothing of %s', (_, html) => {
    expect(hasVisibleText(html, 'build-42')).toBe(false);
  });
});
