import type { KindInfo } from '@berth/kube/model/kinds';
import {
  ADDON_DEPLOYMENT_CONFIG,
  ADDON_TEMPLATE,
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER_ADDON,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type {
  ClusterManagementAddOn,
  ManagedClusterAddOn,
  ManagedClusterAddOnStatus,
} from '@berth/ocm/kind/addon';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import pLimit from 'p-limit';
import { isOfTemplate, readClusterAddOn, storedReferences } from '@berth/addon/rules/addon-versions';
import { knownSpecHash } from '@berth/addon/rules/config-hash';
import { planConfiguration } from '../../core/addon/configuration/plan-configuration.ts';
import type { ConfigLookup } from '@berth/addon/rules/config-references';
import { AddOnController } from '@berth/addon/manager/addon-controller';
import type { AddOnRegistration } from '@berth/addon/manager/addon-registration';
import { AddOnInventory, type AddOnManagerOptions } from './addon-inventory.ts';

const CONCURRENCY = 8;
const GATHER_MS = 250;
/** A hub on which decisions change all the time does not keep configurations for longer. */
const MAX_FOLLOW_MS = 60_000;
/** What a commit brings is decided and published one after the other. */
const QUIET_MS = 500;
/** What a pass reads of the add-on of a cluster. */
const whatCounts = ({ metadata, spec, status = {} }: ManagedClusterAddOn): unknown => [
  metadata.uid,
  metadata.deletionTimestamp,
  spec?.configs,
  status.configReferences,
  status.supportedConfigs,
  status.conditions?.filter(({ type }) => type === 'Configured' || type === 'Progressing'),
];
const CONFIG_KINDS: readonly KindInfo[] = [ADDON_TEMPLATE, ADDON_DEPLOYMENT_CONFIG];

/** Gives the add-ons of clusters their configurations, by the rollouts of their placements. Keys are names of add-ons. */
export class AddOnConfigurator extends AddOnController<AddOnManagerOptions> {
  readonly name = 'configuration';
  readonly #inventory: AddOnInventory;
  readonly #configs = new Map(CONFIG_KINDS.map((kind) => [`${kind.plural}.${kind.group}`, this.read(kind)]));
  readonly #registration: AddOnRegistration | undefined;
  readonly #problems = new Map<string, string>();
  /** By add-on: since when a commit is followed, and since when nothing of it is left. */
  readonly #following = new Map<string, { readonly sinceMs: number; readonly quietSinceMs: number }>();

  /** @param registration that of this process, if it has this duty */
  constructor(options: AddOnManagerOptions, registration?: AddOnRegistration) {
    super(options);
    this.#registration = registration;
    this.#inventory = new AddOnInventory(options);
    this.reads.push(...this.#inventory.reflectors);
  }

  follow(queue: WorkQueue): void {
    this.#inventory.follow(queue, whatCounts);
    for (const { store } of this.#configs.values())
      store.onChange(() => {
        for (const { metadata } of this.#inventory.addOns.store.list())
          queue.addAfter(metadata.name, GATHER_MS);
      });
  }

  warnings(): readonly string[] {
    return [...this.#problems].map(
      ([name, text]) => `add-ons: no cluster gets another configuration of ${name} at present: ${text}`,
    );
  }

  async reconcile(name: string, signal: AbortSignal): Promise<ReconcileOutcome> {
    const stored = this.#inventory.addOns.store.get(name);
    const addOn = this.#inventory.addOn(name);
    this.#problems.delete(name);
    if (stored === undefined || addOn === undefined || addOn.metadata.deletionTimestamp !== undefined)
      return DONE;
    const nowMs = this.options.clock.now();
    if (this.#followsCommit(name, nowMs)) return { kind: 'requeue', afterMs: GATHER_MS };
    const addons = this.#inventory.stored(name);
    const plan = planConfiguration({
      ...{ nowMs, now: formatRfc3339(instantFromEpochMs(nowMs)), addOn },
      installed: this.#inventory.installed(name),
      selectionOf: (placement) => this.#inventory.selectionOf(placement),
      placement: (namespace, placement) => this.#inventory.placement(namespace, placement),
      lookup: this.#lookup(addOn),
    });
    if (plan.problem !== undefined) this.#problems.set(name, plan.problem);
    const { defaultConfigReferences, installProgressions } = plan.status;
    const before = addOn.status ?? {};
    if (
      !jsonEqual(defaultConfigReferences ?? [], before.defaultConfigReferences ?? []) ||
      !jsonEqual(installProgressions ?? [], before.installProgressions ?? [])
    )
      await this.patch(CLUSTER_MANAGEMENT_ADDON, stored, {
        status: { defaultconfigReferences: defaultConfigReferences, installProgressions },
      });
    const limit = pLimit(CONCURRENCY);
    const writes = [...plan.addons].flatMap(([cluster, status]) => {
      const object = addons.get(cluster);
      return object === undefined ? [] : [limit(() => this.#write(object, status, signal))];
    });
    const failed = (await Promise.allSettled(writes)).find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return plan.recheckAfterMs === undefined ? DONE : { kind: 'requeue', afterMs: plan.recheckAfterMs };
  }

  /** What one commit changes counts together: its placements are decided after its add-ons and configurations are applied. */
  #followsCommit(name: string, nowMs: number): boolean {
    const before = this.#following.get(name);
    const isBusy = this.options.isFollowing();
    if (before === undefined && !isBusy) return false;
    const sinceMs = before?.sinceMs ?? nowMs;
    const quietSinceMs = isBusy ? nowMs : (before?.quietSinceMs ?? nowMs);
    const isOver = nowMs - sinceMs >= MAX_FOLLOW_MS || nowMs - quietSinceMs >= QUIET_MS;
    if (isOver) this.#following.delete(name);
    else this.#following.set(name, { sinceMs, quietSinceMs });
    return !isOver;
  }

  /** The objects of an add-on of a template. Another add-on's own manager reads its configurations, and writes their hashes. */
  #lookup(addOn: ClusterManagementAddOn): ConfigLookup {
    if (!isOfTemplate(addOn)) return () => undefined;
    return ({ group, resource, namespace = '', name }) => {
      const reflector = this.#configs.get(`${resource}.${group}`);
      if (reflector === undefined) return undefined;
      const object = reflector.store.get(reflector.kind.namespaced ? `${namespace}/${name}` : name);
      if (object === undefined) return { specHash: '', generation: undefined };
      return { specHash: knownSpecHash(object), generation: object.metadata.generation };
    };
  }

  async #write(object: KubeObject, planned: ManagedClusterAddOnStatus, signal: AbortSignal): Promise<void> {
    const { status: before = {} } = readClusterAddOn(object);
    const isSame = Object.entries(planned).every(([field, value]) =>
      jsonEqual(value, before[field as keyof ManagedClusterAddOnStatus] ?? []),
    );
    if (isSame) return;
    const { configReferences: references, ...rest } = planned;
    const status = { ...rest, ...(references && { configReferences: storedReferences(references) }) };
    const configured = { ...object, status: { ...(object['status'] as object | undefined), ...status } };
    const registered = await this.#registration?.registerNew(configured, signal);
    await this.patch(MANAGED_CLUSTER_ADDON, object, { status: { ...status, ...registered } });
  }
}
