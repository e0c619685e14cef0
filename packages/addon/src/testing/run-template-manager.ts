import { ObjectCache } from '@berth/kube/cache/object-cache';
import { runControllers } from '@berth/kube/controller/run-controllers';
import { setCondition } from '@berth/kube/model/condition-list';
import {
  ADDON_DEPLOYMENT_CONFIG,
  ADDON_TEMPLATE,
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER_ADDON,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Condition } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { AddOnConfigReference } from '@berth/ocm/kind/addon';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { Logger } from '@berth/runtime/logger';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import { onAbort } from '@berth/runtime/loop/sleep';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import { AddOnCertificates } from '../manager/addon-certificates.ts';
import { ADDON_MANAGER, AddOnController } from '../manager/addon-controller.ts';
import { AddOnDeployer } from '../manager/addon-deployer.ts';
import { AddOnRegistration } from '../manager/addon-registration.ts';
import { AddOnTokens } from '../manager/addon-tokens.ts';
import { TemplateDeployment, TemplateRegistration } from '../manager/template-source.ts';
import { planOwners } from '../rules/addon-owner.ts';
import { isOfTemplate, readAddOn, readClusterAddOn, storedReferences } from '../rules/addon-versions.ts';
import { knownSpecHash } from '../rules/config-hash.ts';
import { isOfKind, NO_DEFAULT, sameKind } from '../rules/config-references.ts';

/**
 * Deploys and registers the add-ons of AddOnTemplates, with the controllers of `berth serve --addons`. Placements and rollouts are not
 * there: each add-on of a cluster has at once what it and its ClusterManagementAddOn name.
 */
export async function runTemplateManager(hub: KubeApi, log: Logger, signal: AbortSignal): Promise<void> {
  const shared = { clock: systemClock, random: Math.random, log };
  const cache = new ObjectCache({ ...shared, api: hub });
  const options = { ...shared, hub, cache };
  const controllers = [
    new ConfigurationsAtOnce(options),
    new AddOnRegistration(options, new TemplateRegistration(options)),
    new AddOnCertificates(options, new TemplateRegistration(options)),
    new AddOnTokens(options),
    new AddOnDeployer(options, new TemplateDeployment(options)),
  ];
  const running = runControllers(options, controllers, 'add-ons');
  const supervisor = new Supervisor(shared);
  cache.start(supervisor);
  await new Promise<void>((resolve) => onAbort(signal, resolve));
  await Promise.all([running.close(), supervisor.close()]);
}

const CONFIGURED: Condition = {
  type: 'Configured',
  status: 'True',
  reason: 'ConfigurationsConfigured',
  message: 'Configurations configured',
};

/** Keys are `CLUSTER/ADDON`. */
class ConfigurationsAtOnce extends AddOnController {
  readonly name = 'configuration';
  readonly #addons = this.read(MANAGED_CLUSTER_ADDON);
  readonly #managed = this.read(CLUSTER_MANAGEMENT_ADDON);
  readonly #configs = [ADDON_TEMPLATE, ADDON_DEPLOYMENT_CONFIG].map((kind) => this.read(kind));

  follow(queue: WorkQueue): void {
    const addAll = (): void => {
      for (const { metadata } of this.#addons.store.list()) queue.add(namespacedName(metadata));
    };
    addAll();
    for (const { store } of [this.#addons, this.#managed, ...this.#configs]) store.onChange(addAll);
  }

  async reconcile(key: string): Promise<ReconcileOutcome> {
    const stored = this.#addons.store.get(key);
    const owner = stored && this.#managed.store.get(stored.metadata.name);
    if (stored === undefined || owner === undefined || stored.metadata.deletionTimestamp !== undefined)
      return DONE;
    const managed = readAddOn(owner);
    if (!isOfTemplate(managed)) return DONE;
    const { namespace = '', name, uid, resourceVersion } = stored.metadata;
    const patch = (metadata: object, status?: object) =>
      this.options.hub.mergePatch(
        MANAGED_CLUSTER_ADDON,
        { namespace, name },
        { metadata: { uid, resourceVersion, ...metadata }, ...(status && { status }) },
        {
          ...(status && { subresource: 'status' as const }),
          fieldManager: ADDON_MANAGER,
          metadataOnly: true,
        },
      );
    const ownerReferences = planOwners(stored.metadata, owner.metadata);
    if (ownerReferences !== undefined) {
      // The event of this write starts the next pass.
      await patch({ ownerReferences });
      return DONE;
    }
    const { spec, status } = readClusterAddOn(stored);
    const own = spec?.configs ?? [];
    const defaults = (managed.spec.defaultConfigs ?? []).filter(
      (config) => config.name !== NO_DEFAULT && !own.some((one) => sameKind(one, config)),
    );
    const configReferences = [...defaults, ...own].map(
      ({ group, resource, ...referent }): AddOnConfigReference => {
        const config = this.#configs.find(({ kind }) => isOfKind({ group, resource }, kind));
        const object = config?.store.get(namespacedName(referent));
        const specHash = object === undefined ? '' : knownSpecHash(object);
        const lastObservedGeneration = object?.metadata.generation ?? 0;
        return {
          group,
          resource,
          lastObservedGeneration,
          desiredConfig: { ...referent, specHash },
          lastAppliedConfig: null,
        };
      },
    );
    const now = formatRfc3339(instantFromEpochMs(this.options.clock.now()));
    const before = status?.conditions ?? [];
    const conditions = setCondition(before, CONFIGURED, now);
    const references = storedReferences(configReferences);
    if (
      !jsonEqual(references, storedReferences(status?.configReferences ?? [])) ||
      !jsonEqual(conditions, before)
    )
      await patch({}, { configReferences: references, conditions });
    return DONE;
  }
}
