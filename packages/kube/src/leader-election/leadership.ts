/** Whether this process is the one replica that may write. */
export interface Leadership {
  /** Whether it may write now. */
  readonly isHeld: boolean;
  /** Resolves when this process may write, or when aborted. */
  whenHeld(signal: AbortSignal): Promise<void>;
  /** Resolves when it is known whether this process leads or waits, or when the signal aborts. */
  whenDecided(signal: AbortSignal): Promise<void>;
  /**
   * Calls back once, before this process may write for the first time; immediately if it may
   * already.
   */
  onTakeOver(listener: (takeOver: TakeOver) => void): void;
  /** Undefined without leader election. */
  status(): LeadershipStatus | undefined;
}

/** Passed to listeners when this process takes the lease. */
export interface TakeOver {
  /** The name of the lease. */
  readonly lease: string;
  /** Identifies the period in which one process has the lease without interruption. */
  readonly term: string;
  /** The previous term; undefined if there was no lease. */
  readonly previousTerm: string | undefined;
}

export interface LeadershipStatus {
  /**
   * `deciding`: not known yet. `lapsed`: the process leads, but could not renew its lease in time, and writes nothing
   * until it has renewed it. `lost`: another process may have led since, so this process ends.
   */
  readonly role: 'deciding' | 'standby' | 'leading' | 'lapsed' | 'lost';
  /** The name of the lease. */
  readonly lease: string;
  /** The identity of this process. */
  readonly identity: string;
  /** Last known identity of the holder; '' if there is none. */
  readonly holder: string;
  /** How many times the holder has changed. */
  readonly transitions: number;
  /** Why the lease cannot be read or written, while this lasts. */
  readonly problem: string | undefined;
}

/** For processes without a leader election. */
export const SOLE_LEADER: Leadership = {
  isHeld: true,
  whenHeld: () => Promise.resolve(),
  whenDecided: () => Promise.resolve(),
  onTakeOver: () => undefined,
  status: () => undefined,
};
