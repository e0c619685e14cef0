const KUBE_VERSION = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/;
const STABILITY = { alpha: 0, beta: 1, ga: 2 } as const;

/** Orders API versions for discovery: GA before beta before alpha, then newer first; other names last, by text. */
export function compareVersionPriority(left: string, right: string): number {
  const [a, b] = [KUBE_VERSION.exec(left), KUBE_VERSION.exec(right)];
  if (a === null || b === null) {
    if (a === null && b === null) return left < right ? -1 : left > right ? 1 : 0;
    return a === null ? 1 : -1;
  }
  return (
    stability(b) - stability(a) || Number(b[1]) - Number(a[1]) || Number(b[3] ?? '0') - Number(a[3] ?? '0')
  );
}

function stability(match: RegExpExecArray): number {
  return STABILITY[(match[2] ?? 'ga') as keyof typeof STABILITY];
}
