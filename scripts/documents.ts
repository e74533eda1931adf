import { readFileSync, writeFileSync } from 'node:fs';
import { machineContract } from '../src/protocol/contract.ts';
import { INPUTS, OUTPUTS } from '../src/request/inputs.ts';

/** The machine contract as it stands at the root. @see protocol 2.1 */
export function contractJson(): string {
  return `${JSON.stringify(machineContract(), null, 2)}\n`;
}

/** The action's description, with the inputs and outputs of both faces' one table. */
export function actionYml(): string {
  return [
    '# Made by `npm run build` from src/request/inputs.ts.',
    'name: Screen Delivery',
    'description: Publishes a file, fetches it back from the public address, proves its bytes, and only then hands over the https URL.',
    'author: Screen Delivery',
    'branding:',
    '  icon: check-circle',
    '  color: green',
    'inputs:',
    ...Object.entries(INPUTS).flatMap(([name, input]) => [
      `  ${name}:`,
      `    description: ${quoted(input.description)}`,
      '    required: false',
      `    default: ${quoted(input.default)}`,
    ]),
    'outputs:',
    ...Object.entries(OUTPUTS).flatMap(([name, description]) => [
      `  ${name}:`,
      `    description: ${quoted(description)}`,
    ]),
    'runs:',
    '  using: node24',
    '  main: dist/index.js',
    '',
  ].join('\n');
}

/** The README with its tables of inputs and outputs made anew. */
export function readme(standing: string): string {
  const inputs = Object.entries(INPUTS).map(([name, input]) => {
    const value = input.default === '' ? '–' : `\`${input.default}\``;
    return `| \`${name}\` | ${value} | ${input.description} |`;
  });
  const outputs = Object.entries(OUTPUTS).map(([name, description]) => `| \`${name}\` | ${description} |`);
  return [
    { mark: 'inputs', table: ['| Input | Default | Meaning |', '| --- | --- | --- |', ...inputs] },
    { mark: 'outputs', table: ['| Output | Meaning |', '| --- | --- |', ...outputs] },
  ].reduce((text, { mark, table }) => {
    const place = new RegExp(`(<!-- ${mark} -->\\n)[^]*(<!-- /${mark} -->)`);
    return text.replace(place, (_, before, after) => `${before}${table.join('\n')}\n${after}`);
  }, standing);
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

if (process.argv[1] === import.meta.filename) {
  writeFileSync('contract.json', contractJson());
  writeFileSync('action.yml', actionYml());
  writeFileSync('README.md', readme(readFileSync('README.md', 'utf8')));
}
