import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  findFailedRequests,
  MODEL_FOLDER,
  type ModelFile,
  type ModelReference,
  type ModelSite,
  type ModelUse,
  writeModelFile,
} from './browser-model.ts';
import { inspect } from './sites.ts';

const PAGES = ['index.html', 'p.html', '404.html', 'd/index.html', 'd/q.html', 'd e/r.html'];
const SHEETS = ['s.css', 'd/t.css'];
const SCRIPTS = ['m.js', 'd/n.js', 'd/e/o.js'];
const DATA = ['i.png', 'd/I.png', 'd/ü.png'];
const PATHS = [...PAGES, ...SHEETS, ...SCRIPTS, ...DATA];

const PAGE_USES: readonly ModelUse[] = [
  ...(['img', 'script', 'module', 'sheet', 'frame', 'background', 'inline-module', 'link', 'link'] as const),
  ...(['icon', 'preload', 'template', 'print-sheet'] as const),
];

const SHEET_USES: readonly ModelUse[] = ['background', 'sheet-import'];

const encode = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** How a file may be meant, from a file in some folder. */
function writeAddress(form: number, target: string, from: string): string {
  const up = '../'.repeat(from.split('/').length - 1);
  const relative = `${up === '' ? './' : up}${encode(target)}`;
  const forms = [
    relative,
    relative,
    relative,
    `${relative}?v=1#x`,
    `${MODEL_FOLDER}${encode(target)}`,
    `./${encode(target)}`,
    relative.replace(/(?:index)?\.html$/, ''),
    relative.replace('/d/', '/d/./x/../'),
    `../${relative}`,
    `/${encode(target)}`,
    relative.toUpperCase(),
    `https://other.example/${encode(target)}`,
  ];
  return forms[form] ?? relative;
}

/** Most references are right, so that many random sites are accepted. */
const form = fc.oneof({ weight: 20, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(11) });

const reference = (
  path: string,
  uses: readonly ModelUse[],
  targets: readonly string[],
): fc.Arbitrary<ModelReference> =>
  fc.record({ use: fc.constantFrom(...uses), target: fc.constantFrom(...targets), form }).map(
    (chosen): ModelReference => ({
      use: chosen.use,
      address: writeAddress(chosen.form, chosen.target, path),
    }),
  );

const file = (path: string): fc.Arbitrary<ModelFile> => {
  const list = (
    uses: readonly ModelUse[],
    targets: readonly string[],
  ): fc.Arbitrary<readonly ModelReference[]> => fc.array(reference(path, uses, targets), { maxLength: 4 });
  if (path.endsWith('.css')) return fc.record({ references: list(SHEET_USES, [...DATA, ...SHEETS]) });
  if (path.endsWith('.js')) return fc.record({ references: list(['import', 'call'], SCRIPTS) });
  if (!path.endsWith('.html')) return fc.constant({ references: [] });
  const base = fc.oneof(
    { weight: 15, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom('./', '../', '/', MODEL_FOLDER, 'd/', 'https://other.example/') },
  );
  return fc.record({ references: list(PAGE_USES, PATHS), base });
};

/** A site that lacks few of its files. */
const site: fc.Arbitrary<ModelSite> = fc
  .record(Object.fromEntries(PATHS.map((path) => [path, file(path)])))
  .chain((files) =>
    fc
      .subarray(PATHS.slice(1), { minLength: PATHS.length - 3 })
      .map(
        (kept): ModelSite =>
          Object.fromEntries(['index.html', ...kept].map((path) => [path, files[path] as ModelFile])),
      ),
  );

describe('a random site', () => {
  test('is refused exactly if a browser that opens its pages would miss code or need another host', async () => {
    const seen = { refused: 0, accepted: 0 };
    await fc.assert(
      fc.asyncProperty(site, async (files) => {
        const texts = Object.fromEntries(
          Object.entries(files).map(([path, model]) => [path, writeModelFile(path, model)]),
        );
        const { refusals, unknown } = await inspect(texts, { sitePath: MODEL_FOLDER });
        // The host is asked for what lies outside of the folder, and that of the model has none of it.
        const lacks = unknown.some(({ url }) => url !== undefined);
        const failed = findFailedRequests(files);
        expect({ isRefused: refusals.length > 0 || lacks, failed, refusals }).toEqual({
          isRefused: failed.length > 0,
          failed,
          refusals,
        });
        seen[failed.length > 0 ? 'refused' : 'accepted'] += 1;
      }),
      { numRuns: 500, seed: 15 },
    );
    // Both cases occur often enough to mean something.
    expect(Math.min(seen.refused, seen.accepted)).toBeGreaterThan(50);
  });
});
