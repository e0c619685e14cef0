import { ObjectCache } from '@berth/kube/cache/object-cache';
import { type RunningControllers, runControllers } from '@berth/kube/controller/run-controllers';
import {
  apiVersionOf,
  CERTIFICATE_REQUEST,
  MANIFEST_WORK,
  ROLE,
  ROLE_BINDING,
} from '@berth/kube/model/kinds';
import type { KubeApi, ListOptions } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { ADDON_NAME_LABEL } from '@berth/ocm/registration/names';
import type { SleepingClock } from '@berth/runtime/clock/clock';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { InputError } from '@berth/runtime/errors';
import { type Logger, SILENT_LOG } from '@berth/runtime/logger';
import { onAbort } from '@berth/runtime/loop/sleep';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { type AddOnDefinition, defineAddOn, type PermissionContext } from './definition/define-addon.ts';
import { AddOnCertificates } from './manager/addon-certificates.ts';
import { AddOnDeployer } from './manager/addon-deployer.ts';
import { AddOnRegistration } from './manager/addon-registration.ts';
import { CodeSource } from './manager/code-source.ts';
import { AddOnReferences } from './manager/addon-references.ts';
import type { ManagerEvent } from './rules/manager-event.ts';
import { PERMISSION_KINDS, PERMISSION_LABEL } from './rules/registration/code-registrations.ts';

/* What the author of an add-on imports for the hub's side. The agent's side is `@berth/addon/agent`, tests have `@berth/addon/testing`. */

/** @public */
export { defineAddOn, SubjectNotReadyError } from './definition/define-addon.ts';
export { signWithAuthority } from './manager/sign-with-authority.ts';
/** @public */
export type {
  AddOnContext,
  AddOnDefinition,
  ApprovalContext,
  PermissionContext,
  ProbeDefinition,
  RegistrationConfig,
  RegistrationDefinition,
  RequestContext,
} from './definition/define-addon.ts';

export interface AddOnManagerOptions {
  /** The hub, with the rights of the manager. */
  readonly hub: KubeApi;
  readonly addOns: readonly AddOnDefinition[];
  /** Default: none. */
  readonly log?: Logger | undefined;
  /** Called for each work that is written, and each request that is approved or signed. */
  readonly onEvent?: ((event: ManagerEvent) => void) | undefined;
  /** Default: the clock of the machine. */
  readonly clock?: SleepingClock | undefined;
  /** Uniform in [0, 1). Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
}

export interface AddOnManager {
  /** Works until the signal aborts. Never rejects: what fails is logged, is in the add-on's conditions, and is tried again. */
  run(signal: AbortSignal): Promise<void>;
  /** Makes the add-on of a cluster again, because something changed that the manager does not watch. */
  trigger(cluster: string, addOn: string): void;
  /** What fails at the moment, as text for users. */
  warnings(): readonly string[];
}

/**
 * The manager of add-ons on the hub. It deploys them, registers their agents, and reports their health. One process of an add-on runs at a
 * time. Installing by placement and rolling out configurations is done by `berth serve --addons` or OCM's add-on manager.
 * @throws InputError for two add-ons of one name, and what `defineAddOn` throws
 */
export function createAddOnManager(options: AddOnManagerOptions): AddOnManager {
  const { hub, addOns, onEvent, log = SILENT_LOG, clock = systemClock, random = Math.random } = options;
  const definitions = new Map<string, AddOnDefinition>();
  for (const definition of addOns) {
    if (definitions.has(definition.name))
      throw new InputError('is given twice', {
        ...{ code: 'addon.definition', subject: `add-on ${definition.name}` },
      });
    definitions.set(definition.name, defineAddOn(definition));
  }
  const shared = { clock, random, log };
  const cache = new ObjectCache({ ...shared, api: hub, scopes: scopesOf([...definitions.keys()]) });
  const given = { ...shared, hub, cache, onEvent };
  const source = new CodeSource(given, definitions);
  const controllers = [
    new AddOnReferences(given, definitions),
    new AddOnRegistration(given, source),
    new AddOnCertificates(given, source),
    new AddOnDeployer(given, source),
  ];
  let running: RunningControllers | undefined;
  return {
    trigger: (cluster, addOn) => source.trigger(cluster, addOn),
    warnings: () => running?.warnings() ?? [],
    run: async (signal) => {
      running = runControllers(given, controllers, 'add-ons');
      const supervisor = new Supervisor(shared);
      cache.start(supervisor);
      await new Promise<void>((resolve) => onAbort(signal, resolve));
      await Promise.all([running.close(), supervisor.close()]);
    },
  };
}

/**
 * Runs the manager of add-ons until the signal aborts.
 * @throws InputError for two add-ons of one name, and what `defineAddOn` throws
 */
export async function runAddOnManager(
  options: AddOnManagerOptions & { readonly signal: AbortSignal },
): Promise<void> {
  await createAddOnManager(options).run(options.signal);
}

/** Only what belongs to the add-ons is followed. */
function scopesOf(addOns: readonly string[]): Readonly<Record<string, ListOptions>> {
  const ofAddOns = { labelSelector: `${ADDON_NAME_LABEL} in (${addOns.join(',')})` };
  return Object.fromEntries([
    ...[MANIFEST_WORK, CERTIFICATE_REQUEST].map(({ plural }) => [plural, ofAddOns] as const),
    ...PERMISSION_KINDS.map(({ plural }) => [plural, { labelSelector: PERMISSION_LABEL }] as const),
  ]);
}

/**
 * A Role in the namespace of the cluster on the hub, bound to the add-on's agent on that cluster and to nobody else: what `permissions`
 * usually returns.
 * @param rules as in a Role
 * @throws SubjectNotReadyError while the user of the agent is not known
 */
export function bindRole(
  { cluster, addon, subjects }: PermissionContext,
  rules: readonly object[],
): readonly KubeObject[] {
  const name = `open-cluster-management:${addon.metadata.name}:agent`;
  const metadata = { namespace: cluster.metadata.name, name };
  return [
    { apiVersion: apiVersionOf(ROLE), kind: ROLE.kind, metadata, rules },
    {
      ...{ apiVersion: apiVersionOf(ROLE_BINDING), kind: ROLE_BINDING.kind, metadata },
      roleRef: { apiGroup: ROLE.group, kind: ROLE.kind, name },
      subjects: subjects(),
    },
  ];
}
