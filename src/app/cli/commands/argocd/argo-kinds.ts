import type { KindInfo } from '../../../../core/model/kinds.ts';

const namespaced = (group: string, kind: string, version = 'v1'): KindInfo => ({
  group,
  version,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
});

/** Kinds that only the commands for Argo CD read or write. */
export const APPLICATION_SET = namespaced('argoproj.io', 'ApplicationSet', 'v1alpha1');
export const DEPLOYMENT = namespaced('apps', 'Deployment');
export const ROLE = namespaced('rbac.authorization.k8s.io', 'Role');
export const ROLE_BINDING = namespaced('rbac.authorization.k8s.io', 'RoleBinding');
export const SECRET = namespaced('', 'Secret');
export const SUBJECT_ACCESS_REVIEW: KindInfo = {
  ...namespaced('authorization.k8s.io', 'SubjectAccessReview'),
  namespaced: false,
};
