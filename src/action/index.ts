import * as core from '@actions/core';
import { run } from './run.ts';

try {
  const complaint = await run(process.env);
  if (complaint !== null) core.setFailed(complaint);
} catch (thrown) {
  core.setFailed(thrown instanceof Error ? thrown.message : String(thrown));
}
