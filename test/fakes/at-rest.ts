import { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE_MS } from './patience.ts';

/** Looks in a row that find no work: what has left one part of the process has arrived at the next by then. */
const QUIET_LOOKS = 25;
/** Work outside of JavaScript that ends by itself, as process.getActiveResourcesInfo() names it. */
const WORK = /^(FSReq|TCPConnectWrap|GetAddrInfoReqWrap|WriteWrap|ShutdownWrap)/;

/**
 * Resolves when this process has nothing to do: it works on no file, waits for no program, and `activity` stays as it is, look after
 * look. A wait for what must not happen: as long as the work takes on this machine, and not a fixed time. Timers do not count: steer
 * the clock over them first.
 *
 * @param activity what goes on besides, as a text or number; 'busy': something is under way
 */
export async function atRest(activity: () => string | number): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  let last: string | number | undefined;
  for (let quiet = 0; quiet < QUIET_LOOKS; quiet++) {
    // fixed wait: the pace of the looks
    await sleep(1);
    const now = externalWork() ?? activity();
    if (now === last && now !== 'busy') continue;
    if (Date.now() > deadline) throw new Error(`never at rest: ${now}`);
    last = now;
    quiet = 0;
  }
}

function externalWork(): 'busy' | undefined {
  if (process.getActiveResourcesInfo().some((resource) => WORK.test(resource))) return 'busy';
  return runningPrograms().length > 0 ? 'busy' : undefined;
}

/** Without those that answer as long as they are asked: git's reader of objects. */
function runningPrograms(): readonly ChildProcess[] {
  return (process as unknown as { _getActiveHandles(): readonly unknown[] })
    ._getActiveHandles()
    .filter((handle): handle is ChildProcess => handle instanceof ChildProcess)
    .filter(({ spawnargs, exitCode }) => exitCode === null && !spawnargs.includes('--batch-command'));
}
