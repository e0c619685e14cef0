import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { AddOnConfig } from '@berth/ocm/kind/addon';
import { InputError } from '@berth/runtime/errors';
import { CLI_FIELD_MANAGER } from '../../cluster-sets/set-change.ts';
import { type AddOnChange, refuseFromGit } from './enable-addons.ts';

export interface PlannedConfigurations {
  /** What an add-on writes to use them. */
  readonly configs: readonly AddOnConfig[];
  readonly changes: readonly AddOnChange[];
}

/**
 * Configurations that come with an add-on: they are written first, then the add-on uses them.
 * @throws InputError for a kind that the hub does not have
 */
export async function planConfigurations(
  hub: KubeApi,
  manifests: readonly KubeObject[],
): Promise<PlannedConfigurations> {
  const configs: AddOnConfig[] = [];
  const changes: AddOnChange[] = [];
  for (const object of manifests) {
    const title = `${object.kind} ${namespacedName(object.metadata)}`;
    const kind = await hub.resolve(object.apiVersion, object.kind);
    if (kind === undefined)
      throw new InputError(`the hub has no kind ${object.kind} of ${object.apiVersion}`, {
        code: 'kube.notfound',
        subject: title,
      });
    const { name, namespace } = object.metadata;
    const before = await hub.get(kind, { namespace: namespace ?? '', name });
    if (before !== undefined) refuseFromGit(before);
    configs.push({
      group: kind.group,
      resource: kind.plural,
      name,
      ...(namespace !== undefined && { namespace }),
    });
    changes.push({
      line: `${title} is applied`,
      object,
      apply: async () => void (await hub.apply(kind, object, { ...CLI_FIELD_MANAGER, force: true })),
    });
  }
  return { configs, changes };
}
