import { apiVersionOf, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { ManifestWork, ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import { labelValueProblem } from '@berth/kube/model/selector/label-syntax';
import { sameWorkSpec } from '@berth/ocm/kind/same-work-spec';

/** Label of works that a person created by name, so that a later command finds those to change or delete. */
export const NAMED_WORK_LABEL = 'berth.dev/work';

export interface NamedWorksInput {
  readonly name: string;
  /** Clusters that must have the work. */
  readonly clusters: readonly string[];
  /** The spec of each work; several if one work would be too large. */
  readonly specs: readonly ManifestWorkSpec[];
  /** Works with the label for this name in any cluster, and works of the wanted names in the wanted clusters. */
  readonly existing: readonly ManifestWork[];
  /** Change works that exist. */
  readonly overwrite: boolean;
  /** Also delete the works of other clusters: the list is complete, as when it follows a placement. */
  readonly removeOthers: boolean;
}

export interface NamedWorksPlan {
  readonly create: readonly ManifestWork[];
  readonly update: readonly { readonly current: ManifestWork; readonly spec: ManifestWorkSpec }[];
  readonly unchanged: readonly ManifestWork[];
  readonly remove: readonly ManifestWork[];
  /** Works that are not made, because their cluster is being deleted. */
  readonly skipped?: readonly ManifestWork[] | undefined;
  /** Existing works that may not be changed without `overwrite`. */
  readonly refused: readonly ManifestWork[];
}

/** Plans a named work on a set of clusters. Nothing may be written while `refused` is not empty. */
export function planNamedWorks(input: NamedWorksInput): NamedWorksPlan {
  const byKey = new Map(
    input.existing.map((work) => [keyOf(work.metadata.namespace ?? '', work.metadata.name), work]),
  );
  const wanted = new Set<string>();
  const plan = {
    create: [] as ManifestWork[],
    update: [] as { current: ManifestWork; spec: ManifestWorkSpec }[],
    unchanged: [] as ManifestWork[],
    refused: [] as ManifestWork[],
  };
  for (const cluster of input.clusters)
    for (const [part, spec] of input.specs.entries()) {
      const name = namedWorkPart(input.name, part);
      wanted.add(keyOf(cluster, name));
      const current = byKey.get(keyOf(cluster, name));
      if (current === undefined) plan.create.push(render(input.name, name, cluster, spec));
      else if (sameWorkSpec(current.spec, spec)) plan.unchanged.push(current);
      else if (input.overwrite) plan.update.push({ current, spec });
      else plan.refused.push(current);
    }
  const clusters = new Set(input.clusters);
  const remove = input.existing.filter(
    (work) =>
      work.metadata.labels?.[NAMED_WORK_LABEL] === namedWorkLabel(input.name) &&
      isPartOf(work.metadata.name, input.name) &&
      !wanted.has(keyOf(work.metadata.namespace ?? '', work.metadata.name)) &&
      input.overwrite &&
      (input.removeOthers || clusters.has(work.metadata.namespace ?? '')),
  );
  return { ...plan, remove };
}

/** `web`, then `web-part-1`, … */
export function namedWorkPart(name: string, part: number): string {
  return part === 0 ? name : `${name}-part-${part}`;
}

function isPartOf(workName: string, name: string): boolean {
  return (
    workName === name ||
    (workName.startsWith(`${name}-part-`) && /^\d+$/.test(workName.slice(name.length + 6)))
  );
}

/**
 * The label value of a work name. It is shortened if the name is too long for a label, so works are also compared by
 * name.
 */
export function namedWorkLabel(name: string): string {
  return labelValueProblem(name) === undefined ? name : name.slice(0, 63).replace(/[^A-Za-z0-9]+$/, '');
}

function render(workName: string, name: string, cluster: string, spec: ManifestWorkSpec): ManifestWork {
  return {
    apiVersion: apiVersionOf(MANIFEST_WORK),
    kind: 'ManifestWork',
    metadata: { name, namespace: cluster, labels: { [NAMED_WORK_LABEL]: namedWorkLabel(workName) } },
    spec,
  };
}

function keyOf(cluster: string, name: string): string {
  return `${cluster}/${name}`;
}
