import { applyOrder } from '@berth/agent/rules/manifests/kind-order';
import { MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET, OCM_KINDS } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, groupVersionOf, refOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import { DEFAULT_MANIFEST_LIMIT_BYTES, manifestSizeBytes } from '@berth/ocm/kind/manifest-config';
import type { ManifestWork, ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { ManifestWorkReplicaSet } from '@berth/ocm/kind/manifest-work-replica-set';
import { leavesOut, type Problem } from '@berth/runtime/problem/problem';
import { compareUtf8 } from '@berth/runtime/text/utf8';

/**
 * On a ManifestWork or ManifestWorkReplicaSet in a repository: a folder of the same commit, from
 * the repository's root, whose objects are appended to the manifests of the object.
 */
export const MANIFESTS_ANNOTATION = 'berth.dev/manifests';

export interface InlinedSources<S extends SourceObject> {
  /**
   * The hub objects with their manifests. Objects of manifest folders are removed, since they are
   * not hub objects.
   */
  readonly objects: readonly S[];
  readonly problems: readonly Problem[];
}

/** The folder that an object takes its manifests from, without slashes at the ends; undefined: it names none. */
export function manifestFolder(object: KubeObject): string | undefined {
  const folder = object.metadata.annotations?.[MANIFESTS_ANNOTATION];
  if (folder === undefined || !(isReplicaSet(object) || isWork(object))) return undefined;
  return folder.replace(/^\.?\/+/, '').replace(/\/+$/, '');
}

export function isInFolder(file: string, folder: string): boolean {
  return file.startsWith(`${folder}/`);
}

/**
 * Fills works with the objects of their folders. A folder that is empty, contains a broken file or
 * hub objects is reported and its work is left out, because a work with a missing manifest would
 * delete the object.
 * @param root prefix of repository paths in `location.file`, with a trailing slash
 */
export function inlineManifests<S extends SourceObject>(
  sources: readonly S[],
  problems: readonly Problem[],
  root = '',
): InlinedSources<S> {
  const folders = new Set(sources.flatMap(({ object }) => manifestFolder(object) ?? []));
  if (folders.size === 0) return { objects: sources, problems: [] };
  const all = [...folders].map((folder) => `${root}${folder}`);
  const objects: S[] = [];
  const found: Problem[] = [];
  for (const source of sources) {
    if (all.some((folder) => isInFolder(source.location.file, folder))) continue;
    const folder = manifestFolder(source.object);
    const filled = folder === undefined ? source : inlineFolder(source, folder, { sources, problems, root });
    if ('severity' in filled) found.push(filled);
    else objects.push(filled);
  }
  return { objects, problems: found };
}

interface Repository {
  readonly sources: readonly SourceObject[];
  readonly problems: readonly Problem[];
  readonly root: string;
}

function inlineFolder<S extends SourceObject>(
  source: S,
  folder: string,
  repository: Repository,
): S | Problem {
  const refuse = (code: string, message: string, hint?: string): Problem => ({
    severity: 'error',
    code: `work.${code}`,
    message: `${MANIFESTS_ANNOTATION}: ${message}`,
    hint,
    location: source.location,
    object: formatRef(refOf(source.object)),
  });
  if (folder === '' || folder.split('/').includes('..'))
    return refuse('manifests-folder', `got "${folder}", expected a folder below the root of the repository`);
  const path = `${repository.root}${folder}`;
  const broken = repository.problems.find(
    (problem) =>
      leavesOut(problem) && problem.location !== undefined && isInFolder(problem.location.file, path),
  );
  if (broken?.location !== undefined)
    return refuse(
      'manifests-broken',
      `${broken.location.file} cannot be read`,
      'the work stays as it was until the file is corrected',
    );
  const inside = repository.sources.filter(({ location }) => isInFolder(location.file, path));
  if (inside.length === 0)
    return refuse(
      'manifests-empty',
      `no manifest below ${folder}/`,
      'check the path; it starts at the root of the repository',
    );
  const foreign = inside.find(({ object }) => isHubObject(object));
  if (foreign !== undefined)
    return refuse(
      'manifests-hub-object',
      `${foreign.location.file} contains ${formatRef(refOf(foreign.object))}, which belongs on the hub`,
    );
  return { ...source, object: withManifests(source.object, orderManifests(inside)) };
}

/** By kind as the agent applies them, then by file and line: the same commit always gives the same list. */
function orderManifests(inside: readonly SourceObject[]): readonly KubeObject[] {
  const listed = [...inside].sort(
    (a, b) => compareUtf8(a.location.file, b.location.file) || a.location.line - b.location.line,
  );
  return applyOrder(listed.map(({ object }) => object.kind)).flatMap((index) => listed[index]?.object ?? []);
}

function withManifests(object: KubeObject, manifests: readonly KubeObject[]): KubeObject {
  const extend = (spec: ManifestWorkSpec | undefined): ManifestWorkSpec => ({
    ...spec,
    workload: { ...spec?.workload, manifests: [...(spec?.workload?.manifests ?? []), ...manifests] },
  });
  if (isWork(object)) return { ...object, spec: extend((object as unknown as ManifestWork).spec) };
  const { spec } = object as unknown as ManifestWorkReplicaSet;
  return { ...object, spec: { ...spec, manifestWorkTemplate: extend(spec.manifestWorkTemplate) } };
}

function isReplicaSet(object: KubeObject): boolean {
  return (
    object.kind === MANIFEST_WORK_REPLICA_SET.kind &&
    groupVersionOf(object.apiVersion).group === MANIFEST_WORK_REPLICA_SET.group
  );
}

function isWork(object: KubeObject): boolean {
  return (
    object.kind === MANIFEST_WORK.kind && groupVersionOf(object.apiVersion).group === MANIFEST_WORK.group
  );
}

function isHubObject(object: KubeObject): boolean {
  return OCM_KINDS.some(
    ({ group, kind }) => group === groupVersionOf(object.apiVersion).group && kind === object.kind,
  );
}

export type SplitManifests =
  | { readonly ok: true; readonly parts: readonly (readonly KubeObject[])[] }
  /** Index of the manifest that is too large on its own. */
  | { readonly ok: false; readonly index: number; readonly sizeBytes: number };

/**
 * Splits a list of manifests into parts that fit into one work each, in order. A part is filled to
 * four fifths of the limit, so that a manifest that grows a little stays in its part: a manifest
 * that moves to another work would be deleted and created again on the cluster.
 */
export function splitManifests(
  manifests: readonly KubeObject[],
  limitBytes = DEFAULT_MANIFEST_LIMIT_BYTES,
): SplitManifests {
  const sizesBytes = manifests.map(manifestSizeBytes);
  const tooLarge = sizesBytes.findIndex((sizeBytes) => sizeBytes > limitBytes);
  if (tooLarge >= 0) return { ok: false, index: tooLarge, sizeBytes: sizesBytes[tooLarge] as number };
  if (sizesBytes.reduce((sum, sizeBytes) => sum + sizeBytes, 0) <= limitBytes)
    return { ok: true, parts: [manifests] };
  const parts: KubeObject[][] = [[]];
  let used = 0;
  for (const [index, manifest] of manifests.entries()) {
    const sizeBytes = sizesBytes[index] as number;
    if (used > 0 && used + sizeBytes > limitBytes * 0.8) {
      parts.push([]);
      used = 0;
    }
    parts.at(-1)?.push(manifest);
    used += sizeBytes;
  }
  return { ok: true, parts };
}
