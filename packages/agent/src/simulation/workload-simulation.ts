import { ConflictError, errorText, InputError } from '@berth/runtime/errors';
import { Reflector } from '@berth/kube/cache/reflector';
import { DEPLOYMENT, kind, type KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import { behaviourOf } from './simulation-options.ts';
import { statusPatch } from './status-patch.ts';
import { STATUS_RULES } from './workload-status.ts';

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

const SIMULATED: readonly KindInfo[] = [
  DEPLOYMENT,
  kind('apps', 'v1', 'StatefulSet', 'Namespaced'),
  kind('apps', 'v1', 'DaemonSet', 'Namespaced'),
  kind('batch', 'v1', 'Job', 'Namespaced'),
  kind('', 'v1', 'Pod', 'Namespaced'),
];

/**
 * Simulates workloads of a cluster without nodes: after a delay their status becomes that of
 * running workloads, or as annotations request. It writes only status.
 */
export function startWorkloadSimulation(options: WorkloadSimulationOptions): WorkloadSimulation {
  const stop = new AbortController();
  const runs = SIMULATED.map((kind) => new KindSimulation(kind, options).run(stop.signal));
  return {
    close: async () => {
      stop.abort();
      await Promise.all(runs);
    },
  };
}

class KindSimulation {
  readonly #kind: KindInfo;
  readonly #options: WorkloadSimulationOptions;
  readonly #reflector: Reflector;
  /** When this version of a workload was first seen, by uid. */
  readonly #started = new Map<string, { readonly generation: number | undefined; readonly atMs: number }>();
  readonly #timers = new Map<string, () => void>();
  readonly #writing = new Set<string>();

  constructor(kind: KindInfo, options: WorkloadSimulationOptions) {
    this.#kind = kind;
    this.#options = options;
    const { cluster: api, clock, log, random = Math.random } = options;
    this.#reflector = new Reflector({ api, kind, clock, log, random });
    this.#reflector.store.onChange(({ key, before, after }) => {
      if (after === undefined) this.#forget(key, before);
      else this.#reconcile(key);
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#reflector.run(signal);
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #forget(key: string, before: KubeObject | undefined): void {
    this.#timers.get(key)?.();
    this.#timers.delete(key);
    this.#started.delete(before?.metadata.uid ?? '');
  }

  #reconcile(key: string): void {
    const workload = this.#reflector.store.get(key);
    if (workload === undefined || this.#writing.has(key)) return;
    const { clock, readyAfterMs = 1_000 } = this.#options;
    const behaviour = behaviourOf(workload, readyAfterMs);
    if (behaviour.fate === 'hang') return;
    const waitMs = this.#startedAtMs(workload) + behaviour.readyAfterMs - clock.now();
    const rule = STATUS_RULES[`${this.#kind.group}/${this.#kind.kind}`];
    const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
    const wanted = rule?.(workload, { now, due: waitMs <= 0, fate: behaviour.fate }) ?? {};
    const patch = statusPatch(workload['status'], wanted);
    if (patch !== undefined) void this.#write(key, workload, patch);
    else if (waitMs > 0) this.#requeue(key, waitMs);
  }

  /** A workload that had finished before the simulation started does not start again. */
  #startedAtMs(workload: KubeObject): number {
    const { uid = '', generation } = workload.metadata;
    const known = this.#started.get(uid);
    if (known !== undefined && (known.generation === generation || this.#kind.kind === 'Job'))
      return known.atMs;
    const status = workload['status'] as { observedGeneration?: number; phase?: string } | undefined;
    const settled =
      known === undefined && generation !== undefined && status?.observedGeneration === generation;
    const atMs = settled ? -Infinity : this.#options.clock.now();
    this.#started.set(uid, { generation, atMs });
    return atMs;
  }

  #requeue(key: string, afterMs: number): void {
    this.#timers.get(key)?.();
    this.#timers.set(
      key,
      this.#options.clock.schedule(afterMs, () => this.#reconcile(key)),
    );
  }

  async #write(key: string, { metadata }: KubeObject, status: object): Promise<void> {
    const { cluster, log } = this.#options;
    const { uid, resourceVersion, namespace = '', name } = metadata;
    this.#writing.add(key);
    try {
      const patch = { metadata: { uid, resourceVersion }, status };
      const options = { subresource: 'status', fieldManager: 'berth-simulation' } as const;
      const written = await cluster.mergePatch(this.#kind, { namespace, name }, patch, options);
      this.#writing.delete(key);
      this.#reflector.putWritten(written);
      this.#reconcile(namespacedName(written.metadata));
    } catch (error) {
      this.#writing.delete(key);
      // It was changed or deleted: a watch event follows.
      if (error instanceof ConflictError || error instanceof InputError) return;
      log.debug('status of a simulated workload cannot be written yet', { key, problem: errorText(error) });
      this.#requeue(key, 1_000);
    }
  }
}
