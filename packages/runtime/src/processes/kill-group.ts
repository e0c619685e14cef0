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
