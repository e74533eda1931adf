import { DeliveryError, hasFailed, type Result, resultOf } from '../../errors.ts';
import { getBranchHead } from '../../github/api/branch.ts';
import type { GitHubClient } from '../../github/api/client.ts';
import { findAbsence } from '../../github/api/failures.ts';
import {
  createPagesSite,
  getPagesSettings,
  knownSettings,
  type RepositoryContext,
} from '../../github/api/repository.ts';
import { defaultPagesUrl } from '../../github/hosts.ts';
import { lineIf } from '../../plain-text.ts';
import type { Ports } from '../../ports.ts';
import { withRetries } from '../../retry.ts';
import type { Words } from '../../words.ts';
import type { Placement } from '../channel.ts';
import { SentWrites } from '../sent-writes.ts';
import { type PagesOptions, refuseUnusableSite, targetBranch } from './destination.ts';
import { type CommitTarget, isBuiltByWorkflow, type PagesSetup, WORKFLOW_BRANCH_HINT } from './target.ts';

/** What `setup` must create. @throws {DeliveryError} if it would publish more than the delivery */
export async function findSetup(
  github: GitHubClient,
  options: PagesOptions,
  site: RepositoryContext['pagesSettings'],
): Promise<PagesSetup | null> {
  if (!options.setup || site === 'not-requested') return null;
  const isOwnAddress = options.pagesBase !== undefined;
  if (site === 'unreadable' && !isOwnAddress) {
    const hint = (w: Words) => w.grant('pages: read');
    const message = (w: Words) => `${w.subject('setup')} needs the Pages settings, and they can't be read`;
    throw new DeliveryError('NO_PERMISSION', message, { step: 'check', hint });
  }
  const branch = targetBranch(options, site);
  const head = await resultOf(() => getBranchHead(github, branch));
  const absence = findAbsence(head);
  if (hasFailed(head) && absence === null) throw head;
  const setup = { absence, enablesPages: site === null && !isOwnAddress };
  if (absence !== null && isBuiltByWorkflow(options, site)) {
    const message = `a workflow builds the Pages site, and it does not know the new branch ${branch}`;
    throw new DeliveryError('BAD_INPUT', message, { hint: WORKFLOW_BRANCH_HINT });
  }
  if (setup.enablesPages) refuseUnclear(branch, absence !== null, options);
  return setup;
}

/** Pages would publish the whole branch, so an existing branch must be named. */
function refuseUnclear(branch: string, isNew: boolean, { branch: named, siteWorkflow }: PagesOptions): void {
  if (siteWorkflow !== undefined) {
    const message = (w: Words) => `${w.subject('setup')} switches on a site that is built from a branch`;
    throw new DeliveryError('BAD_INPUT', message, {
      hint: (w) => `leave ${w.input('site-workflow')} out, or choose GitHub Actions under Settings → Pages`,
    });
  }
  if (named !== undefined || isNew) return;
  const message = (w: Words) =>
    `${w.subject('setup')} would show everything in the branch ${branch} on the Pages site`;
  throw new DeliveryError('BAD_INPUT', message, {
    hint: (w) =>
      `set ${w.input('branch', 'gh-pages')} for a branch of its own, or ${w.input('branch', branch)} if all of it may be public`,
  });
}

export function describeSetup({ branch, setup }: CommitTarget): string {
  if (setup === null) return '';
  const { absence, enablesPages } = setup;
  return [
    ...lineIf(absence !== null, `; creates the branch ${branch}`),
    ...lineIf(enablesPages, `; switches Pages on for the branch ${branch}, if the token may`),
  ].join('');
}

/** Switches Pages on once the branch has files. If that fails, nothing was published. */
export async function finishSetup(
  placed: readonly Result<Placement>[],
  { branch, github, options, setup }: CommitTarget,
  ports: Ports,
): Promise<readonly Result<Placement>[]> {
  if (setup === null || placed.every(hasFailed)) return placed;
  const { absence, enablesPages } = setup;
  const assumed = defaultPagesUrl(options.serverUrl, github.repository);
  const failure = enablesPages ? await resultOf(() => enablePages(github, branch, assumed, ports)) : null;
  return placed.map((result) => {
    if (hasFailed(result)) return result;
    if (hasFailed(failure)) return unfinishedSetupError(failure, result, branch, absence !== null);
    const done = [
      ...lineIf(absence !== null && result.written, `the branch ${branch} was created`),
      ...lineIf(enablesPages, `Pages was switched on for the branch ${branch}`),
    ];
    return { ...result, notes: [...(result.notes ?? []), ...done] };
  });
}

async function enablePages(github: GitHubClient, branch: string, assumed: URL, ports: Ports): Promise<void> {
  const writes = new SentWrites();
  let isAgain = false;
  const enable = async () => {
    // Somebody may have switched Pages on between attempts.
    const existing = isAgain ? knownSettings(await getPagesSettings(github)) : null;
    isAgain = true;
    return existing ?? writes.send(() => createPagesSite(github, branch));
  };
  const site = await resultOf(() => withRetries(ports, enable));
  if (hasFailed(site)) throw notEnabledError(writes.explain(site), branch);
  refuseUnusableSite(site, { branch });
  ports.logger.info(`Pages was switched on for the branch ${branch}: ${site.base.href}`);
  if (site.base.href === assumed.href) return;
  const message = `Pages was switched on at ${site.base.href}, another URL than assumed`;
  throw new DeliveryError('NOT_PROVEN', message, {
    hint: 'run it again: it checks the pages for this URL',
  });
}

/** Only an answer proves a failure; a lost answer means unknown. */
function notEnabledError(failure: DeliveryError, branch: string): DeliveryError {
  const { code, httpCode, message, advice = '' } = failure;
  // GitHub refuses a token without the permission with 403 or 404.
  const mayNot = code === 'NO_PERMISSION' || code === 'NOT_FOUND';
  const clicks = `under Settings → Pages choose "Deploy from a branch" and the branch ${branch}, and try again`;
  const isUnknown = failure.leftBehind === undefined;
  const [state, action] = isUnknown
    ? ['it is unknown whether Pages is on for it', 'check Settings → Pages, and ']
    : httpCode === undefined
      ? ['the request to switch Pages on was not sent', '']
      : [mayNot ? TWO_CLICKS : 'Pages could not be switched on for it', `${clicks}; or `];
  const hint = (w: Words) =>
    action + (mayNot ? `set ${w.input('token')} to an administrator's token` : w.say(advice));
  const leftBehind = isUnknown ? ['perhaps its Pages site'] : [];
  return new DeliveryError(code, `${state}: ${message}`, { httpCode, hint, leftBehind, cause: failure });
}

const TWO_CLICKS = 'two clicks are left, because this token may not switch Pages on';

/** The commit stays. If only clicks are left, it waits for them and isn't reported as left behind. */
function unfinishedSetupError(
  failure: DeliveryError,
  { commitSha }: Placement,
  branch: string,
  isNew: boolean,
): DeliveryError {
  const { code, message, httpCode, advice, leftBehind = [] } = failure;
  const commit = `commit ${commitSha} on the branch ${branch}`;
  const isRefused = httpCode !== undefined && leftBehind.length === 0;
  const about = `the branch ${branch} ${isNew ? 'was created' : 'has it'} (commit ${commitSha}), and ${message}`;
  return new DeliveryError(code, about, {
    httpCode,
    hint: advice,
    leftBehind: isRefused ? [] : [commit, ...leftBehind],
    cause: failure,
  });
}
