import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { TestRepository } from '../world/repository.ts';
import type { WorkflowEvent } from '../world/workflow/event.ts';
import { expectReady } from './expect-report.ts';
import { createPage, listRequests, setUpScenario, waitForAll } from './scenario.ts';
import { createWorkflowEvent } from './workflow-events.ts';
import {
  findStep,
  getOnlyDelivery,
  listConclusions,
  listDeliveries,
  listJobDeliveries,
  SITE_WITHOUT_PUSH_BUILDS,
  setUpPlayer,
} from './workflow-player.ts';

const scenario = setUpScenario();
const player = setUpPlayer(scenario);

const ROOT = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
const shown = async (url: string | undefined): Promise<string> =>
  String(await scenario.fetchPublic(url ?? ''));
const linesOf = (text = ''): string[] => text.split('\n');
/** A push of files that a script is made of. */
const push = (repository: TestRepository, files: Record<string, string>, ref?: string): WorkflowEvent =>
  createWorkflowEvent(repository, 'push', {}, files, ref);

describe('the examples', () => {
  const examples = globSync('examples/*', { cwd: ROOT }).sort();

  test('are explained in the recipes, each by a link', () => {
    const linked = read('docs/recipes.md').match(/(?<=\]\(\.\.\/)examples\/[\w-]+\.yml(?=\))/g) ?? [];
    expect([...new Set(linked)].sort()).toEqual(examples);
  });

  test('are all played', () => {
    const scenarios = globSync('__tests__/scenarios/examples*.test.ts', { cwd: ROOT }).map(read).join('\n');
    expect(examples.filter((example) => !scenarios.includes(`'${example}'`))).toEqual([]);
  });

  test('pin the commits that the project itself has looked at', () => {
    const pinsIn = (path: string) => read(path).match(/[\w./-]+@[0-9a-f]{40} # v\S+/g) ?? [];
    const own = globSync('.github/workflows/*.yml', { cwd: ROOT }).flatMap(pinsIn);
    const others = [
      'softprops/action-gh-release@b4309332981a82ec1c5618f44dd2e27cc8bfbfda # v3.0.0',
      'actions/upload-pages-artifact@56afc609e74202658d3ffba0e8f6dda462b719fa # v3.0.1',
      'actions/deploy-pages@d6db90164ac5ed86f2b6aed7e0febac5b3c0c03e # v4.0.5',
      'nwtgck/actions-netlify@4cbaf4c08f1a7bfa537d6113472ef4424e4eb654 # v3.0.0',
      'cloudflare/wrangler-action@da0e0dfe58b7a431659754fdf3f186c529afbe65 # v3.14.1',
    ];
    const known = [...own, ...others];
    expect(examples.flatMap(pinsIn).filter((pin) => !known.includes(pin))).toEqual([]);
  });
});

describe('a report every night', () => {
  const NIGHTLY = 'examples/nightly-report.yml';
  const REPORT = `#!/bin/sh
mkdir -p report/suites
cp page.html report/index.html
echo '<!doctype html><title>Unit</title>' > report/suites/unit.html
`;
  const night = (repository: TestRepository, text: string, schedule = '17 3 * * *'): WorkflowEvent => {
    const files = { 'report.sh': REPORT, 'page.html': createPage(text) };
    return createWorkflowEvent(repository, 'schedule', { schedule }, files);
  };

  test('is a folder at one address, of which the next night writes what changed', async () => {
    const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
    const url = `${repository.pages.url}reports/latest/`;
    for (const [text, commits] of [
      ['first', 2],
      ['second', 3],
    ] as const) {
      const run = await player.run(NIGHTLY, night(repository, text));
      expect(listConclusions(run)).toEqual(['success', 'report: success']);
      expect(getOnlyDelivery(run).outputs.url).toBe(url);
      expect(await shown(url)).toBe(createPage(text));
      expect(await repository.log()).toHaveLength(commits);
    }
    expect(await shown(`${url}suites/unit.html`)).toBe('<!doctype html><title>Unit</title>\n');
    expect((await repository.log())[0]?.files).toEqual(['reports/latest/index.html']);
  });

  test('another schedule is not its business', async () => {
    const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
    expect(await player.run(NIGHTLY, night(repository, 'first', '0 0 * * 0'))).toBeNull();
  });
});

test('three binaries of a release: each is an asset, and its address is proven', async () => {
  const repository = await scenario.repository({ pages: false });
  const names = ['tool-linux', 'tool-macos', 'tool-windows.exe'];
  const build = `#!/bin/sh\nmkdir -p out\nfor name in ${names.join(' ')}; do echo "binary $name" > out/$name; done\n`;
  const tagged = push(repository, { 'build.sh': build }, 'refs/tags/v1.2.0');
  const run = await player.run('examples/release-binaries.yml', tagged);
  expect(listConclusions(run)).toEqual(['success', 'release: success']);
  const below = `https://github.com/${repository.fullName}/releases/download/v1.2.0`;
  const urls = names.map((name) => `${below}/${name}`);
  expect(linesOf(getOnlyDelivery(run).outputs.url)).toEqual(urls);
  expect(await Promise.all(urls.map(shown))).toEqual(names.map((name) => `binary ${name}\n`));
  expect(findStep(run, 'List the proven downloads')?.summary).toBe(`${urls.join('\n')}\n`);
});

test('a signed receipt: what is signed is what the address answers', async () => {
  const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
  const files = { 'report.sh': '#!/bin/sh\ncp page.html report.html\n', 'page.html': createPage() };
  const run = await player.run('examples/signed-receipt.yml', push(repository, files));
  expect(listConclusions(run)).toEqual(['success', 'report: success']);
  const { outputs, workspace } = getOnlyDelivery(run);
  const digest = createHash('sha256').update(createPage()).digest('hex');
  expect(JSON.parse(readFileSync(join(workspace, 'attestation.json'), 'utf8'))).toMatchObject({
    subject: [`${digest}  ${outputs.url}`],
    predicateType: 'https://in-toto.io/attestation/svr/v0.2',
    predicate: { properties: expect.arrayContaining(['SCREEN_DELIVERY_BYTES_IDENTICAL_TO_THE_FILE']) },
  });
  expect(findStep(run, 'Tell how to check it')?.summary).toContain(
    `gh attestation verify report.html --repo ${repository.fullName} --predicate-type https://in-toto.io/attestation/svr/v0.2`,
  );
});

test('a weekly audit: an issue while a page is lost, and closed when it is back', async () => {
  const repository = await scenario.repository();
  const files = { 'page.html': createPage() };
  await scenario.deliver({ repository, files, inputs: { channel: 'K1', path: 'page.html' } });
  const monday = createWorkflowEvent(repository, 'schedule', { schedule: '23 4 * * 1' }, {});
  const audit = () => player.run('examples/audit.yml', monday);
  expect(listConclusions(await audit())).toEqual(['success', 'audit: success']);
  const loss = scenario.intercept(
    { url: (address) => address.startsWith(`${repository.pages.url}page.html`), times: 9_999 },
    { status: 404 },
  );
  expect(listConclusions(await audit())).toEqual(['failure', 'audit: failure']);
  expect(await repository.issues.list()).toMatchObject([{ state: 'open' }]);
  loss.remove();
  expect(listConclusions(await audit())).toEqual(['success', 'audit: success']);
  expect(await repository.issues.list()).toMatchObject([{ state: 'closed' }]);
});

test('a large artifact: the asset of the tag’s release, a duplicate on the file-bin, and how to check it', async () => {
  const repository = await scenario.repository({ pages: false });
  const build = '#!/bin/sh\nmkdir -p out\nseq 1 300000 > out/numbers.txt\n';
  const tagged = (tag: string) => push(repository, { 'build.sh': build }, `refs/tags/${tag}`);
  expect(await player.run('examples/large-artifact.yml', tagged('w1'))).toBeNull();
  const run = await player.run('examples/large-artifact.yml', tagged('v1.2.0'));
  expect(listConclusions(run)).toEqual(['success', 'deliver: success']);
  const { outputs, report } = getOnlyDelivery(run);
  expect(outputs.url).toBe(
    `https://github.com/${repository.fullName}/releases/download/v1.2.0/dataset.tar.gz`,
  );
  expect(outputs['duplicate-url']).toMatch(/^https:\/\/filebin\.net\/sv\d+-\w+\/dataset\.tar\.gz$/);
  const [asset, duplicate] = await Promise.all(
    [outputs.url, outputs['duplicate-url']].map((url = '') => scenario.fetchPublic(url)),
  );
  expect(asset?.length).toBe(report.file?.size);
  expect(asset?.equals(duplicate ?? Buffer.alloc(0))).toBe(true);
  expect(repository.releases().map(({ tag }) => tag)).toEqual(['v1.2.0']);
  expect(linesOf(findStep(run, 'Tell how to get it, and how to check it')?.summary)).toEqual([
    `    curl --location --output dataset.tar.gz ${outputs.url}`,
    `    echo '${outputs.sha256}  dataset.tar.gz' | sha256sum --check`,
    '',
    `For a week also at <${outputs['duplicate-url']}>`,
    '',
  ]);
});

describe('a release with notes by another action', () => {
  const EXAMPLE = 'examples/release-with-notes.yml';
  const BUILD = '#!/bin/sh\nmkdir -p out\nseq 1 3000 > out/numbers.txt\necho "$1" > out/log.txt\n';
  const NOTES = '**Full Changelog** of v1.2.0';
  const tagged = (repository: TestRepository): WorkflowEvent =>
    push(repository, { 'build.sh': BUILD }, 'refs/tags/v1.2.0');

  test('takes the proven files, keeps its notes, and a second run adds nothing', async () => {
    const repository = await scenario.repository({ pages: false });
    const run = await player.run(EXAMPLE, tagged(repository));
    expect(listConclusions(run)).toEqual(['success', 'release: success']);
    const [release, ...more] = repository.releases();
    expect(more).toEqual([]);
    expect(release).toMatchObject({ tag: 'v1.2.0', draft: false, body: NOTES });
    const below = `https://github.com/${repository.fullName}/releases/download/v1.2.0`;
    const urls = linesOf(getOnlyDelivery(run).outputs.url);
    expect(urls).toEqual([`${below}/log.txt`, `${below}/numbers.txt`]);
    expect((await shown(urls[1])).split('\n')).toHaveLength(3_001);
    expect(findStep(run, 'List the proven downloads')?.summary).toBe(`${urls.join('\n')}\n`);

    const again = await player.run(EXAMPLE, tagged(repository));
    expect(listConclusions(again)).toEqual(['success', 'release: success']);
    expect(repository.releases()).toEqual([release]);
    expect(listRequests(scenario, /uploads\.github\.com/)).toHaveLength(2);
  });

  test('is refused where it is immutable at once, and the step says so', async () => {
    const repository = await scenario.repository({ pages: false });
    repository.immutableReleases(true);
    const run = await player.run(EXAMPLE, tagged(repository));
    expect(listConclusions(run)).toEqual(['failure', 'release: failure']);
    expect(getOnlyDelivery(run).report.notReady?.reason).toMatch(/the release v1\.2\.0 is immutable/);
    expect(repository.releases()).toMatchObject([{ tag: 'v1.2.0', body: NOTES, assets: [] }]);
  });
});

test('a matrix: jobs side by side publish each its own, and the last leads to all, also to what failed', async () => {
  const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
  // All three jobs are under way before one of them goes on.
  scenario.meanwhile({ method: 'GET', url: /contents\/suites/, times: 3 }, waitForAll(3));
  const suite = '#!/bin/sh\necho "<!doctype html><title>$1</title>" > report.html\n[ "$1" != load ]\n';
  const run = await player.run('examples/matrix.yml', push(repository, { 'run-suite.sh': suite }));
  const suites = ['suite: success', 'suite: success', 'suite: failure'];
  expect(listConclusions(run)).toEqual(['failure', ...suites, 'overview: success']);
  const jobs = (run?.jobs ?? []).filter(({ id }) => id === 'suite');
  const delivered = jobs.flatMap(listJobDeliveries);
  const urls = ['unit', 'browser', 'load'].map((name) => `${repository.pages.url}suites/${name}.html`);
  expect(delivered.map(({ outputs }) => outputs.url)).toEqual(urls);
  expect(await shown(urls[0])).toBe('<!doctype html><title>unit</title>\n');
  expect(await shown(urls[2])).toBe('<!doctype html><title>load</title>\n');
  const [overview] = (run?.jobs ?? []).filter(({ id }) => id === 'overview').flatMap(listJobDeliveries);
  const lines = linesOf(await shown(overview?.outputs.url)).filter((line) => line.startsWith('<li>'));
  expect(lines.sort()).toEqual([
    `<li><a href="${urls[1]}">browser</a>: success`,
    `<li><a href="${urls[2]}">load</a>: failure`,
    `<li><a href="${urls[0]}">unit</a>: success`,
  ]);
  const log = (await repository.log()).slice(0, -1);
  expect(log.map(({ files }) => files.length)).toEqual([1, 1, 1, 1]);
});

describe('an agent', () => {
  const AGENT = 'examples/agent.yml';
  /** It uses a font from elsewhere, unless it is told that this is refused. */
  const CARELESS = `#!/bin/sh
case "$REPORT" in *'not self-contained'*) font= ;; *) font='<link rel=stylesheet href=https://fonts.example.com/x.css>' ;; esac
echo "<!doctype html><title>Answer</title>$font<p>$TASK</p><p>$MARKER</p>" > answer.html
`;
  const CAREFUL = CARELESS.replace(/^case .*$/m, 'font=');
  const TASK = 'Show $(touch pwned) `touch pwned` and "quotes"';

  const asks = (repository: TestRepository, agent: string): WorkflowEvent =>
    createWorkflowEvent(repository, 'workflow_dispatch', { inputs: { task: TASK } }, { 'agent.sh': agent });

  test('is told by the dry run what would be refused, mends it, and answers with the proven address', async () => {
    const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
    const run = await player.run(AGENT, asks(repository, CARELESS));
    expect(listConclusions(run)).toEqual(['success', 'answer: success']);
    const [rehearsal, delivery] = listDeliveries(run);
    if (rehearsal === undefined || delivery === undefined) throw new Error('Not two deliveries.');
    expect(rehearsal.report.notReady?.reason).toMatch(/is not self-contained/);
    expect(findStep(run, 'The agent fixes what would be refused')?.succeeded).toBe(true);
    const url = `${repository.pages.url}answers/${run?.id}.html`;
    const answer = `<!doctype html><title>Answer</title><p>${TASK}</p><p>answer-${run?.id}-1</p>\n`;
    await expectReady(scenario, delivery, { channel: 'K1', url, shows: answer });
    expect(findStep(run, 'Answer')?.summary).toBe(`${url}\n`);
    expect(globSync('pwned', { cwd: delivery.workspace })).toEqual([]);
  });

  test('that has nothing to mend is not asked again, and the rehearsal writes nothing', async () => {
    const repository = await scenario.repository(SITE_WITHOUT_PUSH_BUILDS);
    const run = await player.run(AGENT, asks(repository, CAREFUL));
    expect(listConclusions(run)).toEqual(['success', 'answer: success']);
    const [rehearsal] = listDeliveries(run);
    expect(rehearsal?.report.notReady?.code).toBe('DRY_RUN');
    expect(findStep(run, 'The agent fixes what would be refused')).toBeUndefined();
    expect(listRequests(scenario, /^PUT .*\/contents\//)).toHaveLength(1);
  });

  test('whose page can’t be delivered answers with the report, and with no address', async () => {
    const repository = await scenario.repository({
      pages: { ...SITE_WITHOUT_PUSH_BUILDS.pages, builds: 'errored' },
    });
    const run = await player.run(AGENT, asks(repository, CAREFUL));
    expect(listConclusions(run)).toEqual(['success', 'answer: success']);
    const answer = findStep(run, 'Answer')?.summary ?? '';
    expect(answer).toMatch(/^CLAIM: .*\n[\s\S]*^RESULT: НЕ ГОТОВО → the site's build failed/m);
    expect(answer).not.toContain('github.io');
  });
});
