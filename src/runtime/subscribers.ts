/**
 * Notifies all subscribers of an event, in the order of their subscriptions. Events flow in one direction: a listener
 * stores what it needs and returns no answer.
 */
export class Subscribers<Event> {
  readonly #listeners: ((event: Event) => Promise<void> | void)[] = [];

  subscribe(listener: (event: Event) => Promise<void> | void): void {
    this.#listeners.push(listener);
  }

  /** Calls all listeners before it returns. @returns resolves when the listeners have written what they store */
  tell(event: Event): Promise<void> {
    const pending: Promise<void>[] = [];
    for (const listener of this.#listeners) {
      const done = listener(event);
      if (done !== undefined) pending.push(done);
    }
    return Promise.all(pending).then(() => undefined);
  }
}
