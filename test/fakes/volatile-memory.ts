/** A map of JSON values that outlives the processes of one test, as a data directory does. */
export class VolatileMemory<T> {
  readonly #values = new Map<string, T>();

  get(key: string): T | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: T): void {
    this.#values.set(key, value);
  }

  async persist(key: string, value: T): Promise<void> {
    this.set(key, value);
  }

  delete(key: string): void {
    this.#values.delete(key);
  }
}
