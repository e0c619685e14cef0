import { ADDON_TEMPLATE, CLUSTER_MANAGEMENT_ADDON, type KindInfo } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatNameList } from '@berth/runtime/text/name-list';
import { readClusterAddOn } from '@berth/addon/rules/addon-versions';
import {
  addOnOfTemplate,
  addOnTemplate,
  defaultTemplateOf,
  isSameAddOn,
  type ManifestAddOn,
  templateNameOf,
} from '../../../core/addon/enabling/addon-of-manifests.ts';
import { desiredConfig } from '@berth/addon/rules/render-template';
import { CLI_FIELD_MANAGER } from '../../cluster-sets/set-change.ts';
import { type AddOnChange, addOnsOf, refuseFromGit } from './enable-addons.ts';

/**
 * Makes an AddOnTemplate of manifests, then the ClusterManagementAddOn that uses it.
 * @param overwrite whether existing ones are changed
 */
export async function planCreation(
  hub: KubeApi,
  wanted: ManifestAddOn,
  overwrite: boolean,
): Promise<readonly AddOnChange[]> {
  const name = templateNameOf(wanted);
  const template = await hub.get(ADDON_TEMPLATE, { namespace: '', name });
  const addOn = await hub.get(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name: wanted.name });
  const users = await clustersWith(hub, wanted.name, name);
  return [
    changeOf(hub, ADDON_TEMPLATE, overwrite, {
      title: `AddonTemplate ${name}`,
      object: addOnTemplate(wanted, template),
      before: template,
      note: users.length === 0 ? '' : `: ${formatNameList(users)} ${users.length === 1 ? 'uses' : 'use'} it`,
    }),
    changeOf(hub, CLUSTER_MANAGEMENT_ADDON, overwrite, {
      title: `ClusterManagementAddon ${wanted.name}`,
      object: addOnOfTemplate(wanted, addOn),
      before: addOn,
      note: addOn === undefined ? '' : `: it had ${templateText(defaultTemplateOf(addOn))}`,
    }),
  ];
}

const templateText = (name: string | undefined): string =>
  name === undefined ? 'no AddonTemplate' : `AddonTemplate ${name}`;

/** The clusters whose add-on shall use the template. */
async function clustersWith(hub: KubeApi, addOn: string, template: string): Promise<readonly string[]> {
  return [...(await addOnsOf(hub, addOn))]
    .filter(([, addon]) => desiredConfig(readClusterAddOn(addon), 'addontemplates')?.name === template)
    .map(([cluster]) => cluster);
}

interface Wanted {
  readonly title: string;
  readonly object: KubeObject;
  readonly before: KubeObject | undefined;
  readonly note: string;
}

function changeOf(
  hub: KubeApi,
  kind: KindInfo,
  overwrite: boolean,
  { title, object, before, note }: Wanted,
): AddOnChange {
  if (before === undefined)
    return {
      line: `${title} is created`,
      object,
      apply: async () => void (await hub.create(kind, object, CLI_FIELD_MANAGER)),
    };
  if (isSameAddOn(object, before)) return { line: `${title} is as it should be`, object: before };
  if (!overwrite)
    return {
      line: `${title} is not updated when overwrite is disabled${note.replace('it had', 'it has')}`,
      object: before,
    };
  refuseFromGit(before);
  return {
    line: `${title} is updated${note}`,
    object,
    apply: async () => void (await hub.update(kind, object, CLI_FIELD_MANAGER)),
  };
}
