import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;

/** Milliseconds that the process and its threads have used since its start, in user and system mode. */
export function processorTimeMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name of the program is in parentheses and may hold spaces; utime and stime are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** The process of this program that was started with this argument. @throws Error when there is none */
export function findProcess(program, argument) {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const words = wordsOf(pid);
    if (words[0]?.endsWith(`/${program}`) && words.includes(argument)) return Number(pid);
  }
  throw new Error(`no process ${program} ${argument}`);
}

function wordsOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    // It ended since its folder was listed.
    return [];
  }
}
