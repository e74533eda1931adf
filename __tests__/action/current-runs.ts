import type { CurrentRun } from '../../src/action/current-run.ts';

/** The facts of a run, with what a test changes. */
export const runWith = (more: Partial<CurrentRun> = {}): CurrentRun => ({
  number: [4242, 1],
  repository: { owner: 'octo', repo: 'site' },
  serverUrl: new URL('https://github.com'),
  eventName: 'push',
  sha: 'c0ffee02',
  ref: 'refs/heads/main',
  payload: {},
  title: 'run 7 of Deliver',
  url: 'https://github.com/octo/site/actions/runs/4242',
  ...more,
});

/** A run for an event with this payload. */
export const runOf = (payload: object, eventName = 'pull_request'): CurrentRun =>
  runWith({ eventName, payload: payload as CurrentRun['payload'] });
