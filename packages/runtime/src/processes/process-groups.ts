import { readFileSync } from 'node:fs';

/**
 * The running child processes of this process, so that none outlives it or prevents it from
 * exiting.
 */
class ChildGroups {
  readonly #leaders = new Set<number>();
  #isOver = false;

  constructor() {
    // This also runs after `process.exit` and after an uncaught error. After SIGKILL the children keep running.
    process.once('exit', () => this.endAll());
  }

  /**
   * @param leader process id of a child, which may lead its own process group; undefined if it could not be started
   * @returns a function to call when the child has ended
   */
  track(leader: number | undefined): () => void {
    if (leader === undefined) return () => undefined;
    this.#leaders.add(leader);
    if (this.#isOver) killGroup(leader, 'SIGKILL');
    return () => void this.#leaders.delete(leader);
  }

  /** Kills all tracked processes now, and later ones as soon as they are tracked. */
  endAll(): void {
    this.#isOver = true;
    for (const leader of this.#leaders) killGroup(leader, 'SIGKILL');
  }
}

export const childProcessGroups = new ChildGroups();

/**
 * Signals a process group by its leader's id; a leader that has not created its group yet gets the
 * signal itself.
 */
export function killGroup(leader: number | undefined, signal: NodeJS.Signals): void {
  if (leader === undefined) return;
  for (const target of [-leader, leader]) {
    try {
      process.kill(target, signal);
      return;
    } catch {
      // The group does not exist yet, or has ended.
    }
  }
}

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
