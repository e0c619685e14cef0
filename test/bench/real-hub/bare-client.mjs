// A client that makes the writes of a contest and decides nothing: node bare-client.mjs KUBECONFIG decisions|works
// It has Berth's transport, and 32 requests under way at most. Which clusters a placement gets follows from the number of the placement.
import { systemClock } from '../../../.cache/modules/packages/runtime/src/clock/system-clock.js';
import { loadKubeConfig } from '../../../.cache/modules/packages/kube/src/config/load-kube-config.js';
import { HttpKubeApi } from '../../../.cache/modules/packages/kube/src/http-kube-api.js';
import { APPLIED_MANIFEST_WORK, MANAGED_CLUSTER, MANIFEST_WORK, PLACEMENT, PLACEMENT_DECISION } from '../../../.cache/modules/packages/kube/src/model/kinds.js';
import { followKind } from './follow-kind.mjs';
import { EXPECTED_ANNOTATION, SET_LABEL, WORK_CLUSTER } from './fleet.mjs';

const [kubeconfig, duty] = process.argv.slice(2);
const PAGE = 100;
const api = new HttpKubeApi({ config: loadKubeConfig({ file: kubeconfig }), clock: systemClock, maxRequests: 32, userAgent: 'bare' });
const onStatus = { metadataOnly: true, subresource: 'status' };
const now = () => new Date().toISOString().replace(/\.\d+Z$/, 'Z');
const fail = (error) => {
  console.error(error);
  process.exit(1);
};

const follow = (kind, options, see) => followKind(api, kind, { ...options, signal: new AbortController().signal }, see);

async function decide() {
  /** Names of the clusters of each set, and pages: `{ placement, name, clusters }`. */
  const sets = new Map();
  const pages = [];
  const waiting = new Set();
  const seen = new Set();
  const tainted = new Set();
  const clustersOf = (set) => sets.get(set) ?? sets.set(set, []).get(set);
  const place = (placement) => {
    const { namespace, name, annotations } = placement.metadata;
    const wanted = Number(annotations[EXPECTED_ANNOTATION]);
    const all = clustersOf(namespace);
    if (all.length < wanted) return waiting.add(placement);
    waiting.delete(placement);
    const first = Number(name.replace(/\D/g, '')) * wanted;
    const chosen = Array.from({ length: wanted }, (_, at) => all[(first + at) % all.length]);
    writePlacement(placement, chosen).catch(fail);
  };
  const writePlacement = async (placement, chosen) => {
    const { namespace, name, uid } = placement.metadata;
    const written = Array.from({ length: Math.ceil(chosen.length / PAGE) }, (_, at) => ({ namespace, name: `${name}-decision-${at + 1}`, clusters: chosen.slice(at * PAGE, (at + 1) * PAGE) }));
    const ownerReferences = [{ apiVersion: placement.apiVersion, kind: 'Placement', name, uid, controller: true, blockOwnerDeletion: true }];
    const labels = { [`${PLACEMENT.group}/placement`]: name, [`${PLACEMENT.group}/decision-group-name`]: '', [`${PLACEMENT.group}/decision-group-index`]: '0' };
    for (const page of written)
      await api.create(PLACEMENT_DECISION, { apiVersion: placement.apiVersion, kind: 'PlacementDecision', metadata: { name: page.name, namespace, labels, ownerReferences } }, { metadataOnly: true });
    for (const page of written) await writePage(page);
    pages.push(...written);
    const conditions = [
      { type: 'PlacementMisconfigured', status: 'False', reason: 'Succeedconfigured', message: 'Placement configurations check pass', lastTransitionTime: now() },
      { type: 'PlacementSatisfied', status: 'True', reason: 'AllDecisionsScheduled', message: 'All cluster decisions scheduled', lastTransitionTime: now() },
    ];
    const decisionGroups = [{ decisionGroupIndex: 0, decisionGroupName: '', decisions: written.map((page) => page.name), clusterCount: chosen.length }];
    await api.mergePatch(PLACEMENT, { namespace, name }, { status: { numberOfSelectedClusters: chosen.length, decisionGroups, conditions } }, onStatus);
  };
  const writePage = ({ namespace, name, clusters }) =>
    api.mergePatch(PLACEMENT_DECISION, { namespace, name }, { status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) } }, onStatus);
  const drain = (cluster, set) => {
    tainted.add(cluster);
    for (const page of pages) {
      const at = page.clusters.indexOf(cluster);
      if (at < 0) continue;
      const other = clustersOf(set).find((name) => !tainted.has(name) && !page.clusters.includes(name));
      page.clusters.splice(at, 1, ...(other === undefined ? [] : [other]));
      writePage(page).catch(fail);
    }
  };
  // Of the process before this one.
  for (const { metadata, status } of (await api.list(PLACEMENT_DECISION)).items)
    pages.push({ namespace: metadata.namespace, name: metadata.name, clusters: status.decisions.map(({ clusterName }) => clusterName) });
  follow(MANAGED_CLUSTER, {}, ({ metadata: { name, labels }, spec }) => {
    const set = labels?.[SET_LABEL];
    if (spec.taints?.length > 0 && !tainted.has(name)) drain(name, set);
    if (seen.has(name)) return;
    seen.add(name);
    clustersOf(set).push(name);
    for (const placement of waiting) place(placement);
  }).catch(fail);
  follow(PLACEMENT, {}, (placement) => {
    const key = placement.metadata.uid;
    if (seen.has(key) || placement.status?.decisionGroups !== undefined) return;
    seen.add(key);
    place(placement);
  }).catch(fail);
}

const PLURALS = { ConfigMap: 'configmaps', Secret: 'secrets', ServiceAccount: 'serviceaccounts', Service: 'services', Deployment: 'deployments' };

/** The requests that Berth's agent makes for a new work. */
async function carryOut(work) {
  const { namespace, name, uid, generation } = work.metadata;
  const key = { namespace, name };
  await api.mergePatch(MANIFEST_WORK, key, { metadata: { finalizers: ['bench.example.com/cleanup'] } }, { metadataOnly: true });
  const applied = `bench-${name}`;
  const owner = await api.create(APPLIED_MANIFEST_WORK, { apiVersion: work.apiVersion, kind: 'AppliedManifestWork', metadata: { name: applied }, spec: { hubHash: 'bench', agentID: 'bench', manifestWorkName: name } });
  const ownerReferences = [{ apiVersion: work.apiVersion, kind: 'AppliedManifestWork', name: applied, uid: owner.metadata.uid }];
  const resources = await Promise.all(
    work.spec.workload.manifests.map(async (manifest) => {
      const [version, group = ''] = manifest.apiVersion.split('/').reverse();
      const kind = { group, version, kind: manifest.kind, plural: PLURALS[manifest.kind], namespaced: true };
      const made = await api.create(kind, { ...manifest, metadata: { ...manifest.metadata, ownerReferences } });
      return { group, version, resource: kind.plural, name: manifest.metadata.name, namespace: manifest.metadata.namespace, uid: made.metadata.uid };
    }),
  );
  await api.mergePatch(APPLIED_MANIFEST_WORK, { name: applied }, { status: { appliedResources: resources } }, onStatus);
  const conditionsOf = (types) => types.map((type) => ({ type, status: 'True', reason: type, message: '', lastTransitionTime: now(), observedGeneration: generation }));
  const conditions = conditionsOf(['Applied', 'Available']);
  const manifests = resources.map(({ uid: _uid, ...resource }, ordinal) => ({ conditions, resourceMeta: { ...resource, kind: work.spec.workload.manifests[ordinal].kind, ordinal }, statusFeedback: {} }));
  await api.mergePatch(MANIFEST_WORK, key, { status: { conditions, resourceStatus: { manifests } } }, onStatus);
  return uid;
}

function work() {
  const seen = new Set();
  follow(MANIFEST_WORK, { namespace: WORK_CLUSTER }, (one) => {
    if (seen.has(one.metadata.uid)) return;
    seen.add(one.metadata.uid);
    carryOut(one).catch(fail);
  }).catch(fail);
}

process.once('SIGTERM', () => process.exit(0));
if (duty === 'works') work();
else decide().catch(fail);
