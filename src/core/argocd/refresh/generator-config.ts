import type { KubeObject } from '@berth/kube/model/object-meta';

/** The ConfigMaps in the namespace of Argo CD that make a generator read decisions. */
export interface GeneratorConfigs {
  /** Names of ConfigMaps of plugins that ask Berth. */
  readonly plugins: ReadonlySet<string>;
  /** Names of ConfigMaps with which clusterDecisionResource lists PlacementDecisions. */
  readonly decisionResources: ReadonlySet<string>;
}

/**
 * Sorts the ConfigMaps by what they configure. A plugin asks Berth if its ConfigMap has one of the given names, or the
 * same host in its address as one of these. Tenants may have different paths.
 * @param configMaps of the namespace of Argo CD
 * @param ownNames of ConfigMaps whose `baseUrl` is Berth
 */
export function generatorConfigs(
  configMaps: readonly KubeObject[],
  ownNames: readonly string[],
): GeneratorConfigs {
  const own = new Set(ownNames);
  const origins = new Set(
    configMaps.filter(({ metadata }) => own.has(metadata.name)).flatMap((map) => originOf(map)),
  );
  const plugins = new Set(own);
  const decisionResources = new Set<string>();
  for (const configMap of configMaps) {
    const { name } = configMap.metadata;
    if (originOf(configMap).some((origin) => origins.has(origin))) plugins.add(name);
    if (listsDecisions(dataOf(configMap))) decisionResources.add(name);
  }
  return { plugins, decisionResources };
}

function listsDecisions({ apiVersion, kind, statusListKey = 'clusters' }: Data): boolean {
  return (
    (apiVersion ?? '').startsWith('cluster.open-cluster-management.io/') &&
    kind === 'placementdecisions' &&
    statusListKey === 'decisions'
  );
}

function originOf(configMap: KubeObject): readonly string[] {
  const [origin] = /^https?:\/\/[^/?#]+/.exec((dataOf(configMap)['baseUrl'] ?? '').trim()) ?? [];
  return origin === undefined ? [] : [origin];
}

type Data = Readonly<Partial<Record<string, string>>>;

function dataOf(configMap: KubeObject): Data {
  const { data } = configMap as { readonly data?: Data | null };
  return data ?? {};
}
