import type { KubeObject } from '@berth/kube/model/object-meta';

/** An object, and what a hub refuses of it: `PATH: MESSAGE [HINT]`. */
interface Row {
  readonly name: string;
  readonly object: object;
  readonly refused: readonly string[];
}

const ADDON = 'addon.open-cluster-management.io';
const GITOPS = 'apps.open-cluster-management.io';
const UNKNOWN = 'is not a field of this kind, and the hub refuses the object because of it';
const invalid = (path: string, detail: string): string => `${path}: the hub refuses the object: ${detail}`;

const at = (apiVersion: string, kind: string, name: string, rest: object): object => ({
  ...{ apiVersion, kind, metadata: { name, namespace: 'default' } },
  ...rest,
});
const clusterWide = (apiVersion: string, kind: string, name: string, rest: object): object => ({
  ...{ apiVersion, kind, metadata: { name } },
  ...rest,
});
const placements = (rolloutStrategy: object): object => ({
  spec: {
    installStrategy: {
      type: 'Placements',
      placements: [{ name: 'all', namespace: 'shop', rolloutStrategy }],
    },
  },
});
const boat = (name: string, spec: object): object => at('example.com/v1', 'Boat', name, { spec });

/** A definition that the repository itself holds. */
export const BOATS = {
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  metadata: { name: 'boats.example.com' },
  spec: {
    ...{ group: 'example.com', scope: 'Namespaced' },
    names: { kind: 'Boat', plural: 'boats', singular: 'boat', listKind: 'BoatList' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['sails'],
                properties: {
                  sails: { type: 'integer', minimum: 1, maximum: 3 },
                  rig: { type: 'string', enum: ['Sloop', 'Ketch'] },
                },
                'x-kubernetes-validations': [
                  { rule: "self.sails != 2 || self.rig == 'Ketch'", message: 'two sails need a ketch' },
                ],
              },
            },
          },
        },
      },
    ],
  },
};

export const ROWS: readonly Row[] = [
  {
    name: 'an add-on with a field of another API',
    object: clusterWide(`${ADDON}/v1alpha1`, 'ClusterManagementAddOn', 'a1', {
      ...placements({ type: 'Progressive', rollingUpdate: { maxConcurrency: '25%' } }),
    }),
    refused: [`spec.installStrategy.placements[0].rolloutStrategy.rollingUpdate: ${UNKNOWN}`],
  },
  {
    name: 'an add-on with a wrong word',
    object: clusterWide(`${ADDON}/v1alpha1`, 'ClusterManagementAddOn', 'a2', {
      spec: { installStrategy: { type: 'Placement' } },
    }),
    refused: [
      `${invalid('spec.installStrategy.type', 'Unsupported value: "Placement": supported values: "Manual", "Placements"')} [did you mean Placements?]`,
    ],
  },
  {
    name: 'an add-on as it should be',
    object: clusterWide(`${ADDON}/v1alpha1`, 'ClusterManagementAddOn', 'a3', placements({ type: 'All' })),
    refused: [],
  },
  {
    name: 'a field of one version in another',
    object: clusterWide(`${ADDON}/v1beta1`, 'ClusterManagementAddOn', 'a4', {
      spec: { supportedConfigs: [] },
    }),
    refused: [`spec.supportedConfigs: ${UNKNOWN}`],
  },
  {
    name: 'an add-on of a cluster with a typing error',
    object: at(`${ADDON}/v1alpha1`, 'ManagedClusterAddOn', 'b1', { spec: { installNamspace: 'x' } }),
    refused: [`spec.installNamspace: ${UNKNOWN} [did you mean installNamespace?]`],
  },
  {
    name: 'a configuration against its patterns and types',
    object: at(`${ADDON}/v1alpha1`, 'AddOnDeploymentConfig', 'c1', {
      spec: { agentInstallNamespace: 'No_Name', customizedVariables: [{ name: 'OK', value: 3 }] },
    }),
    refused: [
      invalid(
        'spec.agentInstallNamespace',
        'Invalid value: "No_Name": spec.agentInstallNamespace in body should match \'^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$\'',
      ),
      `${invalid('spec.customizedVariables[0].value', 'Invalid value: "integer": spec.customizedVariables[0].value in body must be of type string: "integer"')} [put the value in quotes]`,
    ],
  },
  {
    name: 'a template without a required field',
    object: clusterWide(`${ADDON}/v1alpha1`, 'AddOnTemplate', 'd1', {
      spec: { agentSpec: { workload: { manifests: [] } } },
    }),
    refused: [invalid('spec.addonName', 'Required value')],
  },
  {
    name: 'a GitOpsCluster against its CEL rule',
    object: at(`${GITOPS}/v1beta1`, 'GitOpsCluster', 'e1', { spec: { placementRef: { name: 'web' } } }),
    refused: [
      invalid(
        'spec',
        'Invalid value: "object": either argoServer (push) or argoCDAgentAddon (argocd-agent) must be given',
      ),
    ],
  },
  {
    name: 'a GitOpsCluster as it should be',
    object: at(`${GITOPS}/v1beta1`, 'GitOpsCluster', 'e2', {
      spec: {
        placementRef: { name: 'web' },
        argoServer: { argoNamespace: 'argocd' },
        gitopsAddon: { enabled: true, argoCDAgent: { enabled: true, mode: 'managed' } },
      },
    }),
    refused: [],
  },
  {
    name: 'a report with a number for a text',
    object: at(`${GITOPS}/v1alpha1`, 'MulticlusterApplicationSetReport', 'f1', {
      statuses: { summary: { synced: 3 } },
    }),
    refused: [
      `${invalid('statuses.summary.synced', 'Invalid value: "integer": statuses.summary.synced in body must be of type string: "integer"')} [put the value in quotes]`,
    ],
  },
  {
    name: 'a placement with a label that no object may have',
    object: {
      ...{ apiVersion: 'cluster.open-cluster-management.io/v1beta1', kind: 'Placement' },
      metadata: { name: 'g1', namespace: 'default', labels: { a: 'x y' } },
      spec: {},
    },
    refused: [
      beginningOf(
        'metadata.labels',
        'Invalid value: "x y": a valid label must be an empty string or consist of alphanumeric characters',
      ),
    ],
  },
  {
    name: 'a Deployment with a text for a number',
    object: at('apps/v1', 'Deployment', 'h1', {
      spec: {
        ...{ replicas: '1', selector: { matchLabels: { a: 'b' } } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'x' }] } },
      },
    }),
    refused: [
      `${invalid('spec.replicas', 'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32')} [remove the quotes]`,
    ],
  },
  {
    name: 'a ClusterRole without verbs',
    object: clusterWide('rbac.authorization.k8s.io/v1', 'ClusterRole', 'i1', {
      rules: [{ apiGroups: [''], resources: ['pods'] }],
    }),
    refused: [invalid('rules[0].verbs', 'Required value: verbs must contain at least one value')],
  },
  {
    name: 'a ConfigMap with keys that hold dots',
    object: at('v1', 'ConfigMap', 'j1', { data: { 'a.b': 'x', 'a b': 'y' } }),
    refused: [beginningOf('data["a b"]', 'Invalid value: "a b": a valid config key must consist of')],
  },
  {
    name: 'a cluster as it is read from a hub',
    object: {
      ...{ apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster' },
      metadata: { name: 'k1', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { hubAcceptsClient: true },
    },
    refused: [],
  },
  {
    name: 'an object of a definition that is declared beside it, against its bounds',
    object: boat('l1', { sails: 9, rig: 'Slop' }),
    refused: [
      invalid('spec.sails', 'Invalid value: 9: spec.sails in body should be less than or equal to 3'),
      `${invalid('spec.rig', 'Unsupported value: "Slop": supported values: "Sloop", "Ketch"')} [did you mean Sloop?]`,
    ],
  },
  {
    name: 'an object of a definition that is declared beside it, against its rule',
    object: boat('l2', { sails: 2, rig: 'Sloop' }),
    refused: [invalid('spec', 'Invalid value: "object": two sails need a ketch')],
  },
  {
    name: 'an object of a definition that is declared beside it',
    object: boat('l3', { sails: 2, rig: 'Ketch' }),
    refused: [],
  },
];

/** The beginning of a long message. */
function beginningOf(path: string, start: string): string {
  return `${invalid(path, start)}…`;
}

export function asKubeObject(object: object): KubeObject {
  return object as KubeObject;
}
