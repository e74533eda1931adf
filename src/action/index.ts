import { setFailed } from '@actions/core';
import { run } from './run.ts';

await run(process.env, setFailed);
