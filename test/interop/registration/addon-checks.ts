import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { CONFIG_MAP, MANAGED_CLUSTER_ADDON, SECRET } from '@berth/kube/model/kinds';
import type { KubeApi, ObjectKey } from '@berth/kube/model/kube-api';
import type { Condition } from '@berth/kube/model/object-meta';
import { secretTexts } from '@berth/kube/secret-texts';
import { systemClock } from '@berth/runtime/clock/system-clock';

/** Conditions of a cluster’s add-on: `Status Reason` by type. */
export async function conditionsOf(
  hub: KubeApi,
  cluster: string,
  name: string,
): Promise<Readonly<Record<string, string>>> {
  const addon = await hub.get(MANAGED_CLUSTER_ADDON, { namespace: cluster, name });
  const { conditions = [] } = (addon?.['status'] ?? {}) as { readonly conditions?: readonly Condition[] };
  return Object.fromEntries(conditions.map(({ type, status, reason }) => [type, `${status} ${reason}`]));
}

/** The texts of a Secret; none while it is not there. */
export async function filesOf(member: KubeApi, key: ObjectKey): Promise<Readonly<Record<string, string>>> {
  const secret = await member.get(SECRET, key);
  return secret === undefined ? {} : secretTexts(secret);
}

/**
 * In which namespaces the agent of an add-on may list ConfigMaps on the hub.
 * @param files those of its Secret with a kubeconfig
 * @param dir a folder for them
 */
export async function maySeeConfigMaps(
  files: Readonly<Record<string, string>>,
  dir: string,
  namespaces: readonly string[],
): Promise<readonly boolean[]> {
  const folder = mkdtempSync(join(dir, 'mounted-'));
  for (const [key, text] of Object.entries(files)) writeFileSync(join(folder, key), text);
  const config = loadKubeConfig({ file: join(folder, 'kubeconfig'), env: {} });
  const client = new HttpKubeApi({ config, clock: systemClock });
  const answers = await Promise.all(
    namespaces.map((namespace) =>
      client.list(CONFIG_MAP, { namespace }).then(
        () => true,
        () => false,
      ),
    ),
  );
  client.close();
  return answers;
}
