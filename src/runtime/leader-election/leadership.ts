/** Whether this process is the one of several that may write. */
export interface Leadership {
  /** It may write now. */
  readonly isHeld: boolean;
  /** Resolves when this process may write, or when aborted. */
  whenHeld(signal: AbortSignal): Promise<void>;
  /** Resolves when it is known whether this process leads or waits, or when aborted. */
  whenDecided(signal: AbortSignal): Promise<void>;
  /**
   * Calls back once, before this process may write for the first time; immediately if it may
   * already.
   */
  onTakeOver(listener: (takeOver: TakeOver) => void): void;
  /** Undefined without leader election. */
  status(): LeadershipStatus | undefined;
}

/** This process took the lease. */
export interface TakeOver {
  /** Name of the lease. */
  readonly lease: string;
  /** Identifies the period in which one process holds the lease without interruption. */
  readonly term: string;
  /** The previous term; undefined if there was no lease. */
  readonly previousTerm: string | undefined;
}

export interface LeadershipStatus {
  /**
   * `deciding`: not known yet. `lapsed`: it leads, but could not renew its lease in time, and writes nothing before it has renewed it.
   * `lost`: another process may have led since; this one ends.
   */
  readonly role: 'deciding' | 'standby' | 'leading' | 'lapsed' | 'lost';
  /** Name of the lease. */
  readonly lease: string;
  /** Identity of this process. */
  readonly identity: string;
  /** Last known identity of the holder; '' if there is none. */
  readonly holder: string;
  /** How often the holder changed. */
  readonly transitions: number;
  /** Why the lease cannot be read or written, while this lasts. */
  readonly problem: string | undefined;
}

/** Where nobody is elected. */
export const SOLE_LEADER: Leadership = {
  isHeld: true,
  whenHeld: () => Promise.resolve(),
  whenDecided: () => Promise.resolve(),
  onTakeOver: () => undefined,
  status: () => undefined,
};
