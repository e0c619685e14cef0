import { readFileSync } from 'node:fs';

/** Memory that a process has now, in bytes; 0 where the system does not say. */
export function residentBytes(pid: number | undefined): number {
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kibibytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}
