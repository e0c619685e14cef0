import type { ClusterClaimValue } from '@berth/ocm/kind/managed-cluster';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { compareUtf8 } from '@berth/runtime/text/utf8';

/** On a ClusterClaim or ClusterProperty: it is not reported to the hub. */
export const SPOKE_ONLY_LABEL = 'open-cluster-management.io/spoke-only';

/** Reserved claims: they come first and do not count toward the limit. */
const RESERVED: ReadonlySet<string> = new Set([
  'id.k8s.io',
  'kubeversion.open-cluster-management.io',
  'platform.open-cluster-management.io',
  'product.open-cluster-management.io',
]);

export interface ClaimLimits {
  /** The default limit of claims that are not reserved. */
  readonly maxCustom: number;
  /** Names with these endings are reserved as well. */
  readonly reservedSuffixes: readonly string[];
}

export interface ReportedClaims {
  readonly claims: readonly ClusterClaimValue[];
  /** Number of custom claims before the limit is applied. */
  readonly customCount: number;
  /**
   * Names of claims that are not valid in a ManagedCluster: too long, or empty. They would make the whole status
   * invalid.
   */
  readonly unfit: readonly string[];
}

/**
 * The claims that a cluster reports: reserved names first, then the others up to the limit, each sorted by name. A
 * ClusterProperty takes precedence over a ClusterClaim of the same name.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/managedcluster/claim_reconcile.go`.
 */
export function reportedClaims(
  found: { readonly claims: readonly KubeObject[]; readonly properties: readonly KubeObject[] },
  { maxCustom, reservedSuffixes }: ClaimLimits,
): ReportedClaims {
  const values = new Map<string, string>();
  for (const { metadata, ...object } of [...found.claims, ...found.properties]) {
    if (Object.hasOwn(metadata.labels ?? {}, SPOKE_ONLY_LABEL)) continue;
    const value = (object['spec'] as { readonly value?: unknown } | undefined)?.value;
    values.set(metadata.name, typeof value === 'string' ? value : '');
  }
  const all = [...values]
    .map(([name, value]) => ({ name, value }))
    .sort((a, b) => compareUtf8(a.name, b.name));
  const fit = all.filter(isFit);
  const isReserved = ({ name }: ClusterClaimValue): boolean =>
    RESERVED.has(name) || reservedSuffixes.some((suffix) => name.endsWith(suffix));
  const custom = fit.filter((claim) => !isReserved(claim));
  return {
    claims: [...fit.filter(isReserved), ...custom.slice(0, maxCustom)],
    customCount: custom.length,
    unfit: all.filter((claim) => !isFit(claim)).map(({ name }) => name),
  };
}

function isFit({ name, value }: ClusterClaimValue): boolean {
  return value !== '' && characters(value) <= MAX_VALUE && characters(name) <= MAX_NAME;
}

/** Counts as OpenAPI's maxLength does: a character outside the basic plane counts as one. */
function characters(text: string): number {
  return [...text].length;
}

const MAX_VALUE = 1024;
const MAX_NAME = 253;
