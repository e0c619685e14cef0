import { KeyIndex } from '@berth/kube/cache/object-store';
import { Reflector } from '@berth/kube/cache/reflector';
import { DEPLOYMENT, kind, type KindInfo, POD } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Clock } from '@berth/runtime/clock/clock';
import { ConflictError, errorText, InputError } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { planChildren } from './plan-children.ts';
import {
  controllerOf,
  daemonSetStatus,
  deploymentStatus,
  hasStarted,
  jobStatus,
  podStatus,
  replicaSetStatus,
  statefulSetStatus,
  statusPatch,
  type StatusRule,
} from './simulated-status.ts';
import { behaviourOf } from './simulation-options.ts';

export interface WorkloadSimulationOptions {
  readonly cluster: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random?: () => number;
  /** Default time until a workload is ready. Default 1 s. */
  readonly readyAfterMs?: number;
}

export interface WorkloadSimulation {
  close(): Promise<void>;
}

const REPLICA_SET = kind('apps', 'v1', 'ReplicaSet', 'Namespaced');

interface Simulated {
  readonly kind: KindInfo;
  readonly status: StatusRule;
  /** What its controller makes for it. */
  readonly children?: KindInfo;
}

const SIMULATED: readonly Simulated[] = [
  { kind: POD, status: podStatus },
  { kind: REPLICA_SET, status: replicaSetStatus, children: POD },
  { kind: DEPLOYMENT, status: deploymentStatus, children: REPLICA_SET },
  { kind: kind('apps', 'v1', 'StatefulSet', 'Namespaced'), status: statefulSetStatus, children: POD },
  { kind: kind('apps', 'v1', 'DaemonSet', 'Namespaced'), status: daemonSetStatus, children: POD },
  { kind: kind('batch', 'v1', 'Job', 'Namespaced'), status: jobStatus, children: POD },
];

/**
 * Simulates workloads of a cluster without nodes: after a delay their status becomes that of running workloads, or as
 * annotations request. They get the ReplicaSets and pods that a cluster's controllers would make.
 */
export function startWorkloadSimulation(options: WorkloadSimulationOptions): WorkloadSimulation {
  const stop = new AbortController();
  const kinds = new Map<KindInfo, KindSimulation>();
  for (const simulated of SIMULATED)
    kinds.set(simulated.kind, new KindSimulation(simulated, options, { kinds, signal: stop.signal }));
  // A cluster without Deployments is not asked for ReplicaSets.
  for (const [kind, one] of kinds) if (kind !== REPLICA_SET) one.start();
  return {
    close: async () => {
      stop.abort();
      await Promise.all([...kinds.values()].map((one) => one.running));
    },
  };
}

interface WholeSimulation {
  /** Those of children come first. */
  readonly kinds: ReadonlyMap<KindInfo, KindSimulation>;
  readonly signal: AbortSignal;
}

class KindSimulation {
  readonly #kind: KindInfo;
  readonly #status: StatusRule;
  readonly #children: KindSimulation | undefined;
  readonly #options: WorkloadSimulationOptions;
  readonly #whole: WholeSimulation;
  readonly #reflector: Reflector;
  /** By the uid of their controller. */
  readonly #controlled: KeyIndex;
  /** When this version of a workload was first seen, by uid. */
  readonly #started = new Map<string, { readonly generation: number | undefined; readonly atMs: number }>();
  readonly #timers = new Map<string, () => void>();
  /** Workloads that are being written, and whether something changed meanwhile. */
  readonly #writing = new Map<string, boolean>();
  #running: Promise<void> | undefined;

  constructor(
    { kind, status, children }: Simulated,
    options: WorkloadSimulationOptions,
    whole: WholeSimulation,
  ) {
    this.#kind = kind;
    this.#status = status;
    this.#children = children === undefined ? undefined : whole.kinds.get(children);
    this.#options = options;
    this.#whole = whole;
    const { cluster: api, clock, log, random = Math.random } = options;
    this.#reflector = new Reflector({ api, kind, clock, log, random });
    this.#controlled = new KeyIndex(this.#reflector.store, (object) => controllerOf(object)?.uid);
    this.#reflector.store.onChange(({ key, before, after }) => {
      if (after === undefined) this.#forget(key, before);
      else this.#reconcile(key);
      const child = after ?? before;
      // A controller need not know of each new status.
      if (child !== undefined && before?.metadata.generation !== after?.metadata.generation)
        this.#reconcileController(child);
    });
  }

  /** Follows the kind until the simulation ends. Later calls change nothing. */
  start(): void {
    this.#running ??= this.#run();
  }

  get running(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  async #run(): Promise<void> {
    const { kinds, signal } = this.#whole;
    const running = this.#reflector.run(signal);
    await this.#reflector.whenSynced(signal);
    for (const one of kinds.values())
      if (one.#children === this)
        for (const { metadata } of one.#reflector.store.list()) one.#reconcile(namespacedName(metadata));
    await running;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #reconcileController(child: KubeObject): void {
    const owner = controllerOf(child);
    if (owner === undefined) return;
    const key = namespacedName({ ...child.metadata, name: owner.name });
    for (const one of this.#whole.kinds.values()) if (one.#kind.kind === owner.kind) one.#reconcile(key);
  }

  #forget(key: string, before: KubeObject | undefined): void {
    this.#timers.get(key)?.();
    this.#timers.delete(key);
    this.#started.delete(before?.metadata.uid ?? '');
  }

  #reconcile(key: string): void {
    if (this.#whole.signal.aborted) return;
    const workload = this.#reflector.store.get(key);
    if (this.#writing.has(key)) this.#writing.set(key, true);
    if (workload === undefined || this.#writing.has(key)) return;
    const { clock, readyAfterMs = 1_000 } = this.#options;
    const behaviour = behaviourOf(workload, readyAfterMs);
    if (behaviour.fate === 'hang') return;
    const waitMs = this.#startedAtMs(workload) + behaviour.readyAfterMs - clock.now();
    const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
    const wanted = this.#status(workload, { now, due: waitMs <= 0, fate: behaviour.fate });
    // Most writes would be those of children that are not ready yet, so they have one status only.
    const isQuiet = waitMs > 0 && controllerOf(workload) !== undefined;
    const patch = isQuiet ? undefined : statusPatch(workload['status'], wanted);
    if (patch !== undefined) {
      void this.#write(key, () => this.#writeStatus(workload, patch));
      return;
    }
    if (waitMs > 0) this.#requeue(key, waitMs);
    const makeChildren = this.#childrenToMake(workload);
    if (makeChildren !== undefined) void this.#write(key, makeChildren);
  }

  /** A workload that had finished before the simulation started does not start again. */
  #startedAtMs(workload: KubeObject): number {
    const { uid = '', generation } = workload.metadata;
    const known = this.#started.get(uid);
    if (known !== undefined && (known.generation === generation || this.#kind.kind === 'Job'))
      return known.atMs;
    const isObserved = known === undefined && hasStarted(workload);
    const atMs = isObserved ? -Infinity : this.#options.clock.now();
    this.#started.set(uid, { generation, atMs });
    return atMs;
  }

  #requeue(key: string, afterMs: number): void {
    // A write may fail because the simulation has ended.
    if (this.#whole.signal.aborted) return;
    this.#timers.get(key)?.();
    this.#timers.set(
      key,
      this.#options.clock.schedule(afterMs, () => this.#reconcile(key)),
    );
  }

  /** Undefined if they are as the workload wants them, or not known yet. */
  #childrenToMake(workload: KubeObject): (() => Promise<void>) | undefined {
    const children = this.#children;
    if (children === undefined) return undefined;
    children.start();
    if (!children.#reflector.synced) return undefined;
    const { cluster, random = Math.random } = this.#options;
    const live = children.#controlled.get(workload.metadata.uid ?? '');
    const { create, remove, scale, replicas } = planChildren(this.#kind, workload, live, random);
    if (create.length + remove.length + scale.length === 0) return undefined;
    const kind = children.#kind;
    return async () => {
      for (const { metadata } of remove) {
        const { uid, namespace = '', name } = metadata;
        await cluster.delete(kind, { namespace, name }, { uid, propagationPolicy: 'Background' });
      }
      for (const { metadata } of scale) {
        const { uid, resourceVersion, namespace = '', name } = metadata;
        const patch = { metadata: { uid, resourceVersion }, spec: { replicas } };
        children.#reflector.putWritten(await cluster.mergePatch(kind, { namespace, name }, patch, WRITER));
      }
      for (const child of create) children.#reflector.putWritten(await cluster.create(kind, child, WRITER));
    };
  }

  async #writeStatus({ metadata }: KubeObject, status: object): Promise<void> {
    const { uid, resourceVersion, namespace = '', name } = metadata;
    const patch = { metadata: { uid, resourceVersion }, status };
    const options = { subresource: 'status', ...WRITER } as const;
    const written = await this.#options.cluster.mergePatch(this.#kind, { namespace, name }, patch, options);
    this.#reflector.putWritten(written);
  }

  /** One write at a time for each workload; then what is still to do. */
  async #write(key: string, write: () => Promise<void>): Promise<void> {
    this.#writing.set(key, false);
    try {
      await write();
      this.#writing.delete(key);
      this.#reconcile(key);
    } catch (error) {
      const isChanged = this.#writing.get(key) === true;
      this.#writing.delete(key);
      if (error instanceof ConflictError || error instanceof InputError) {
        // It was changed or deleted: its watch event follows, unless it came meanwhile.
        if (isChanged) this.#reconcile(key);
        return;
      }
      this.#options.log.debug('a simulated workload cannot be written yet', {
        key,
        problem: errorText(error),
      });
      this.#requeue(key, 1_000);
    }
  }
}

const WRITER = { fieldManager: 'berth-simulation' } as const;
