/** One write to a cluster's namespace on the hub. */
export interface PulledWorkWritten {
  readonly action: 'created' | 'updated' | 'deleted';
  /** `namespace/name` of the hub's Application. */
  readonly application: string;
  readonly cluster: string;
  readonly work: string;
  readonly reason?: 'deleted' | 'moved' | 'replaced' | undefined;
}

/** Removals that are held. */
export interface PullHeld {
  /** `ApplicationSet namespace/name`, or `Applications in namespace`. */
  readonly group: string;
  readonly message: string;
  readonly token: string;
}
