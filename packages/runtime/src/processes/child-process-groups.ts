import { killGroup } from './kill-group.ts';

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
