import type { AppliedManifestWork, AppliedManifestWorkStatus } from '@berth/ocm/kind/applied-manifest-work';
import type { ManifestWork, ManifestWorkStatus } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { AgentSettings } from '../options/agent-options.ts';
import { appliedWorkName, writeAppliedStatus } from '../record/applied-work.ts';
import type { ExecutorReviews } from '../executor/executor-reviews.ts';
import type { LiveObjects } from '../cluster/live-objects.ts';
import type { ReadYourWritesCache } from '../cluster/read-your-writes-cache.ts';
import { newWorkMemory, type WorkMemory } from './work-memory.ts';
import { writeWorkStatus } from './work-status.ts';

/**
 * What all steps of the agent share: the works of the hub, the AppliedManifestWorks of the cluster, its objects, and
 * the memory of each work.
 */
export class AgentState {
  readonly settings: AgentSettings;
  readonly live: LiveObjects;
  readonly reviews: ExecutorReviews;
  readonly #works: ReadYourWritesCache;
  readonly #applied: ReadYourWritesCache;
  readonly #memories = new Map<string, WorkMemory>();

  constructor(parts: {
    readonly settings: AgentSettings;
    readonly live: LiveObjects;
    readonly reviews: ExecutorReviews;
    readonly works: ReadYourWritesCache;
    readonly applied: ReadYourWritesCache;
  }) {
    this.settings = parts.settings;
    this.live = parts.live;
    this.reviews = parts.reviews;
    this.#works = parts.works;
    this.#applied = parts.applied;
  }

  work(name: string): ManifestWork | undefined {
    return this.#works.get(this.#workKey(name)) as unknown as ManifestWork | undefined;
  }

  applied(name: string): AppliedManifestWork | undefined {
    return this.#applied.get(name) as unknown as AppliedManifestWork | undefined;
  }

  appliedOf(work: string): AppliedManifestWork | undefined {
    return this.applied(appliedWorkName(this.settings, work));
  }

  memory(work: string): WorkMemory {
    let memory = this.#memories.get(work);
    if (memory === undefined) {
      memory = newWorkMemory();
      this.#memories.set(work, memory);
    }
    return memory;
  }

  /** Drops all state of a work. */
  forget(work: string): void {
    this.#memories.delete(work);
    this.live.setInterest(work, []);
  }

  /** Drops cached writes after a conflict, since they may be outdated. */
  forgetWrites(work: string): void {
    this.#works.forget(this.#workKey(work));
    this.#applied.forget(appliedWorkName(this.settings, work));
  }

  noteWork(work: ManifestWork): ManifestWork {
    this.#works.recordWrite(namespacedName(work.metadata), work as unknown as KubeObject);
    return work;
  }

  noteAppliedWork(name: string, applied: AppliedManifestWork | undefined): void {
    this.#applied.recordWrite(name, applied as unknown as KubeObject | undefined);
  }

  async writeWorkStatus(work: ManifestWork, status: ManifestWorkStatus): Promise<ManifestWork> {
    const written = await writeWorkStatus(this.settings.hub, work, status);
    return written === work ? work : this.noteWork(written);
  }

  async writeAppliedStatus(
    applied: AppliedManifestWork,
    status: AppliedManifestWorkStatus,
  ): Promise<AppliedManifestWork> {
    const written = await writeAppliedStatus(this.settings.cluster, applied, status);
    if (written !== applied) this.noteAppliedWork(applied.metadata.name, written);
    return written;
  }

  /** RFC 3339 in seconds, the format of times in Kubernetes. */
  now(): string {
    return rfc3339(this.settings.clock.now());
  }

  #workKey(name: string): string {
    return `${this.settings.clusterName}/${name}`;
  }
}

export function rfc3339(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
