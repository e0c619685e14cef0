import type { PullHeld } from '../../../core/argocd/pull/pull-events.ts';

/** The groups whose removals are held. */
export class HeldRemovals {
  readonly #held = new Map<string, PullHeld & { readonly applications: ReadonlySet<string> }>();

  get all(): readonly PullHeld[] {
    return [...this.#held.values()].sort((a, b) => (a.group < b.group ? -1 : 1));
  }

  /** Why works of the Application are not removed; undefined if no removal is held. */
  messageOf(application: string): string | undefined {
    for (const { applications, message } of this.#held.values())
      if (applications.has(application)) return message;
    return undefined;
  }

  /** @returns whether this hold is new or has another token */
  hold(held: PullHeld, applications: ReadonlySet<string>): boolean {
    const before = this.#held.get(held.group);
    this.#held.set(held.group, { ...held, applications });
    return before?.token !== held.token;
  }

  /** @returns the Applications that were held until now */
  release(group: string): Iterable<string> {
    const applications = this.#held.get(group)?.applications ?? [];
    this.#held.delete(group);
    return applications;
  }
}
