import { readFileSync } from 'node:fs';
import { killGroup } from './kill-group.ts';

/**
 * Kills a process and all of its descendants, including those in other process groups. On systems
 * that do not list the children of a process, its group is killed.
 */
export function killDescendants(pid: number | undefined): void {
  if (pid === undefined) return;
  // A stopped process cannot start children while these are listed.
  killGroup(pid, 'SIGSTOP');
  const all = descendantsOf(pid);
  for (const one of [...all, pid]) killGroup(one, 'SIGKILL');
}

function descendantsOf(pid: number): readonly number[] {
  const children = childrenOf(pid);
  return children.flatMap((child) => [...descendantsOf(child), child]);
}

function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return text.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
