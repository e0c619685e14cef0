export type Change = 'came' | 'left';

/** Where each workload is by Git, and which changes of the clusters the commits explain. */
export class ExpectedPlacements {
  readonly #now = new Map<string, readonly string[]>();
  /** Also the clusters of earlier commits, since all was as Git says the last time. */
  readonly #lately = new Map<string, ReadonlySet<string>>();
  /** How many changes commits explain, and how many of them were seen. */
  readonly #explained = new Map<string, number>();
  readonly #seen = new Map<string, number>();

  /** A commit is about to put the workload on these clusters. */
  place(workload: string, clusters: readonly string[]): void {
    const before = this.clusters(workload);
    const note = (change: Change, names: readonly string[], others: readonly string[]): void => {
      for (const name of names)
        if (!others.includes(name)) increment(this.#explained, `${change} ${pair(workload, name)}`);
    };
    note('came', clusters, before);
    note('left', before, clusters);
    this.#now.set(workload, [...clusters].sort());
    this.#lately.set(workload, new Set([...(this.#lately.get(workload) ?? []), ...clusters]));
  }

  /** All is as Git says: the commits until now explain nothing any more. */
  settle(): void {
    this.#explained.clear();
    this.#seen.clear();
    for (const [workload, clusters] of this.#now) this.#lately.set(workload, new Set(clusters));
  }

  /** Whether a commit explains that an object of the pair came or left. It explains one change of each kind. */
  explains(kind: string, change: Change, of: string): boolean {
    const seen = increment(this.#seen, `${kind} ${change} ${of}`);
    return seen <= (this.#explained.get(`${change} ${of}`) ?? 0);
  }

  /** Whether the plugin may name these clusters. */
  allows(workload: string, clusters: readonly string[]): boolean {
    const lately = this.#lately.get(workload);
    return clusters.length > 0 && clusters.every((name) => lately?.has(name));
  }

  clusters(workload: string): readonly string[] {
    return this.#now.get(workload) ?? [];
  }

  workloads(): readonly string[] {
    return [...this.#now.keys()];
  }

  /** Each workload on each of its clusters, or on one of them. */
  pairs(cluster?: string): readonly string[] {
    return this.workloads()
      .flatMap((workload) => this.clusters(workload).map((name) => pair(workload, name)))
      .filter((one) => cluster === undefined || one.startsWith(`${cluster}/`))
      .sort();
  }
}

export const pair = (workload: string, cluster: string): string => `${cluster}/${workload}`;

/** @returns the new number */
function increment(counts: Map<string, number>, key: string): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}
