import type { Reflector } from '@berth/kube/cache/reflector';
import { MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { hasReachedVersion } from '@berth/kube/model/resource-version';
import type { AppliedManifestWork, AppliedManifestWorkStatus } from '@berth/ocm/kind/applied-manifest-work';
import type { ManifestWork, ManifestWorkStatus } from '@berth/ocm/kind/manifest-work';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { ApplyCache } from '../apply/apply-cache.ts';
import type { LiveObjects } from '../cluster/live-objects.ts';
import type { ExecutorReviews } from '../executor/executor-reviews.ts';
import type { AgentSettings } from '../options/agent-options.ts';
import { appliedWorkName, writeAppliedStatus } from './applied-work.ts';
import { AGENT_MANAGER } from '../rules/applied/ownership.ts';

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

  /** The work has returned, so the grace period ends. */
  async cancelEviction(applied: AppliedManifestWork): Promise<AppliedManifestWork> {
    if (applied.status?.evictionStartTime === undefined) return applied;
    const { evictionStartTime: _cleared, ...status } = applied.status;
    return this.writeAppliedStatus(applied, status);
  }

  /** RFC 3339 in seconds, the format of times in Kubernetes. */
  now(): string {
    return `${new Date(this.settings.clock.now()).toISOString().slice(0, 19)}Z`;
  }

  #workKey(name: string): string {
    return `${this.settings.clusterName}/${name}`;
  }
}

interface OwnWrite {
  /** Versions older than the write. While the store shows one of them, it is behind. */
  readonly olderVersions: Set<string | undefined>;
  readonly object: KubeObject | undefined;
}

/**
 * A read-your-writes view of a watched store: after a write its response is used until the watch
 * has caught up.
 */
export class ReadYourWritesCache {
  readonly #reflector: Pick<Reflector, 'store' | 'position'>;
  readonly #writes = new Map<string, OwnWrite>();
  /** The versions that our last writes created. */
  readonly #ownVersions = new Map<string, string>();

  constructor(reflector: Pick<Reflector, 'store' | 'position'>) {
    this.#reflector = reflector;
    reflector.store.onChange(({ key, after }) => {
      if (after === undefined) this.#ownVersions.delete(key);
    });
  }

  get(key: string): KubeObject | undefined {
    const seen = this.#reflector.store.get(key);
    const write = this.#writes.get(key);
    if (write === undefined) return seen;
    const isBehind = write.olderVersions.has(seen?.metadata.resourceVersion);
    if (isBehind && !this.#isShown(write.object)) return write.object;
    this.#writes.delete(key);
    return seen;
  }

  /** @param object from the response; undefined: deleted */
  recordWrite(key: string, object: KubeObject | undefined): void {
    const seen = this.#reflector.store.get(key)?.metadata.resourceVersion;
    const version = object?.metadata.resourceVersion;
    const before = this.#writes.get(key);
    if (version === undefined) this.#ownVersions.delete(key);
    else this.#ownVersions.set(key, version);
    // Without this, a late response would hide that the object was changed or deleted after the write.
    if ((version !== undefined && version === seen) || this.#isShown(object)) {
      this.#writes.delete(key);
      return;
    }
    const olderVersions = before?.olderVersions ?? new Set<string | undefined>();
    olderVersions.add(seen);
    if (before?.object !== undefined) olderVersions.add(before.object.metadata.resourceVersion);
    this.#writes.set(key, { olderVersions, object });
  }

  /** Whether the list or the watch has shown this version of an object, and all that followed until now. */
  #isShown(object: KubeObject | undefined): boolean {
    const { resourceVersion } = this.#reflector.position;
    const version = object?.metadata.resourceVersion;
    return (
      version !== undefined && resourceVersion !== undefined && hasReachedVersion(resourceVersion, version)
    );
  }

  /** Whether our own last write created this version. If so, its event is not new. */
  isOwn(key: string, object: KubeObject | undefined): boolean {
    return object !== undefined && this.#ownVersions.get(key) === object.metadata.resourceVersion;
  }

  /** Drops the own write: after a conflict only the watch is used. */
  forget(key: string): void {
    this.#writes.delete(key);
    this.#ownVersions.delete(key);
  }
}

/** State of one work between passes, which may be lost at any time. */
export interface WorkMemory {
  readonly applied: ApplyCache;
  /** Digest of the last input whose apply was started. */
  begunInput: string | undefined;
  /**
   * Digest of the last input that was applied completely; undefined: none, or the last pass was not
   * finished.
   */
  appliedInput: string | undefined;
  /** Whether a manifest could not be applied in the last pass, and is tried again soon. */
  failed: boolean;
  /** Whether objects on the cluster have changed since. */
  drifted: boolean;
  /** Milliseconds since the epoch. */
  resyncAtMs: number;
  correctedAtMs: number;
  /** Number of recent corrections, which show that another client keeps changing objects. */
  corrections: number;
}

export function newWorkMemory(): WorkMemory {
  return {
    applied: new ApplyCache(),
    begunInput: undefined,
    appliedInput: undefined,
    failed: false,
    drifted: false,
    resyncAtMs: 0,
    correctedAtMs: 0,
    corrections: 0,
  };
}

/** Corrections without a delay. */
const FREE_CORRECTIONS = 3;

/**
 * When drift may be corrected, or an unfinished pass repeated, again: immediately the first few
 * times, then with growing delay.
 */
export function correctionAllowedAtMs(memory: WorkMemory, resyncIntervalMs: number): number {
  if (memory.corrections < FREE_CORRECTIONS) return 0;
  const waitMs = Math.min(resyncIntervalMs, 1_000 * 2 ** Math.min(memory.corrections - FREE_CORRECTIONS, 20));
  return memory.correctedAtMs + waitMs;
}

/** After this time without a correction, the count starts again. */
const QUIET_MS = 600_000;

export function noteCorrection(memory: WorkMemory, nowMs: number): void {
  memory.corrections = nowMs - memory.correctedAtMs > QUIET_MS ? 1 : memory.corrections + 1;
  memory.correctedAtMs = nowMs;
}

/**
 * Writes the status of a work if it differs.
 * @returns the work after the write
 * @throws ConflictError if the work has changed
 */
async function writeWorkStatus(
  hub: KubeApi,
  work: ManifestWork,
  status: ManifestWorkStatus,
): Promise<ManifestWork> {
  if (jsonEqual(work.status ?? {}, status)) return work;
  const { namespace = '', name, uid, resourceVersion } = work.metadata;
  // A merge patch replaces lists completely, so removed entries disappear.
  const patch = { metadata: { uid, resourceVersion }, status };
  const written = await hub.mergePatch(MANIFEST_WORK, { namespace, name }, patch, {
    subresource: 'status',
    fieldManager: AGENT_MANAGER,
  });
  return written as unknown as ManifestWork;
}

/**
 * Replaces the finalizers of a work.
 * @returns the work after the write
 * @throws ConflictError if the work has changed
 */
export async function writeFinalizers(
  hub: KubeApi,
  work: ManifestWork,
  finalizers: readonly string[],
): Promise<ManifestWork> {
  const { namespace = '', name, uid, resourceVersion } = work.metadata;
  const patch = { metadata: { uid, resourceVersion, finalizers } };
  const options = { fieldManager: AGENT_MANAGER };
  return (await hub.mergePatch(
    MANIFEST_WORK,
    { namespace, name },
    patch,
    options,
  )) as unknown as ManifestWork;
}
