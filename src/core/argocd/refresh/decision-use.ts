import type { KubeObject } from '@berth/kube/model/object-meta';
import type { LabelSelector } from '@berth/kube/model/selector/label-selector-compile';

/** One generator of an ApplicationSet that reads decisions. */
export type DecisionUse =
  | {
      readonly kind: 'plugin';
      /** Name of the ConfigMap, which Argo CD reads in its own namespace. */
      readonly configMap: string;
      /** `NAMESPACE/NAME`. May contain template placeholders, whose values are unknown. */
      readonly placement: string;
      /** All of `input.parameters`. */
      readonly parameters: Fields;
    }
  | {
      readonly kind: 'decision-resource';
      readonly configMap: string;
      /** Name of one PlacementDecision; undefined: `selector` chooses. */
      readonly name: string | undefined;
      readonly selector: LabelSelector | undefined;
    };

/** Deeper nesting than Argo CD allows (a matrix in a matrix, a merge in a merge) is not read. */
const MAX_DEPTH = 4;

type Fields = Readonly<Record<string, unknown>>;

/**
 * The generators of an ApplicationSet that read decisions: plugin and clusterDecisionResource, also inside matrix and merge.
 * Source of the shapes: argo-cd `pkg/apis/application/v1alpha1/applicationset_types.go`.
 * @param spec of the ApplicationSet; parts with an unexpected shape are ignored
 */
export function decisionUses(spec: unknown): readonly DecisionUse[] {
  return generatorsOf(spec).flatMap((generator) => usesOf(generator, 0));
}

function usesOf(generator: unknown, depth: number): readonly DecisionUse[] {
  const { plugin, clusterDecisionResource, matrix, merge } = fields(generator);
  const nested =
    depth === MAX_DEPTH
      ? []
      : [...generatorsOf(matrix), ...generatorsOf(merge)].flatMap((child) => usesOf(child, depth + 1));
  return [...pluginUse(fields(plugin)), ...resourceUse(fields(clusterDecisionResource)), ...nested];
}

function pluginUse({ configMapRef, input }: Fields): readonly DecisionUse[] {
  const configMap = text(fields(configMapRef)['name']);
  const parameters = fields(fields(input)['parameters']);
  const { placement, namespace } = parameters;
  const name = text(placement)?.trim();
  if (configMap === undefined || name === undefined || name === '') return [];
  const within = text(namespace)?.trim();
  return [
    {
      kind: 'plugin',
      configMap,
      placement: name.includes('/') || within === undefined ? name : `${within}/${name}`,
      parameters,
    },
  ];
}

function resourceUse({ configMapRef, name, labelSelector }: Fields): readonly DecisionUse[] {
  const configMap = text(configMapRef);
  if (configMap === undefined) return [];
  const one = text(name);
  const selector = labelSelector === undefined ? undefined : (fields(labelSelector) as LabelSelector);
  // Both or neither is an error of the generator, so it reads nothing.
  if ((one === undefined || one === '') === (selector === undefined)) return [];
  return [{ kind: 'decision-resource', configMap, name: one === '' ? undefined : one, selector }];
}

function generatorsOf(of: unknown): readonly unknown[] {
  const { generators } = fields(of);
  return Array.isArray(generators) ? (generators as readonly unknown[]) : [];
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

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
