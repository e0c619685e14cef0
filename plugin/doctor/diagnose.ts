import semver from 'semver';
import type { ClusterDecision } from '@berth/ocm/kind/placement-decision';
import type { Condition } from '@berth/kube/model/object-meta';
import type { Problem } from '@berth/runtime/problem/problem';
import { GENERATOR_ACCOUNTS } from '../install/argo-connection.ts';
import type { ArgoFacts } from './argo-facts.ts';
import { clusterProblems } from './cluster-problems.ts';
import { decisionConfigProblems } from './decision-config-problems.ts';
import { type DecisionGenerator, decisionGenerators } from './generators-in-use.ts';
import { projectProblems } from './project-problems.ts';
import { pluginConfigProblems } from './plugin-config-problems.ts';

/** Default requeue times of Argo CD. */
const DEFAULT_REQUEUE_SECONDS = { plugin: 1_800, clusterDecisionResource: 180 } as const;
/** A longer requeue time is reported. */
const SLOW_REQUEUE_SECONDS = 300;
/** Older versions panic at a value of a decision that is not a string. Source: argo-cd issue 27264 */
const FIXED_VERSION = '3.3.9';
/** Argo CD supports its last three minor versions. Berth is tested with the newest (docs/compatibility.md). */
const OLDEST_SUPPORTED = '3.4.0';

/**
 * Problems of the connection between Argo CD and Berth; the hint of each problem is the command
 * that solves it.
 */
export function diagnose(facts: ArgoFacts): readonly Problem[] {
  const generators = facts.applicationSets.flatMap(decisionGenerators);
  const plugins = new Set(
    generators.flatMap(({ kind, configMap }) => (kind === 'plugin' ? [configMap] : [])),
  );
  const resources = generators.filter((one) => one.kind === 'clusterDecisionResource');
  return distinct([
    ...[...plugins].flatMap((name) => pluginConfigProblems(name, facts)),
    ...resources.flatMap((generator) => decisionConfigProblems(generator, facts)),
    ...(resources.length === 0 ? [] : rightProblems(facts)),
    ...supportProblem(facts),
    ...(resources.length === 0 ? [] : scoreProblem(facts)),
    ...clusterProblems(facts),
    ...projectProblems(facts),
    ...generators.flatMap(intervalProblem),
    ...applicationSetErrors(facts),
  ]);
}

function rightProblems({ mayList, namespace }: ArgoFacts): readonly Problem[] {
  return GENERATOR_ACCOUNTS.filter((account) => mayList.get(account) === false).map((account) => {
    const isPreview = account === 'argocd-server';
    return {
      severity: isPreview ? 'warning' : 'error',
      code: 'argocd.rights',
      object: `ServiceAccount ${namespace}/${account}`,
      message: `may not list PlacementDecisions in namespace ${namespace}${isPreview ? ': previews of ApplicationSets fail' : ''}`,
      hint: `kubectl -n ${namespace} create role read-placement-decisions --verb=get,list --resource=placementdecisions.cluster.open-cluster-management.io; kubectl -n ${namespace} create rolebinding read-placement-decisions-${account} --role=read-placement-decisions --serviceaccount=${namespace}:${account}`,
    };
  });
}

function supportProblem({ version, namespace }: ArgoFacts): readonly Problem[] {
  const parsed = semver.coerce(version);
  if (parsed !== null && semver.gte(parsed, OLDEST_SUPPORTED)) return [];
  const expected = `expected ${OLDEST_SUPPORTED} or newer, which Argo CD supports`;
  return [
    {
      severity: 'warning',
      code: 'argocd.version',
      object: `Namespace ${namespace}`,
      message:
        parsed === null
          ? `the version of Argo CD is not known, because no image of its Deployments has it as a tag: ${expected}`
          : `runs Argo CD ${parsed.version}: ${expected}`,
      hint:
        parsed === null
          ? `kubectl -n ${namespace} exec deployment/argocd-server -- argocd version --client --short`
          : 'upgrade Argo CD: https://argo-cd.readthedocs.io/en/stable/operator-manual/upgrading/overview/',
    },
  ];
}

function scoreProblem({ version, decisions, namespace }: ArgoFacts): readonly Problem[] {
  const parsed = semver.coerce(version);
  if (parsed === null || semver.gte(parsed, FIXED_VERSION)) return [];
  const withScore = decisions.find(({ status }) =>
    (status as { readonly decisions?: readonly ClusterDecision[] } | undefined)?.decisions?.some(
      ({ score }) => score !== undefined,
    ),
  );
  return [
    {
      severity: withScore === undefined ? 'warning' : 'error',
      code: 'argocd.version',
      object: `Deployment ${namespace}/argocd-applicationset-controller`,
      message:
        withScore === undefined
          ? `runs Argo CD ${parsed.version}, which panics at a score in a PlacementDecision (before ${FIXED_VERSION}): leave sortBy: Score out of placements for decision resources`
          : `runs Argo CD ${parsed.version}, which panics at the score in PlacementDecision ${withScore.metadata.name}`,
      hint: `kubectl -n ${namespace} set image deployment/argocd-applicationset-controller '*=quay.io/argoproj/argocd:v${FIXED_VERSION}'`,
    },
  ];
}

function intervalProblem(generator: DecisionGenerator): readonly Problem[] {
  const { applicationSet, kind, path, requeueAfterSeconds } = generator;
  const seconds = requeueAfterSeconds ?? DEFAULT_REQUEUE_SECONDS[kind];
  if (seconds <= SLOW_REQUEUE_SECONDS) return [];
  const [namespace = '', name = ''] = applicationSet.split('/');
  const patch = JSON.stringify([{ op: 'add', path: `${path}/requeueAfterSeconds`, value: 60 }]);
  return [
    {
      severity: 'warning',
      code: 'argocd.interval',
      object: `ApplicationSet ${applicationSet}`,
      message: `looks for a new decision every ${seconds} s${requeueAfterSeconds === undefined ? ', the default of the generator' : ''}`,
      hint: `kubectl -n ${namespace} patch applicationset ${name} --type json -p '${patch}'`,
    },
  ];
}

function applicationSetErrors({ applicationSets }: ArgoFacts): readonly Problem[] {
  return applicationSets.flatMap((set): readonly Problem[] => {
    if (decisionGenerators(set).length === 0) return [];
    const { conditions = [] } = (set['status'] ?? {}) as { readonly conditions?: readonly Condition[] };
    const failed = conditions.find(({ type, status }) => type === 'ErrorOccurred' && status === 'True');
    if (failed === undefined) return [];
    const { name, namespace = '' } = set.metadata;
    return [
      {
        severity: 'error',
        code: 'argocd.applicationset',
        object: `ApplicationSet ${namespace}/${name}`,
        message: `Argo CD reports: ${failed.message}`,
        hint: `kubectl -n ${namespace} describe applicationset ${name}`,
      },
    ];
  });
}

function distinct(problems: readonly Problem[]): readonly Problem[] {
  const byText = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
  return [...byText.values()];
}
