/**
 * Notifies all subscribers of an event, in the order of the subscriptions. Events are one-way: a
 * listener records what it needs and returns nothing.
 */
export class Subscribers<Event> {
  readonly #listeners: ((event: Event) => Promise<void> | void)[] = [];

  subscribe(listener: (event: Event) => Promise<void> | void): void {
    this.#listeners.push(listener);
  }

  /**
   * Calls all listeners before it returns.
   * @returns resolves when all listeners have written what they recorded
   */
  emit(event: Event): Promise<void> {
    const pending: Promise<void>[] = [];
    for (const listener of this.#listeners) {
      const done = listener(event);
      if (done !== undefined) pending.push(done);
    }
    return Promise.all(pending).then(() => undefined);
  }
}
