import type { ManifestWork, ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { isAppliedAt } from './applied-current.ts';

/** The works of one cluster, by part. */
export type WorksByPart = ReadonlyMap<number, ManifestWork>;

/** Parts from here on are bridges. */
export const FIRST_BRIDGE_PART = 1000;

/**
 * Moves manifests between works. When a template that is split over several works changes, it may
 * be split elsewhere, and some manifests then belong to another work. If one work dropped them
 * while the other added them, they could be deleted and created again on the cluster, because works
 * are applied independently. So a bridge work is created first, which contains the manifests that
 * leave a part, in their current form. It owns the objects together with the old work, and is
 * deleted when the new works have applied them. This takes two more steps, only if manifests move.
 * Rejected: keeping them in the old work meanwhile (it may become too large), and keeping each
 * manifest in its old part (the works would depend on history).
 */
export interface Handover {
  /** Bridges to create, by part. */
  readonly build: ReadonlyMap<number, ManifestWorkSpec>;
  /** The parts may be written: no object would be without an owner. */
  readonly ready: boolean;
  /** Bridges to delete. */
  readonly remove: readonly ManifestWork[];
}

const NOTHING_MOVES: Handover = { build: new Map(), ready: true, remove: [] };

export function planHandover(known: WorksByPart, specs: readonly ManifestWorkSpec[]): Handover {
  // One work before and after, or none before: most clusters, most of the time.
  if (known.size === 0 || (specs.length === 1 && known.size === 1 && known.has(0))) return NOTHING_MOVES;
  const newParts = new Map(
    specs.flatMap((spec, part) => manifestsOf(spec).map((manifest) => [objectKey(manifest), part] as const)),
  );
  const held = [...known].map(([part, work]): Held => ({ part, work, objects: appliedObjects(work) }));
  const parts = held.filter(({ part }) => part < FIRST_BRIDGE_PART);
  const bridges = held.filter(({ part }) => part >= FIRST_BRIDGE_PART);
  const byPart = new Map(held.map((one) => [one.part, one]));
  const isAppliedInNewPart = (key: string): boolean => {
    const newPart = newParts.get(key);
    return newPart === undefined || byPart.get(newPart)?.objects.get(key) === true;
  };
  const build = new Map<number, ManifestWorkSpec>();
  let next = Math.max(FIRST_BRIDGE_PART - 1, ...known.keys()) + 1;
  let ready = true;
  for (const { part, work } of parts) {
    const moving = manifestsOf(work.spec).filter((manifest) => {
      const key = objectKey(manifest);
      if (newParts.get(key) === part || isAppliedInNewPart(key)) return false;
      return !bridges.some(({ objects }) => objects.get(key) === true);
    });
    if (moving.length === 0) continue;
    ready = false;
    const unbridged = moving.filter(
      (manifest) => !bridges.some(({ objects }) => objects.has(objectKey(manifest))),
    );
    if (unbridged.length > 0) build.set(next++, { ...work.spec, workload: { manifests: unbridged } });
  }
  const done = bridges.filter(({ objects }) => [...objects.keys()].every(isAppliedInNewPart));
  return { build, ready, remove: done.map(({ work }) => work) };
}

function manifestsOf(spec: ManifestWorkSpec | undefined): readonly KubeObject[] {
  return spec?.workload?.manifests ?? [];
}

interface Held {
  readonly part: number;
  readonly work: ManifestWork;
  readonly objects: ReadonlyMap<string, boolean>;
}

/** The objects of a work, by key, and whether its cluster has applied the current version of each. */
function appliedObjects({ metadata, spec, status }: ManifestWork): ReadonlyMap<string, boolean> {
  const reported = new Map(
    status?.resourceStatus?.manifests?.map((one) => [one.resourceMeta.ordinal, one.conditions] as const),
  );
  const objects = new Map<string, boolean>();
  for (const [ordinal, manifest] of manifestsOf(spec).entries()) {
    const key = objectKey(manifest);
    if (!objects.has(key)) objects.set(key, isAppliedAt(metadata.generation, reported.get(ordinal)));
  }
  return objects;
}

/** The object on the cluster: its version makes no difference. */
function objectKey({ apiVersion, kind, metadata }: KubeObject): string {
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
  return JSON.stringify([group, kind, metadata.namespace ?? '', metadata.name]);
}
