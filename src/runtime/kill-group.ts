/**
 * Sends a signal to a process group by the id of its leader. A leader that has not created its group yet gets the
 * signal itself.
 */
export function killGroup(leader: number | undefined, signal: NodeJS.Signals): void {
  if (leader === undefined) return;
  for (const target of [-leader, leader]) {
    try {
      process.kill(target, signal);
      return;
    } catch {
      // There is no such group yet, or it has ended meanwhile.
    }
  }
}
