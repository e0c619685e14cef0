import { inArgo, ROLE, ROLE_BINDING } from './argo-installation.ts';
import type { GeneratorWorld } from './generator-world.ts';

/** With which clusterDecisionResource lists PlacementDecisions. */
export const PAGES_DATA = {
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'placementdecisions',
  statusListKey: 'decisions',
  matchKey: 'clusterName',
};

/** The right to list them, as plugin/manifests/argocd.yaml gives it. */
export async function allowPages(world: GeneratorWorld): Promise<void> {
  const [api, name] = ['rbac.authorization.k8s.io', 'read-placement-decisions'];
  const rule = {
    apiGroups: ['cluster.open-cluster-management.io'],
    resources: ['placementdecisions'],
    verbs: ['list'],
  };
  const subject = { kind: 'ServiceAccount', name: 'argocd-applicationset-controller', namespace: 'argocd' };
  const roleRef = { apiGroup: api, kind: 'Role', name };
  await world.create(ROLE, inArgo(`${api}/v1`, 'Role', name, { rules: [rule] }));
  await world.create(
    ROLE_BINDING,
    inArgo(`${api}/v1`, 'RoleBinding', name, { roleRef, subjects: [subject] }),
  );
}
