/** Where the agent stores its certificate and key. */
export type CredentialPlace =
  | { readonly kind: 'folder'; readonly path: string }
  | {
      readonly kind: 'secret';
      readonly namespace: string;
      readonly name: string;
      /** Kubeconfig of the cluster with the Secret. Absent: the managed cluster. */
      readonly hostingKubeconfig?: string | undefined;
    };

/**
 * @param place `NAMESPACE/NAME`
 * @returns undefined for any other text
 */
export function secretPlace(
  place: string,
  hostingKubeconfig: string | undefined,
): CredentialPlace | undefined {
  const [namespace = '', name = '', ...more] = place.split('/');
  if (namespace === '' || name === '' || more.length > 0) return undefined;
  return { kind: 'secret', namespace, name, hostingKubeconfig };
}
