import {
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  CONFIG_MAP,
  CUSTOM_RESOURCE_DEFINITION,
  MANAGED_CLUSTER_ADDON,
  NAMESPACE,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { InputError } from '@berth/runtime/errors';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { formatNameList } from '@berth/runtime/text/name-list';
import { applyObjects, deleteObjects, type Installation } from '../../installation/apply-objects.ts';

/** The manager of an add-on, as `berth install hub-addon` brings it to a hub. */
export interface HubAddOn {
  readonly name: string;
  readonly namespace: string;
}

type Listed = Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>;

/** They are written first. At the end they stay: what others keep in them would go, too. */
const LASTING: readonly string[] = [NAMESPACE.kind, CUSTOM_RESOURCE_DEFINITION.kind];

/** The objects in the order in which they are written, each in a namespace if its kind needs one. */
export async function hubAddOnObjects(
  api: Pick<KubeApi, 'resolve'>,
  namespace: string,
  objects: readonly KubeObject[],
): Promise<readonly KubeObject[]> {
  const placed = await Promise.all(
    objects.map(async (object) => {
      if (object.metadata.namespace !== undefined) return object;
      const kind = await api.resolve(object.apiVersion, object.kind);
      return kind?.namespaced === true ? { ...object, metadata: { ...object.metadata, namespace } } : object;
    }),
  );
  return [
    ...LASTING.flatMap((kind) => placed.filter((object) => object.kind === kind)),
    ...placed.filter(({ kind }) => !LASTING.includes(kind)),
  ];
}

/**
 * Writes the objects, and before them a list of all that were ever written, by which they are found again.
 * @param objects in their order
 */
export async function installHubAddOn(
  installation: Installation,
  addOn: HubAddOn,
  objects: readonly KubeObject[],
): Promise<void> {
  const listed = objects.map(
    ({ apiVersion, kind, metadata: { namespace, name } }): Listed => ({
      ...{ apiVersion, kind },
      metadata: { ...(namespace !== undefined && { namespace }), name },
    }),
  );
  const before = (await listedObjects(installation.api, addOn)) ?? [];
  const added = listed.filter((one) => !before.some((other) => jsonEqual(one, other)));
  const list = {
    apiVersion: apiVersionOf(CONFIG_MAP),
    kind: CONFIG_MAP.kind,
    metadata: listKey(addOn),
    data: { objects: JSON.stringify([...before, ...added]) },
  };
  const lasting = objects.filter(({ kind }) => LASTING.includes(kind));
  await applyObjects(installation, [...lasting, list, ...objects.filter((one) => !lasting.includes(one))]);
}

/**
 * Deletes what was installed, but no namespaces and definitions.
 * @returns what stays; undefined if nothing was installed
 * @throws InputError while a cluster has one of its add-ons
 */
export async function uninstallHubAddOn(
  installation: Installation,
  addOn: HubAddOn,
  isDryRun: boolean,
): Promise<readonly Listed[] | undefined> {
  const { api } = installation;
  const objects = await listedObjects(api, addOn);
  if (objects === undefined) return undefined;
  await refuseEnabled(api, objects);
  const list = { apiVersion: apiVersionOf(CONFIG_MAP), kind: CONFIG_MAP.kind, metadata: listKey(addOn) };
  const lasting = objects.filter(({ kind }) => LASTING.includes(kind));
  const going = objects.filter((one) => !lasting.includes(one));
  if (!isDryRun) await deleteObjects(installation, [list, ...going]);
  return lasting;
}

async function refuseEnabled(api: KubeApi, objects: readonly Listed[]): Promise<void> {
  const names = objects
    .filter(({ kind }) => kind === CLUSTER_MANAGEMENT_ADDON.kind)
    .map(({ metadata }) => metadata.name);
  const { items } = await api.list(MANAGED_CLUSTER_ADDON);
  for (const name of names) {
    const clusters = items
      .filter(({ metadata }) => metadata.name === name)
      .map(({ metadata }) => metadata.namespace ?? '');
    if (clusters.length > 0)
      throw new InputError(`is still enabled on ${formatNameList(clusters)}`, {
        code: 'addon.enabled',
        subject: `add-on ${name}`,
        hint: `berth addon disable --names ${name} --clusters ${clusters.join(',')}`,
      });
  }
}

function listKey({ name, namespace }: HubAddOn): { readonly name: string; readonly namespace: string } {
  return { namespace, name: `berth-hub-addon-${name}` };
}

async function listedObjects(api: KubeApi, addOn: HubAddOn): Promise<readonly Listed[] | undefined> {
  const list = await api.get(CONFIG_MAP, listKey(addOn));
  const { objects } = (list?.['data'] ?? {}) as { readonly objects?: string };
  return objects === undefined ? undefined : (JSON.parse(objects) as readonly Listed[]);
}
