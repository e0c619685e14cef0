import type { ClusterDecision } from '@berth/ocm/kind/placement-decision';
import type { Problem } from '@berth/runtime/problem/problem';
import type { ArgoFacts, Texts } from './argo-facts.ts';

interface ClusterSecret {
  readonly name: string;
  readonly data: Texts;
}

/** Problems of the clusters in Argo CD, and decided clusters that are missing there. */
export function clusterProblems(facts: ArgoFacts): readonly Problem[] {
  const { clusterSecrets, namespace } = facts;
  return [
    ...clusterSecrets.flatMap((secret) => secretProblems(secret, namespace)),
    ...duplicateNames(clusterSecrets, namespace),
    ...unknownClusters(facts),
  ];
}

function secretProblems({ name, data }: ClusterSecret, namespace: string): readonly Problem[] {
  const object = `Secret ${namespace}/${name}`;
  const hint = `kubectl -n ${namespace} edit secret ${name}`;
  const wrong = (message: string): Problem => ({
    severity: 'error',
    code: 'argocd.cluster-secret',
    object,
    message,
    hint,
  });
  const problems: Problem[] = [];
  if ((data['server'] ?? '') === '')
    problems.push(wrong('server is missing, expected the URL of the cluster'));
  if ((data['name'] ?? '') === '')
    problems.push(wrong('name is missing: decisions find the cluster by its name'));
  if (!isObject(data['config'] ?? '{}'))
    problems.push(
      wrong('config is not a JSON object: every generator of clusters and of decision resources fails'),
    );
  return problems;
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * Two cluster Secrets with one name: generators use either, and Argo CD rejects Applications with
 * this destination.
 */
function duplicateNames(secrets: readonly ClusterSecret[], namespace: string): readonly Problem[] {
  const byName = new Map<string, string[]>();
  for (const { name, data } of secrets) {
    const cluster = data['name'] ?? '';
    if (cluster !== '') byName.set(cluster, [...(byName.get(cluster) ?? []), name]);
  }
  return [...byName]
    .filter(([, found]) => found.length > 1)
    .map(([cluster, found]) => ({
      severity: 'error',
      code: 'argocd.cluster-twice',
      object: `Secret ${namespace}/${found[0] ?? ''}`,
      message: `names the cluster ${cluster}, and so does ${found.slice(1).join(', ')}: Applications for it are not written`,
      hint: `kubectl -n ${namespace} delete secret ${found.at(-1) ?? ''}`,
    }));
}

function unknownClusters({ clusterSecrets, decisions, namespace }: ArgoFacts): readonly Problem[] {
  const known = new Set(['in-cluster', ...clusterSecrets.map(({ data }) => data['name'])]);
  const unknown = new Set<string>();
  for (const { status } of decisions)
    for (const { clusterName } of (status as { readonly decisions?: readonly ClusterDecision[] } | undefined)
      ?.decisions ?? [])
      if (!known.has(clusterName)) unknown.add(clusterName);
  return [...unknown].sort().map((cluster) => ({
    severity: 'error',
    code: 'argocd.cluster-unknown',
    object: `cluster ${cluster}`,
    message: `is in a decision, but no cluster Secret of Argo CD in namespace ${namespace} has this name: it gets no Application`,
    hint: `argocd cluster add CONTEXT --name ${cluster}`,
  }));
}
