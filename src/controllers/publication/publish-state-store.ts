import type { PublishState } from '../../core/publish/judge/publish-state.ts';

/** By `namespace/name` of the placement. */
export interface PublishStateStore {
  get(placement: string): PublishState | undefined;
  set(placement: string, state: PublishState): void;
  /** Resolves when the state is durable. */
  persist(placement: string, state: PublishState): Promise<void>;
  delete(placement: string): void;
}
