/**
 * Notifies all subscribers of an event, in the order of the subscriptions. Events go one way: a listener notes what it needs
 * and answers nothing.
 */
export class Subscribers<Event> {
  readonly #listeners: ((event: Event) => Promise<void> | void)[] = [];

  subscribe(listener: (event: Event) => Promise<void> | void): void {
    this.#listeners.push(listener);
  }

  /** Calls all listeners before it returns. @returns resolves when those are done that still write what they noted */
  tell(event: Event): Promise<void> {
    const pending: Promise<void>[] = [];
    for (const listener of this.#listeners) {
      const done = listener(event);
      if (done !== undefined) pending.push(done);
    }
    return Promise.all(pending).then(() => undefined);
  }
}
