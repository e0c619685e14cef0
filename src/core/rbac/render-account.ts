/** A Namespace as YAML lines. */
export function renderNamespace(name: string): readonly string[] {
  return ['apiVersion: v1', 'kind: Namespace', 'metadata:', `  name: ${name}`];
}

/** A ServiceAccount as YAML lines. */
export function renderServiceAccount(name: string, namespace: string): readonly string[] {
  return [
    'apiVersion: v1',
    'kind: ServiceAccount',
    'metadata:',
    `  name: ${name}`,
    `  namespace: ${namespace}`,
  ];
}
