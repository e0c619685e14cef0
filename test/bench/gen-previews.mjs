// A repository for the benches of plans: clusters, placements, ApplicationSets that read their decisions, and settings beside them.
import { execFileSync } from 'node:child_process';
import { commitFiles } from './gen-repository.mjs';

const CLUSTER = 'cluster.open-cluster-management.io';
const TEAMS = 50;
const REGIONS = ['eu-west-1', 'eu-central-1', 'us-east-1', 'us-west-2', 'ap-south-1'];
const TIERS = ['gold', 'silver', 'bronze', 'test'];
const team = (i) => `team-${i % TEAMS}`;

const cluster = (i) =>
  `apiVersion: ${CLUSTER}/v1\nkind: ManagedCluster\nmetadata:\n  name: cluster-${i}\n  labels:\n    ${CLUSTER}/clusterset: prod\n    region: ${REGIONS[i % 5]}\n    tier: ${TIERS[Math.floor(i / 5) % 4]}\nspec:\n  hubAcceptsClient: true\nstatus:\n  version:\n    kubernetes: v1.31.0\n  clusterClaims:\n    - name: platform.open-cluster-management.io\n      value: AWS\n`;
const applicationSet = (i) =>
  `apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata:\n  name: app-${i}\n  namespace: argocd\nspec:\n  goTemplate: true\n  generators:\n    - clusterDecisionResource:\n        configMapRef: berth-decisions\n        labelSelector:\n          matchLabels:\n            ${CLUSTER}/placement: app-${i}\n        requeueAfterSeconds: 1800\n  template:\n    metadata:\n      name: 'app-${i}-{{ .name }}'\n    spec:\n      project: default\n      source:\n        repoURL: https://git.example.org/${team(i)}/app-${i}.git\n        targetRevision: HEAD\n        path: 'deploy/{{ .clusterName }}'\n        helm:\n          releaseName: app-${i}\n          valuesObject:\n            replicas: 3\n            cluster: '{{ .name }}'\n      destination:\n        server: '{{ .server }}'\n        namespace: app-${i}\n      syncPolicy:\n        automated:\n          prune: true\n          selfHeal: true\n`;
const settings = (i) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-${i}\n  namespace: ${team(i)}\ndata:\n  LOG_LEVEL: info\n  settings.yaml: |\n    listen: 0.0.0.0:8080\n    features:\n      - search\n      - checkout\n`;

export class PreviewsRepository {
  /** @param sizes how many of each; `files` counts all files */
  constructor(sizes) {
    this.sizes = sizes;
  }

  /** The generator of Argo CD sees the decisions of its own namespace: the placements of ApplicationSets are there. */
  #home(i) {
    return i < this.sizes.sets ? 'argocd' : team(i);
  }

  /** [path, text]. Nine of ten ask for one to nine clusters of a region, one for all of a region: 2,000 of 10,000. @param more clusters than usual */
  placementFile(i, more = 0) {
    const count = i % 10 === 0 ? '' : `  numberOfClusters: ${(i % 9) + 1 + more}\n`;
    const text = `apiVersion: ${CLUSTER}/v1beta1\nkind: Placement\nmetadata:\n  name: app-${i}\n  namespace: ${this.#home(i)}\nspec:\n  clusterSets: [prod]\n${count}  predicates:\n    - requiredClusterSelector:\n        labelSelector:\n          matchLabels:\n            region: ${REGIONS[Math.floor(i / 10) % 5]}\n`;
    return [`teams/${team(i)}/placement-${i}.yaml`, text];
  }

  *files() {
    const { clusters, placements, files, sets } = this.sizes;
    const namespaces = ['argocd', ...Array.from({ length: TEAMS }, (_, i) => team(i))];
    const binding = (namespace) => `apiVersion: ${CLUSTER}/v1beta2\nkind: ManagedClusterSetBinding\nmetadata: {name: prod, namespace: ${namespace}}\nspec: {clusterSet: prod}\n`;
    yield ['sets/prod.yaml', `apiVersion: ${CLUSTER}/v1beta2\nkind: ManagedClusterSet\nmetadata: {name: prod}\n`];
    yield ['sets/bindings.yaml', namespaces.map(binding).join('---\n')];
    for (let i = 0; i < clusters; i++) yield [`clusters/cluster-${i}.yaml`, cluster(i)];
    for (let i = 0; i < placements; i++) yield this.placementFile(i);
    for (let i = 0; i < sets; i++) yield [`teams/${team(i)}/application-set-${i}.yaml`, applicationSet(i)];
    for (let i = 0; i < files - 2 - clusters - placements - sets; i++) yield [`teams/${team(i)}/settings-${i}.yaml`, settings(i)];
  }

  /** Makes the repository with all files on main. @returns the commit */
  write(gitDir) {
    execFileSync('git', ['init', '-q', '--bare', '-b', 'main', gitDir]);
    return commitFiles(gitDir, [...this.files()]);
  }
}
