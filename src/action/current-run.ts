import type { context } from '@actions/github';

/** An event's payload as GitHub sends it; any part may be missing. */
export type EventPayload = (typeof context)['payload'];

export interface CurrentRun {
  /** The repository of the event; `null` if not known. */
  readonly repository: { readonly owner: string; readonly repo: string } | null;
  /** The web pages of the instance on which the event happened; `null` if not known. */
  readonly serverUrl: URL | null;
  readonly eventName: string;
  /** The commit of the run, and its branch or tag, such as `refs/heads/main`; empty if not known. */
  readonly sha: string;
  readonly ref: string;
  readonly payload: EventPayload;
  /** Such as `run 7 of Deliver`. */
  readonly title: string;
  /** The page of the run, which shows its summary; `null` if not known. */
  readonly url: string | null;
}

const UNKNOWN_RUN: CurrentRun = {
  repository: null,
  serverUrl: null,
  eventName: '',
  sha: '',
  ref: '',
  payload: {},
  title: 'run ? of a workflow',
  url: null,
};

/**
 * The facts of the run; none without an event file, which the library reads when it is imported. Its types promise
 * values that the runner's environment may lack.
 */
export async function loadCurrentRun(): Promise<CurrentRun> {
  try {
    const { context: run } = await import(/* webpackMode: "eager" */ '@actions/github');
    const { repo, runNumber, runId, serverUrl } = run;
    return {
      repository: repo,
      serverUrl: URL.parse(serverUrl),
      eventName: run.eventName,
      sha: run.sha ?? '',
      ref: run.ref ?? '',
      payload: run.payload ?? {},
      title: `run ${Number.isNaN(runNumber) ? '?' : runNumber} of ${run.workflow ?? 'a workflow'}`,
      url: Number.isNaN(runId) ? null : `${serverUrl}/${repo.owner}/${repo.repo}/actions/runs/${runId}`,
    };
  } catch {
    return UNKNOWN_RUN;
  }
}
