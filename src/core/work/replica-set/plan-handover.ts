import type { ManifestWork, ManifestWorkSpec } from '../../model/manifest-work.ts';
import type { KubeObject } from '../../model/object-meta.ts';
import { findCondition } from '../condition-list.ts';

/** The works of one cluster, by part. */
export type WorksByPart = ReadonlyMap<number, ManifestWork>;

/** Parts from here on are bridges. */
export const FIRST_BRIDGE_PART = 1000;

/**
 * Manifests that change their work. A template that is spread over several works is cut elsewhere when it changes, and some
 * manifests then belong to another work than before. Taken from the one and given to the other at once, they would be deleted
 * and made again on the cluster: each work is applied for itself. So they go over a bridge: a work with nothing but what
 * leaves one part, as it is there now. It is applied first, so that it owns the objects together with the old work, and goes
 * when the new ones have applied them. That is two more steps, and only when something moves. Rejected: keeping them in the old
 * work meanwhile (it may become too large) and leaving each manifest where it once was (the works would depend on history).
 */
export interface Handover {
  /** Bridges that are missing, by part. */
  readonly build: ReadonlyMap<number, ManifestWorkSpec>;
  /** The parts may be written: no object would be without an owner. */
  readonly ready: boolean;
  /** Bridges that nothing depends on any more. */
  readonly remove: readonly ManifestWork[];
}

const NOTHING_MOVES: Handover = { build: new Map(), ready: true, remove: [] };

export function planHandover(known: WorksByPart, specs: readonly ManifestWorkSpec[]): Handover {
  // One work before and after, or none before: most clusters, most of the time.
  if (known.size === 0 || (specs.length === 1 && known.size === 1 && known.has(0))) return NOTHING_MOVES;
  const homes = new Map(
    specs.flatMap((spec, part) => manifestsOf(spec).map((manifest) => [objectKey(manifest), part] as const)),
  );
  const parts = [...known].filter(([part]) => part < FIRST_BRIDGE_PART);
  const bridges = [...known].filter(([part]) => part >= FIRST_BRIDGE_PART).map(([, work]) => work);
  const hasArrived = (key: string): boolean => {
    const home = homes.get(key);
    return home === undefined || isApplied(known.get(home), key);
  };
  const build = new Map<number, ManifestWorkSpec>();
  let next = Math.max(FIRST_BRIDGE_PART - 1, ...known.keys()) + 1;
  let ready = true;
  for (const [part, { spec }] of parts) {
    const moving = manifestsOf(spec).filter((manifest) => {
      const key = objectKey(manifest);
      return homes.get(key) !== part && !hasArrived(key) && !bridges.some((work) => isApplied(work, key));
    });
    if (moving.length === 0) continue;
    ready = false;
    const open = moving.filter((manifest) => !bridges.some((work) => holds(work, objectKey(manifest))));
    if (open.length > 0) build.set(next++, { ...spec, workload: { manifests: open } });
  }
  const remove = bridges.filter(({ spec }) =>
    manifestsOf(spec).every((manifest) => hasArrived(objectKey(manifest))),
  );
  return { build, ready, remove };
}

function manifestsOf(spec: ManifestWorkSpec | undefined): readonly KubeObject[] {
  return spec?.workload?.manifests ?? [];
}

function holds({ spec }: ManifestWork, key: string): boolean {
  return manifestsOf(spec).some((manifest) => objectKey(manifest) === key);
}

/** The work holds the object, and its cluster has applied it as it stands there now. */
function isApplied(work: ManifestWork | undefined, key: string): boolean {
  const ordinal = manifestsOf(work?.spec).findIndex((manifest) => objectKey(manifest) === key);
  if (work === undefined || ordinal < 0) return false;
  const reported = work.status?.resourceStatus?.manifests?.find(
    ({ resourceMeta }) => resourceMeta.ordinal === ordinal,
  );
  const applied = findCondition(reported?.conditions, 'Applied');
  return applied?.status === 'True' && applied.observedGeneration === work.metadata.generation;
}

/** The object on the cluster: its version makes no difference. */
function objectKey({ apiVersion, kind, metadata }: KubeObject): string {
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
  return JSON.stringify([group, kind, metadata.namespace ?? '', metadata.name]);
}
