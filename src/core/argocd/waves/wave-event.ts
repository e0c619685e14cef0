/** What changed for one placement of an ApplicationSet. */
export interface WaveEvent {
  /** `namespace/name` */
  readonly applicationSet: string;
  /** `namespace/name` */
  readonly placement: string;
  /** Clusters that are served from now on. */
  readonly served: readonly string[];
  /** Number of waiting clusters. */
  readonly waiting: number;
  /** Why they wait; undefined if none does. */
  readonly message: string | undefined;
}
