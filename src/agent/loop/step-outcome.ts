/** How one pass over a key ended. */
export type StepOutcome =
  /** Nothing to do until something changes. */
  | { readonly kind: 'done' }
  | { readonly kind: 'later'; readonly afterMs: number }
  /** Not finished: again soon, with growing delay. */
  | { readonly kind: 'retry' };

export const DONE: StepOutcome = { kind: 'done' };
export const RETRY: StepOutcome = { kind: 'retry' };
