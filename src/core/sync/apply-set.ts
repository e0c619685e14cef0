import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Digest } from '../publish/approval/approval-code.ts';
import { PRUNE_ANNOTATION } from './applied/departure.ts';

/**
 * Ownership of applied objects as an ApplySet (KEP-3659): a parent object names the kinds and namespaces, every member carries the
 * parent's id. kubectl and other tools that know ApplySets see, and respect, the same set.
 */
export const APPLY_SET_ID_LABEL = 'applyset.kubernetes.io/id';
export const APPLY_SET_PART_OF_LABEL = 'applyset.kubernetes.io/part-of';
const APPLY_SET_TOOLING_ANNOTATION = 'applyset.kubernetes.io/tooling';
const APPLY_SET_KINDS_ANNOTATION = 'applyset.kubernetes.io/contains-group-kinds';
const APPLY_SET_NAMESPACES_ANNOTATION = 'applyset.kubernetes.io/additional-namespaces';
/** Berth's annotation of the parent: the API version of each kind. It finds members of a kind that is no longer in Git. */
export const MEMBER_VERSIONS_ANNOTATION = 'berth.dev/member-versions';
export const APPLY_SET_TOOLING = 'berth/v1';

/**
 * The namespace of the controller's own objects: the parents of its ApplySets, and credentials that name no other
 * namespace.
 */
export const DEFAULT_NAMESPACE = 'berth-system';

export interface ApplySetParent {
  readonly name: string;
  readonly namespace: string;
}

/** The parent of a source's ApplySet. */
export function parentOfSource(source: string, namespace = DEFAULT_NAMESPACE): ApplySetParent {
  return { name: `berth-${source}`, namespace };
}

/** The source whose parent has this name. */
export function sourceOfParent({ name }: Pick<ApplySetParent, 'name'>): string | undefined {
  return /^berth-(.+)$/.exec(name)?.[1];
}

/** `applyset-BASE64URL(SHA256(name.namespace.kind.group))-v1` for a ConfigMap as parent. */
export function applySetId(digest: Digest, parent: ApplySetParent): string {
  return `applyset-${base64Url(digest(`${parent.name}.${parent.namespace}.ConfigMap.`))}-v1`;
}

export function applySetParent(
  parent: ApplySetParent,
  id: string,
  members: readonly Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>[],
): KubeObject {
  const versions = [...new Set(members.map(({ apiVersion, kind }) => `${apiVersion}/${kind}`))].sort();
  const namespaces = [...new Set(members.map(({ metadata }) => metadata.namespace ?? ''))]
    .filter((namespace) => namespace !== '' && namespace !== parent.namespace)
    .sort();
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: parent.name,
      namespace: parent.namespace,
      labels: { [APPLY_SET_ID_LABEL]: id },
      annotations: {
        [APPLY_SET_TOOLING_ANNOTATION]: APPLY_SET_TOOLING,
        [APPLY_SET_KINDS_ANNOTATION]: [...new Set(versions.map(groupKindOf))].sort().join(','),
        [APPLY_SET_NAMESPACES_ANNOTATION]: namespaces.join(','),
        [MEMBER_VERSIONS_ANNOTATION]: versions.join(','),
      },
    },
  };
}

export interface MemberKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * The kinds of members in the annotations of the parent; empty for a parent that does not exist
 * yet.
 */
export function memberKinds(parent: KubeObject | undefined): readonly MemberKind[] {
  const text = parent?.metadata.annotations?.[MEMBER_VERSIONS_ANNOTATION] ?? '';
  return text.split(',').flatMap((entry) => {
    const slash = entry.lastIndexOf('/');
    return slash > 0 ? [{ apiVersion: entry.slice(0, slash), kind: entry.slice(slash + 1) }] : [];
  });
}

/** Each kind once. */
export function uniqueKinds(objects: readonly MemberKind[]): readonly MemberKind[] {
  return [
    ...new Map(
      objects.map(({ apiVersion, kind }) => [`${apiVersion}/${kind}`, { apiVersion, kind }]),
    ).values(),
  ];
}

/** The namespaces of members in the annotations of the parent, besides its own. */
export function memberNamespaces(parent: KubeObject | undefined): readonly string[] {
  const text = parent?.metadata.annotations?.[APPLY_SET_NAMESPACES_ANNOTATION] ?? '';
  return text.split(',').filter((namespace) => namespace !== '');
}

/** `apps/v1/Deployment` is `Deployment.apps`; `v1/ConfigMap` is `ConfigMap`. */
function groupKindOf(version: string): string {
  const parts = version.split('/');
  const kind = parts.at(-1) ?? '';
  return parts.length === 3 ? `${kind}.${parts[0]}` : kind;
}

const BASE64_URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Bytes given as hex, in base64url without padding. */
function base64Url(hex: string): string {
  let text = '';
  let bits = 0;
  let buffer = 0;
  for (let at = 0; at < hex.length; at += 2) {
    buffer = (buffer << 8) | Number.parseInt(hex.slice(at, at + 2), 16);
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += BASE64_URL[(buffer >> bits) & 63];
      buffer &= (1 << bits) - 1;
    }
  }
  return bits > 0 ? text + BASE64_URL[(buffer << (6 - bits)) & 63] : text;
}

/**
 * What most of the members of a source on a hub are read for: the name, the version, whether it is being deleted, and
 * the label and annotation that say whose it is and whether it may be deleted. It has a part of the size of most objects.
 */
export function memberHead({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, labels, annotations } = metadata;
  const set = labels?.[APPLY_SET_PART_OF_LABEL];
  const prune = annotations?.[PRUNE_ANNOTATION];
  return {
    apiVersion,
    kind,
    metadata: {
      ...{ name, namespace, uid, resourceVersion, deletionTimestamp },
      ...(set !== undefined && { labels: { [APPLY_SET_PART_OF_LABEL]: set } }),
      ...(prune !== undefined && { annotations: { [PRUNE_ANNOTATION]: prune } }),
    },
  };
}
