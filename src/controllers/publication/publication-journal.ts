import type { PublishState } from '../../core/publish/judge/publish-state.ts';

/** Keyed by `namespace/name`. */
export interface PublicationJournal {
  get(placement: string): PublishState | undefined;
  set(placement: string, state: PublishState): void;
  /** Resolves when the state would survive the process. */
  persist(placement: string, state: PublishState): Promise<void>;
  delete(placement: string): void;
}
