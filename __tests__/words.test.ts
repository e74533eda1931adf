import { describe, expect, test } from '@jest/globals';
import { NARROW } from '../src/action/inputs.ts';
import { listInputs } from '../src/mcp/tools.ts';
import type { ChannelKey } from '../src/protocol/words.ts';
import { commandFace, toolFace } from '../src/request/faces.ts';
import { INPUTS, type ToolName } from '../src/request/inputs.ts';
import { ACTION, advise, type HintContext, say, type Text } from '../src/words.ts';
import { listNamedInputs, listTexts } from './support/source-texts.ts';

const toolOf = (tool: ToolName, fixed = {}) => toolFace(tool, listInputs(tool, fixed));
const WITHHELD = "ask your human: only this server's settings allow it";

describe('every text of the sources', () => {
  /** What only one interface shows: its own files, its words, and the descriptions of its inputs. */
  const OF_ONE_FACE =
    /^(?:action\/|cli\/|mcp\/|words\.ts$|request\/(?:faces|inputs|commands|tool-contract)\.ts$|protocol\/(?:contract|error-codes)\.ts$)/;
  const TEXTS = listTexts((file) => OF_ONE_FACE.test(file));
  const placesOf = (pattern: RegExp): readonly string[] =>
    TEXTS.filter(({ text }) => pattern.test(text)).map(({ place, text }) => `${place} ${text}`);

  test('is found', () => {
    expect(TEXTS.length).toBeGreaterThan(1000);
  });

  test('leaves inputs, with or without a value, to the words of the interface', () => {
    expect(placesOf(new RegExp(`\`(?:${Object.keys(INPUTS).join('|')}):`))).toEqual([]);
    expect(placesOf(/`--(?!prefix-paths)[a-z]|\buse channel: |\bchannel: K\d|\bset `[a-z-]+`/)).toEqual([]);
  });

  test('leaves jobs, steps, folders and tokens to them, too', () => {
    const ofWorkflow =
      /permissions: \{|\$\{\{ github|\bthe workspace\b|\bth(?:is|e) (?:job's|action)\b|\bthis job\b/;
    expect(placesOf(ofWorkflow)).toEqual([]);
    expect(placesOf(/\b(?:the|this|an earlier|a) step (?:again|that|before|which)\b/)).toEqual([]);
    expect(placesOf(/\b(?:call the tool|run the command|GITHUB_TOKEN|the current folder)\b/)).toEqual([]);
  });

  test('calls no input by a name that the command line or a tool does not know', () => {
    expect(placesOf(/\binputs? `(?:file|content|token|url)`/)).toEqual([]);
  });

  test('names inputs that exist', () => {
    const named = listNamedInputs();
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter(({ text }) => !Object.hasOwn(INPUTS, text))).toEqual([]);
  });
});

describe('say', () => {
  test.each<[ChannelKey[], HintContext, string]>([
    [['K2', 'K3'], {}, 'use channel: K2 or K3 (public to anyone with the link)'],
    [['K2', 'K3'], { isPrivate: true }, 'use channel: K3 (public to anyone with the link)'],
    [['K1', 'K2'], { isPrivate: true }, 'use channel: K1'],
    [
      ['K2', 'K3'],
      { isFolder: true },
      'pack the folder into one file and use channel: K2 or K3 (public to anyone with the link)',
    ],
  ])('names only channels that can take it: %s, %j', (channels, delivered, said) => {
    expect(say((w) => w.use(channels), ACTION, delivered)).toBe(said);
  });

  test('offers another channel, as the last way or for a permission, only for what is delivered', () => {
    const text: Text = (w) => `wait${w.orUse('K2', ' for it')}; ${w.grant('pages: read')}`;
    const permission = 'give the job `permissions: { pages: read }`';
    expect(say(text, ACTION, { isDelivered: false })).toBe(`wait; ${permission}`);
    expect(say(text, ACTION, { chosen: ['K2', 'K3'] })).toBe(`wait; ${permission}`);
    expect(say(text, ACTION)).toBe(
      `wait, or use channel: K2 for it; ${permission}, or use channel: K3 (public to anyone with the link)`,
    );
  });

  test.each<[Text, string, string, string]>([
    [(w) => `set ${w.input('path')}`, 'set `path:`', 'set `--path`', 'set `path`'],
    [(w) => `set ${w.input('path', 'a/')}`, 'set `path: a/`', 'set `--path a/`', 'set `path: "a/"`'],
    [
      (w) => `set ${w.input('message', "it's")}`,
      "set `message: it's`",
      "set `--message 'it'\\''s'`",
      "ask your human: set `--message 'it'\\''s'`",
    ],
    [
      (w) => `set ${w.input('overwrite', 'true')} and ${w.input('prune', 'true')}`,
      'set `overwrite: true` and `prune: true`',
      'set `--overwrite` and `--prune`',
      WITHHELD,
    ],
    [
      (w) => `set ${w.input('self-contained', 'warn')} or ${w.input('picture', 'false')}`,
      'set `self-contained: warn` or `picture: false`',
      'set `--self-contained warn` or `--picture=false`',
      'set `other_hosts: "allow"` or `picture: false`',
    ],
    [
      (w) => `allow ${w.input('allow-secret', '01')}${w.fingerprint('01')}`,
      'allow `allow-secret: 01` (fingerprint 01)',
      'allow `--allow-secret 01` (fingerprint 01)',
      WITHHELD,
    ],
    [
      (w) => `set ${w.input('path')}${w.orSet('overwrite', 'true', ' to replace it')}`,
      'set `path:`, or set `overwrite: true` to replace it',
      'set `--path`, or set `--overwrite` to replace it',
      'set `path`',
    ],
    [(w) => `set ${w.input('file')}`, 'set `file:`', 'set `FILE`', 'set `file`'],
    [
      (w) => w.use(['K1', 'K2', 'K3']),
      'use channel: K1, K2 or K3 (public to anyone with the link)',
      'use `--channel K1`, K2 or K3 (public to anyone with the link)',
      'use `as: "page"` or `as: "download"`',
    ],
    [
      (w) => w.say((inner) => inner.grant('pages: read')),
      'give the job `permissions: { pages: read }`, or use channel: K3 (public to anyone with the link)',
      'set GITHUB_TOKEN to one with the permissions `pages: read`, or use `--channel K3` (public to anyone with the link)',
      'ask your human: set `GITHUB_TOKEN` to one with the permissions `pages: read`',
    ],
    [
      (w) => `${w.person('commit a file')}, or set ${w.input('marker')}`,
      'commit a file, or set `marker:`',
      'commit a file, or set `--marker`',
      'ask your human to commit a file, or set `marker`',
    ],
    [
      (w) => w.link,
      'set `url:` to the link to verify',
      'verify a link with `screen-delivery verify URL`',
      'use the tool verify for a link',
    ],
  ])('renders %s for each interface', (text, action, cli, mcp) => {
    expect([ACTION, commandFace('deliver'), toolOf('deliver')].map((face) => advise(text, face))).toEqual([
      action,
      cli,
      mcp,
    ]);
  });

  test('tells an agent of no channel that only a person can choose', () => {
    const ask = 'ask your human for another channel';
    expect(say((w) => w.use('K3'), toolOf('deliver'))).toBe(ask);
    expect(say((w) => w.use(['K1', 'K3']), toolOf('deliver', { channel: 'K2' }))).toBe(ask);
    expect(say((w) => `set ${w.input('path', 'a/')}`, toolOf('withdraw'))).toBe('set `url` to the URL of a/');
  });

  test('tells the person who configured the server what a tool can not do, and an agent not how', () => {
    const told: [string, boolean][] = [];
    const face = toolFace(
      'withdraw',
      listInputs('withdraw', {}),
      'GH_TOKEN',
      (...way) => void told.push(way),
    );
    const text: Text = (w) => `leave it there${w.orSet('overwrite', 'true', ' if you may remove it')}`;
    expect(advise(text, face)).toBe('leave it there');
    expect(advise((w) => `set ${w.input('overwrite', 'true')}`, face)).toBe(WITHHELD);
    const branch = 'set `--branch gh-pages` and `GH_TOKEN`';
    expect(advise((w) => `set ${w.input('branch', 'gh-pages')} and ${w.input('token')}`, face)).toBe(
      `ask your human: ${branch}`,
    );
    advise((w) => w.person('commit a file'), face);
    expect(told).toEqual([
      ['set `--overwrite` if you may remove it', true],
      ['set `--overwrite`', true],
      [branch, false],
      ['commit a file', false],
    ]);
  });

  test('chooses no channel where a link is verified', () => {
    const text: Text = (w) => `set ${w.input('file')}, or ${w.use('K1')}, or ${w.link}`;
    expect(say(text, commandFace('verify'))).toBe(
      'set `--file`, or publish the file with the command `deliver`, or give the link to verify',
    );
    expect(say(text, toolOf('verify'))).toBe(
      'set `file`, or use the tool deliver, or set `url` to the link to verify',
    );
    expect(say((w) => w.input('url'), commandFace('verify'))).toBe('`URL`');
  });

  test('says of the inputs that the narrow action does not take where they can be set', () => {
    expect(advise((w) => `set ${w.input('name')} or ${w.input('token')}`, NARROW)).toBe(
      'set `name:` or `GITHUB_TOKEN` in the `env:` of the step',
    );
    expect(advise((w) => `set ${w.input('setup', 'true')}, or ${w.use(['K2', 'K3'])}`, NARROW)).toBe(
      'set `setup: true`, or use `channel: K2` or K3 (public to anyone with the link) (this action takes only `name`, `content` and `marker`; use the full action to set `setup`, `channel`)',
    );
  });
});
