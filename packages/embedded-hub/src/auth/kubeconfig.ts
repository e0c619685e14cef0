/** Credentials of one kubeconfig user. */
export type KubeconfigUser =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'certificate'; readonly certPem: string; readonly keyPem: string };

export interface KubeconfigCluster {
  /** Also the name of the context. */
  readonly name: string;
  readonly server: string;
}

/** A kubeconfig for one user of one or several clusters behind one authority; the first cluster is the current context. */
export function renderKubeconfig(
  clusters: readonly KubeconfigCluster[],
  caPem: string,
  user: { readonly name: string; readonly credentials: KubeconfigUser },
): string {
  const ca = base64(caPem);
  const lines = ['apiVersion: v1', 'kind: Config', 'clusters:'];
  for (const { name, server } of clusters)
    lines.push(
      `- name: ${quoted(name)}`,
      '  cluster:',
      `    server: ${quoted(server)}`,
      `    certificate-authority-data: ${ca}`,
    );
  lines.push('contexts:');
  for (const { name } of clusters)
    lines.push(
      `- name: ${quoted(name)}`,
      '  context:',
      `    cluster: ${quoted(name)}`,
      `    user: ${quoted(user.name)}`,
    );
  lines.push(
    `current-context: ${quoted(clusters[0]?.name ?? '')}`,
    'users:',
    `- name: ${quoted(user.name)}`,
    '  user:',
  );
  const { credentials } = user;
  if (credentials.kind === 'token') lines.push(`    token: ${credentials.token}`);
  else
    lines.push(
      `    client-certificate-data: ${base64(credentials.certPem)}`,
      `    client-key-data: ${base64(credentials.keyPem)}`,
    );
  return `${lines.join('\n')}\n`;
}

/** JSON strings are YAML strings. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
