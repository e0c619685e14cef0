import { killGroup } from './kill-group.ts';

/**
 * The programs that this process has running, each the leader of a process group or a process of ours. What one of them does not
 * finish must neither keep this process from ending nor outlive it.
 */
class ChildGroups {
  readonly #leaders = new Set<number>();
  #isOver = false;

  constructor() {
    // For a process that is ended at once, by `process.exit` or an error that nobody caught. Nothing helps against SIGKILL.
    process.once('exit', () => this.endAll());
  }

  /** @returns to be called when the program has ended */
  track(leader: number | undefined): () => void {
    if (leader === undefined) return () => undefined;
    this.#leaders.add(leader);
    if (this.#isOver) killGroup(leader, 'SIGKILL');
    return () => void this.#leaders.delete(leader);
  }

  /** Kills all of them, and from now on each as soon as it is tracked: the process ends. */
  endAll(): void {
    this.#isOver = true;
    for (const leader of this.#leaders) killGroup(leader, 'SIGKILL');
  }
}

export const childGroups = new ChildGroups();
