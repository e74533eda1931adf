/** The CPU time of a function in milliseconds. Unlike wall time, it does not depend on other processes. */
export function measureCpuTime(run: () => void): number {
  const start = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}
