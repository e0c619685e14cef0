/** Which labels of a ManagedCluster its cluster secret gets: exact keys, or `prefix*`. */
export type LabelAllowList = readonly string[];

/**
 * The labels that may be copied.
 * @param reserved keys that are never copied
 */
export function copiedLabels(
  labels: Readonly<Record<string, string>> = {},
  allowed: LabelAllowList,
  reserved: ReadonlySet<string>,
): Readonly<Record<string, string>> {
  const isAllowed = (key: string): boolean =>
    !reserved.has(key) &&
    !key.startsWith(ARGOCD_PREFIX) &&
    allowed.some((pattern) =>
      pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern,
    );
  return Object.fromEntries(Object.entries(labels).filter(([key]) => isAllowed(key)));
}

/** Argo CD acts on labels of its own: a cluster must not set them by its labels. */
const ARGOCD_PREFIX = 'argocd.argoproj.io/';
