import type { ClusterClaimValue } from '../../model/kind/managed-cluster.ts';
import type { KubeObject } from '../../model/object-meta.ts';
import { compareUtf8 } from '../../model/utf8-order.ts';

/** Of a ClusterClaim or ClusterProperty: it is not reported to the hub. */
export const SPOKE_ONLY_LABEL = 'open-cluster-management.io/spoke-only';

/** Claims that count for themselves: no limit cuts them off, and they come first. */
const RESERVED: ReadonlySet<string> = new Set([
  'id.k8s.io',
  'kubeversion.open-cluster-management.io',
  'platform.open-cluster-management.io',
  'product.open-cluster-management.io',
]);

export interface ClaimLimits {
  /** Of claims that are not reserved. */
  readonly maxCustom: number;
  /** Names that end so are reserved as well. */
  readonly reservedSuffixes: readonly string[];
}

export interface ReportedClaims {
  readonly claims: readonly ClusterClaimValue[];
  /** Custom claims before the limit. */
  readonly customCount: number;
  /** Names of claims that no ManagedCluster can hold: too long, or empty. They would make the whole status invalid. */
  readonly unfit: readonly string[];
}

/**
 * The claims that a cluster reports: reserved names first, then the others up to the limit, each by name. A ClusterProperty counts before
 * a ClusterClaim of its name.
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

/** As OpenAPI's maxLength counts: a character beyond the basic plane is one. */
function characters(text: string): number {
  return [...text].length;
}

const MAX_VALUE = 1024;
const MAX_NAME = 253;
