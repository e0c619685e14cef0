import { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE_MS } from './patience.ts';

/**
 * Checks in a row that must find no work. By then, the result of one part of the process has reached the next one.
 */
const QUIET_CHECKS = 25;
/** Work outside of JavaScript that ends by itself, as process.getActiveResourcesInfo() names it. */
const WORK = /^(FSReq|TCPConnectWrap|GetAddrInfoReqWrap|WriteWrap|ShutdownWrap)/;

/**
 * Resolves when this process is idle: it reads and writes no file, waits for no program, and `activity` does not
 * change between checks. For tests that something does not happen: it takes as long as the work takes on this machine,
 * instead of a fixed time. Timers are not waited for: advance the clock before.
 * @param activity other work of the process as a text or number; 'busy': some is in progress
 * @throws Error when the process is not idle within `PATIENCE_MS`
 */
export async function whenIdle(activity: () => string | number): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  let last: string | number | undefined;
  for (let quiet = 0; quiet < QUIET_CHECKS; quiet++) {
    // fixed wait: the interval of the checks
    await sleep(1);
    const now = externalWork() ?? activity();
    if (now === last && now !== 'busy') continue;
    if (Date.now() > deadline) throw new Error(`the process is never idle: ${now}`);
    last = now;
    quiet = 0;
  }
}

function externalWork(): 'busy' | undefined {
  if (process.getActiveResourcesInfo().some((resource) => WORK.test(resource))) return 'busy';
  return runningPrograms().length > 0 ? 'busy' : undefined;
}

/** Without git's object reader, which runs as long as the repository is open. */
function runningPrograms(): readonly ChildProcess[] {
  return (process as unknown as { _getActiveHandles(): readonly unknown[] })
    ._getActiveHandles()
    .filter((handle): handle is ChildProcess => handle instanceof ChildProcess)
    .filter(({ spawnargs, exitCode }) => exitCode === null && !spawnargs.includes('--batch-command'));
}
