const MAX_NAME_LENGTH = 253;

/**
 * A cluster's name as a valid part of a Kubernetes name, as Argo CD's cluster generator gives it in
 * `nameNormalized`: small letters, digits, `-` and `.` only. Source:
 * https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators-Cluster/
 */
export function normalizedName(name: string): string {
  const allowed = name.toLowerCase().replaceAll(/[^-a-z0-9.]/gu, '-');
  return allowed.slice(0, MAX_NAME_LENGTH).replaceAll(/^[-.]+|[-.]+$/g, '');
}
