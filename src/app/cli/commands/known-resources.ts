import type { KnownResources } from '../../../core/rbac/listed-kinds.ts';
import { BUILTIN_KINDS } from '@berth/kube/model/kinds';
import { OCM_GROUPS } from '@berth/ocm/definition/ocm-groups';

const ARGO_CD = ['Application', 'ApplicationSet', 'AppProject'].map((kind) => ({ kind }));

/** The resources of the kinds of Kubernetes, OCM and Argo CD. */
export function knownResources(): KnownResources {
  const others = Object.entries({ ...OCM_GROUPS, 'argoproj.io': ARGO_CD }).flatMap(([group, kinds]) =>
    kinds.map(({ kind }) => ({ group, kind, plural: `${kind.toLowerCase()}s` })),
  );
  return new Map(
    [...BUILTIN_KINDS, ...others].map(({ group, kind, plural }) => [`${group}/${kind}`, plural]),
  );
}
