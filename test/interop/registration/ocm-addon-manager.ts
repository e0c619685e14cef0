import { join } from 'node:path';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { freePort } from '../peers/free-port.ts';
import { type PeerProcess, startPeer } from '../peers/peer-process.ts';
import { HUB_NAMESPACE } from './addon-objects.ts';

/** OCM’s add-on manager on a hub. The namespace `HUB_NAMESPACE` has to be there. */
export async function startOcmManager(
  kubeconfig: string,
  dir: string,
  flags: readonly string[] = [],
): Promise<PeerProcess> {
  const listen = `--listen=127.0.0.1:${await freePort()}`;
  return startPeer('ocm/addon', {
    args: [
      ...['manager', `--kubeconfig=${kubeconfig}`, `--namespace=${HUB_NAMESPACE}`],
      ...['--disable-leader-election', listen, ...flags],
    ],
    logFile: join(dir, 'manager.log'),
    env: { POD_NAME: 'test', POD_NAMESPACE: HUB_NAMESPACE },
  });
}

/** Without what OCM writes of typed objects although it says nothing, and without the order of manifests. */
export function workContent({ metadata, spec }: ManifestWork): object {
  const { labels, annotations, ownerReferences, name } = metadata;
  const manifests = (spec?.workload?.manifests ?? []).map((manifest) =>
    withoutEmpty({ ...manifest, status: undefined }),
  );
  const byName = (one: unknown): string => `${(one as KubeObject).kind} ${(one as KubeObject).metadata.name}`;
  return {
    ...{ name, labels, annotations, ownerReferences },
    spec: withoutEmpty({
      ...spec,
      workload: { manifests: manifests.sort((a, b) => (byName(a) < byName(b) ? -1 : 1)) },
    }),
  };
}

/** Without lists and objects that are empty. */
export function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(withoutEmpty);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value)
    .map(([key, field]) => [key, withoutEmpty(field)] as const)
    .filter(([, field]) => field !== null && field !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
