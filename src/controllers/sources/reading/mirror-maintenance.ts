/** Maintains a mirror in the background. Repacking takes seconds, and git allows fetches meanwhile. */
export class MirrorMaintenance {
  readonly #repack: () => Promise<void>;
  #running: Promise<unknown> | undefined;
  #failed: { readonly error: unknown } | undefined;

  constructor(repack: () => Promise<void>) {
    this.#repack = repack;
  }

  /**
   * Does nothing while it is running.
   * @throws the error of the last run, once
   */
  begin(): void {
    const failed = this.#failed;
    this.#failed = undefined;
    this.#running ??= this.#repack()
      .catch((error: unknown) => (this.#failed = { error }))
      .finally(() => (this.#running = undefined));
    if (failed !== undefined) throw failed.error;
  }

  async end(): Promise<void> {
    await this.#running;
  }
}
