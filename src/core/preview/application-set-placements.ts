import type { KubeObject } from '@berth/kube/model/object-meta';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';

/** The maximum depth of nested generators; Argo CD allows two. */
const MAX_DEPTH = 4;

/**
 * Placements (`namespace/name`) that an Argo CD ApplicationSet reads: through the clusterDecisionResource generator
 * (a label selector on the decisions' placement label) or through Berth's plugin generator (`input.parameters.placement`).
 * Both may be inside matrix and merge generators.
 */
export function applicationSetPlacements(object: KubeObject): readonly string[] {
  const found = new Set<string>();
  const spec = object['spec'];
  collect(fieldsOf(spec)['generators'], object.metadata.namespace ?? '', found, 0);
  return [...found].sort();
}

function collect(generators: unknown, namespace: string, found: Set<string>, depth: number): void {
  if (!Array.isArray(generators) || depth > MAX_DEPTH) return;
  for (const generator of generators) {
    const { clusterDecisionResource, plugin, matrix, merge } = fieldsOf(generator);
    const labels = fieldsOf(fieldsOf(fieldsOf(clusterDecisionResource)['labelSelector'])['matchLabels']);
    add(labels[PLACEMENT_LABEL], namespace, found);
    const parameters = fieldsOf(fieldsOf(fieldsOf(plugin)['input'])['parameters']);
    const own = parameters['namespace'];
    add(parameters['placement'], typeof own === 'string' ? own : namespace, found);
    collect(fieldsOf(matrix)['generators'], namespace, found, depth + 1);
    collect(fieldsOf(merge)['generators'], namespace, found, depth + 1);
  }
}

function add(name: unknown, namespace: string, found: Set<string>): void {
  if (typeof name === 'string' && name !== '') found.add(name.includes('/') ? name : `${namespace}/${name}`);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
