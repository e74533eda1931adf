import { expect, test } from '@jest/globals';
import { readJobRuntime } from '../../../../src/channels/pages/deploy/job-runtime.ts';

const RUNTIME = { ACTIONS_RESULTS_URL: 'https://results.example/', ACTIONS_RUNTIME_TOKEN: 'runtime-token' };
const IDENTITY = {
  ACTIONS_ID_TOKEN_REQUEST_URL: 'https://identity.example/token?api-version=2.0',
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'request-token',
};

test.each([
  ['nothing', {}],
  ['no token', { ...RUNTIME, ACTIONS_RUNTIME_TOKEN: '' }],
  ['an address that is none', { ...RUNTIME, ACTIONS_RESULTS_URL: 'results' }],
])('readJobRuntime is none where there is %s', (_, env) => {
  expect(readJobRuntime(env)).toBeNull();
});

test.each([
  ['no token', { ...IDENTITY, ACTIONS_ID_TOKEN_REQUEST_TOKEN: '' }],
  ['an address that is not https', { ...IDENTITY, ACTIONS_ID_TOKEN_REQUEST_URL: 'http://a.example' }],
])('readJobRuntime has no identity if there is %s for it', (_, env) => {
  expect(readJobRuntime({ ...RUNTIME, ...env })).toMatchObject({ identity: null });
});
