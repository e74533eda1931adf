import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');

/** @see https://docs.github.com/en/communities/using-templates-to-encourage-useful-issues-and-pull-requests/syntax-for-githubs-form-schema */
interface Form {
  readonly name: string;
  readonly description: string;
  readonly body: readonly {
    readonly type: string;
    readonly id?: string;
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly validations?: Readonly<Record<string, boolean>>;
  }[];
}

const FORMS = globSync('.github/ISSUE_TEMPLATE/*.yml', { cwd: ROOT }).filter(
  (path) => !path.endsWith('config.yml'),
);

describe('the issue templates', () => {
  test.each(FORMS)('contain %s as a valid form', (path) => {
    const { name, description, body } = parse(read(path)) as Form;
    expect([typeof name, typeof description]).toEqual(['string', 'string']);
    const asked = body.filter(({ type }) => type !== 'markdown');
    expect(asked.length).toBeGreaterThan(0);
    for (const { type, attributes } of body) {
      expect(['markdown', 'input', 'textarea', 'dropdown', 'checkboxes']).toContain(type);
      expect(typeof attributes[type === 'markdown' ? 'value' : 'label']).toBe('string');
    }
    const ids = asked.map(({ id }) => id);
    expect(new Set(ids).size).toBe(asked.length);
    expect(ids.filter((id) => !/^[\w-]+$/.test(id ?? ''))).toEqual([]);
  });

  test('ask for the report of the delivery in a bug report', () => {
    const { body } = parse(read('.github/ISSUE_TEMPLATE/bug.yml')) as Form;
    const report = body.find(({ id }) => id === 'report');
    expect(report?.validations).toEqual({ required: true });
  });

  test('allow no blank issues', () => {
    expect(FORMS).toHaveLength(2);
    expect(parse(read('.github/ISSUE_TEMPLATE/config.yml'))).toEqual({ blank_issues_enabled: false });
  });
});
