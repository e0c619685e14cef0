import { kind, NAMESPACE } from '@berth/kube/model/kinds';
import { APP_PROJECT, APPLICATION, APPLICATION_SET } from '../../../../src/core/argocd/argocd-kinds.ts';
import { crd, pluginSet } from '../../../controllers/argocd/argocd-objects.ts';
import { namespace, placement, retired, yaml } from '../fleet-fixture.ts';
import { PreviewedFleet } from '../previews/previewed-fleet.ts';

const CRD = kind('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', 'Cluster');
const ARGOCD = { namespace: 'argocd', refresh: false, clusterSecrets: false, pull: false };

/** The headers with which Argo CD's proxy asks about an Application. */
export function headersOf(application: string, project = 'shop'): Record<string, string> {
  return { 'argocd-application-name': application, 'argocd-project-name': project };
}

/**
 * A served fleet beside the objects of an Argo CD: `argocd/web-c1` and `argocd/web-c2` of the project `shop`, which deploys to c1
 * and c3, are made from the placement `team-a/web`; pull request 12 takes c1 away.
 */
export async function openArgocdFleet(): Promise<PreviewedFleet> {
  const previewed = await PreviewedFleet.create();
  const { api } = previewed.fleet.hub;
  for (const name of ['Application', 'ApplicationSet', 'AppProject'])
    await api.create(CRD, crd('argoproj.io', name));
  for (const name of ['argocd', 'team-x']) await api.create(NAMESPACE, namespace(name));
  await makeSet(previewed, 'argocd', 'web');
  await makeSet(previewed, 'team-x', 'mine');
  const destinations = ['c1', 'c3'].map((name) => ({ name, namespace: '*' }));
  const project = { metadata: { namespace: 'argocd', name: 'shop' }, spec: { destinations } };
  await api.create(APP_PROJECT, { ...APPS, kind: 'AppProject', ...project });
  const files = { 'web.yaml': yaml(placement('web', { numberOfClusters: 2 })) };
  await previewed.serve(files, {}, { argocd: { ...ARGOCD, extension: true, ...NO_LISTS } });
  await previewed.fleet.published('web');
  previewed.open(12, { 'clusters.yaml': retired(1) });
  await previewed.changed(12, 'opened');
  await previewed.comment(12, '`c1`');
  return previewed;
}

const APPS = { apiVersion: 'argoproj.io/v1alpha1' };
const NO_LISTS = { pluginConfigMaps: [], clusterLabels: [] };

/** With an Application for each of two clusters. */
async function makeSet({ fleet }: PreviewedFleet, space: string, name: string): Promise<void> {
  const { api } = fleet.hub;
  const { spec, ...set } = pluginSet(name, 'team-a/web');
  const template = { metadata: { name: '{{ .clusterName }}' }, spec: { project: 'shop' } };
  const object = { ...set, metadata: { namespace: space, name }, spec: { ...(spec as object), template } };
  const { metadata } = await api.create(APPLICATION_SET, object);
  const { uid = '' } = metadata;
  for (const own of [`${name}-c1`, `${name}-c2`])
    await api.create(APPLICATION, {
      ...{ ...APPS, kind: 'Application' },
      metadata: {
        ...{ namespace: space, name: own },
        ownerReferences: [{ ...APPS, kind: 'ApplicationSet', name, uid, controller: true }],
      },
      spec: { project: 'shop', destination: { name: own.slice(-2), namespace: 'web' } },
    });
}
