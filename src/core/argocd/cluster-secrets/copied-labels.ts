/** The labels of a ManagedCluster that are copied to its cluster Secret: exact keys, or `prefix*`. */
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

/** Argo CD acts on its own labels, so a cluster must not be able to set them. */
const ARGOCD_PREFIX = 'argocd.argoproj.io/';
