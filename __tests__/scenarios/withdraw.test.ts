import { describe, expect, test } from '@jest/globals';
import { commitOwned } from '../support/commit-owned.ts';
import { createWorldClient } from '../world/client.ts';
import { expectNotReady } from './expect-report.ts';
import { createPage, type DeliveredStep, listRequests, setUpScenario } from './scenario.ts';

const scenario = setUpScenario();
const files = { 'page.html': createPage() };
const withdrawal = { operation: 'withdraw' };

/** What an address answers to anybody. */
async function codeAt(url: string): Promise<string> {
  return scenario.fetchPublic(url).then(
    () => '200',
    (thrown: Error) => /\b[345]\d\d\b/.exec(thrown.message)?.[0] ?? thrown.message,
  );
}

/** Everything that was taken away is proven to be gone, and no address is handed over. */
function expectWithdrawn(
  { exitCode, outputs, reports, summary }: DeliveredStep,
  subjects: readonly string[],
  became = /^ГОТОВО, withdrawn: \S+ is (?:no longer served|removed; see UNKNOWN)$/,
): void {
  expect(reports.map(({ notReady }) => notReady)).toEqual(subjects.map(() => null));
  expect({ exitCode, result: outputs.result, url: outputs.url }).toEqual({
    exitCode: 0,
    result: 'withdrawn',
    url: '',
  });
  expect(reports.map(({ lines }) => lines.CLAIM.split(' ')[0]).sort()).toEqual([...subjects].sort());
  for (const { lines, gates } of reports) {
    expect(gates.every(({ passed }) => passed)).toBe(true);
    expect(lines.RESULT).toMatch(became);
    expect(Object.values(lines).join('\n')).not.toContain('ГОТОВО →');
    expect(lines.TEST).toMatch(/HTTP 404; nothing is served (?:there|past caches)/);
  }
  expect(summary).not.toBe('');
}

describe('K1', () => {
  test('a delivered page is taken away again, and its address answers 404', async () => {
    const repository = await scenario.repository();
    const inputs = { channel: 'K1', path: 'previews/page.html' };
    const { outputs } = await scenario.deliver({ repository, files, inputs });
    const withdrawn = await scenario.deliver({ repository, inputs: { ...inputs, ...withdrawal } });
    expectWithdrawn(withdrawn, ['previews/page.html']);
    expect(await repository.read('previews/page.html')).toBeNull();
    expect(await codeAt(outputs.url ?? '')).toBe('404');
    const [last] = await repository.log();
    expect(last?.message).toMatch(/^REMOVE page\.html: from run \d+ of .*\n\nDelivered-by: screen-delivery/);
    expect(last?.files).toEqual(['previews/page.html']);
    // Once more: there is nothing left to do.
    const again = await scenario.deliver({ repository, inputs: { ...inputs, ...withdrawal } });
    expectWithdrawn(
      again,
      ['previews/page.html'],
      /^ГОТОВО, nothing to withdraw(?:: \S+ is not served| in \S+; see UNKNOWN)$/,
    );
    expect(await repository.log()).toHaveLength(3);
  });

  test("a folder: all of ours below it in one push, what is somebody else's stays", async () => {
    const repository = await scenario.repository();
    const inputs = { channel: 'K1', path: 'previews/pr-12/' };
    const many = Object.fromEntries(
      [1, 2, 3, 4].map((at) => [`out/${at}/page.html`, createPage(String(at))]),
    );
    await scenario.deliver({ repository, files: many, inputs: { ...inputs, file: 'out/**' } });
    await repository.commit('previews/pr-12/theirs.html', 'theirs');
    await commitOwned(repository, 'previews/pr-123/page.html', createPage());
    const before = (await repository.log()).length;
    scenario.world.traffic.clear();
    const withdrawn = await scenario.deliver({ repository, inputs: { ...inputs, ...withdrawal } });
    expectWithdrawn(
      withdrawn,
      [1, 2, 3, 4].map((at) => `previews/pr-12/${at}/page.html`),
      /^ГОТОВО, withdrawn: \S+ is (?:no longer served|removed; see UNKNOWN)$/,
    );
    expect(withdrawn.reports[0]?.lines.UNKNOWN).toMatch(/^what stays in previews\/pr-12\/.*theirs\.html;/);
    expect(withdrawn.stdout).toContain('not removed: previews/pr-12/theirs.html');
    const log = await repository.log();
    expect(log).toHaveLength(before + 4);
    expect(log.slice(0, 4).map(({ files: changed }) => changed.length)).toEqual([1, 1, 1, 1]);
    expect(
      listRequests(scenario, /^PATCH /).length +
        scenario.world.traffic.exchanges(/^POST .*git-receive-pack/).length,
    ).toBe(1);
    expect(String(await repository.read('previews/pr-12/theirs.html'))).toBe('theirs');
    expect(await repository.read('previews/pr-123/page.html')).not.toBeNull();
  });

  test("somebody else's file is never taken away, unless its owner says so", async () => {
    const repository = await scenario.repository();
    await repository.commit('page.html', createPage());
    const inputs = { channel: 'K1', path: 'page.html', ...withdrawal };
    const refused = await scenario.deliver({ repository, inputs });
    expectNotReady(refused, {
      step: 'place',
      reason: /page\.html already exists .* did not deliver what it holds now/,
      hint: /overwrite: true/,
    });
    expect(await repository.read('page.html')).not.toBeNull();
    expectWithdrawn(await scenario.deliver({ repository, inputs: { ...inputs, overwrite: 'true' } }), [
      'page.html',
    ]);
  });
});

describe('K2', () => {
  const inputs = { channel: 'K2', tag: 'files-1' };

  test('the asset with the same bytes goes, and the release stays with its tag', async () => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({ repository, files, inputs });
    expect(delivered.outputs.result).toBe('ready');
    expectWithdrawn(await scenario.deliver({ repository, files, inputs: { ...inputs, ...withdrawal } }), [
      'page.html',
    ]);
    expect(repository.releases()).toMatchObject([{ tag: 'files-1', assets: [] }]);
    expect(await codeAt(delivered.outputs.url ?? '')).toBe('404');
  });

  test('where its release or its tag is gone already, there is nothing to do and nothing to warn of', async () => {
    const repository = await scenario.repository();
    const { token } = await scenario.deliver({ repository, files, inputs });
    const api = createWorldClient(scenario.world, token);
    const path = `/repos/${repository.fullName}`;
    const [release] = repository.releases();
    await api.send(`DELETE ${path}/git/refs/tags/files-1`);
    await api.send(`DELETE ${path}/releases/${release?.id}`);
    await api.close();
    scenario.world.traffic.clear();
    const withdrawn = await scenario.deliver({ repository, files, inputs: { ...inputs, ...withdrawal } });
    expectWithdrawn(
      withdrawn,
      ['page.html'],
      /^ГОТОВО, nothing to withdraw(?:: \S+ is not served| in \S+; see UNKNOWN)$/,
    );
    expect(withdrawn.stdout).not.toContain('::warning');
    expect(listRequests(scenario, /^(DELETE|PATCH|PUT) /)).toEqual([]);
  });

  test('an asset whose bytes nobody vouches for stays', async () => {
    const repository = await scenario.repository();
    await scenario.deliver({ repository, files, inputs });
    for (const asset of repository.releases().flatMap(({ assets }) => assets)) asset.label = 'by hand';
    const other = { 'page.html': createPage('other') };
    const refused = await scenario.deliver({
      repository,
      files: other,
      inputs: { ...inputs, ...withdrawal },
    });
    expectNotReady(refused, {
      step: 'place',
      reason: /nothing shows that the asset page\.html .* is yours/,
      hint: /overwrite: true/,
    });
    expect(repository.releases().flatMap(({ assets }) => assets)).toHaveLength(1);
  });
});

describe('K3', () => {
  test('the file goes from its bin', async () => {
    const repository = await scenario.repository();
    const inputs = { channel: 'K3', bin: 'withdraw-me-42' };
    const delivered = await scenario.deliver({ repository, files, inputs });
    expect(delivered.outputs.result).toBe('ready');
    const withdrawn = await scenario.deliver({ repository, files, inputs: { ...inputs, ...withdrawal } });
    expectWithdrawn(withdrawn, ['page.html']);
    expect(await codeAt(delivered.outputs.url ?? '')).toBe('404');
  });
});

describe('a dry run', () => {
  test.each([
    ['K1', { channel: 'K1' }, /ADD page\.html/],
    ['K2', { channel: 'K2' }, /the release files-\d+ would be created/],
    ['K3', { channel: 'K3' }, /page\.html would be posted/],
    ['K1 with a duplicate', { channel: 'K1+K3' }, /ADD page\.html/],
    ['a withdrawal', { channel: 'K1', path: 'page.html', ...withdrawal }, /nothing exists there/],
  ])('%s: all checks and the plan, and not one write on the wire', async (_, inputs, foreseen) => {
    const repository = await scenario.repository();
    const delivered = await scenario.deliver({ repository, files, inputs: { ...inputs, 'dry-run': 'true' } });
    expect(delivered.exitCode).toBe(0);
    expect(delivered.outputs).toMatchObject({ result: 'planned', url: '' });
    expect(delivered.report.notReady?.code).toBe('DRY_RUN');
    expect(delivered.stdout).toMatch(foreseen);
    // A question in GraphQL is a POST.
    expect(listRequests(scenario, /^(?!GET |CONNECT |POST \S+\/graphql)/)).toEqual([]);
    expect(await repository.log()).toHaveLength(1);
  });

  test('what would fail fails', async () => {
    const repository = await scenario.repository();
    await repository.commit('page.html', 'theirs');
    const delivered = await scenario.deliver({
      repository,
      files,
      inputs: { channel: 'K1', 'dry-run': 'true' },
    });
    expectNotReady(delivered, { step: 'place', reason: /this tool did not deliver what it holds now/ });
  });
});
