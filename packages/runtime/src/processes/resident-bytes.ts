import { readFileSync } from 'node:fs';

/** Resident memory of a process in bytes; 0 if the system does not report it. */
export function residentBytes(pid: number | undefined): number {
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kibibytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}
