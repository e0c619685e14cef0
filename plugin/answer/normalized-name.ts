const MAX_NAME_LENGTH = 253;

/**
 * The name of a cluster in a form that is valid in names of Kubernetes objects, as in `nameNormalized` of Argo CD's
 * cluster generator: only lower-case letters, digits, `-` and `.`.
 * Source: https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators-Cluster/
 */
export function normalizedName(name: string): string {
  const allowed = name.toLowerCase().replaceAll(/[^-a-z0-9.]/gu, '-');
  return allowed.slice(0, MAX_NAME_LENGTH).replaceAll(/^[-.]+|[-.]+$/g, '');
}
