import type { PublishState } from '../../core/publish/publish-state.ts';

/** Keyed by `namespace/name`. */
export interface PublishMemory {
  get(placement: string): PublishState | undefined;
  set(placement: string, state: PublishState): void;
  /** Resolves when it would outlive the process. */
  persist(placement: string, state: PublishState): Promise<void>;
  delete(placement: string): void;
}

export class VolatilePublishMemory implements PublishMemory {
  readonly #states = new Map<string, PublishState>();
  get(placement: string): PublishState | undefined {
    return this.#states.get(placement);
  }
  set(placement: string, state: PublishState): void {
    this.#states.set(placement, state);
  }
  async persist(placement: string, state: PublishState): Promise<void> {
    this.set(placement, state);
  }
  delete(placement: string): void {
    this.#states.delete(placement);
  }
}
