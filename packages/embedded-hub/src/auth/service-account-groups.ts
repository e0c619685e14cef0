/** Groups that every service account of a namespace is in. Source: apiserver `pkg/authentication/serviceaccount/util.go`. */
export function serviceAccountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}
