/**
 * Whether the `gitVersion` of a server is that of an embedded hub, or of one of its members. They say `v1.36.2+berth`:
 * clients read only what is before the plus sign as the version of Kubernetes.
 */
export function isEmbeddedVersion(gitVersion: string): boolean {
  return gitVersion.endsWith('+berth');
}
