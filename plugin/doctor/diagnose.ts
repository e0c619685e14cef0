import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { type ClusterDecision, PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import type { Problem } from '@berth/runtime/problem/problem';
import { closestName } from '@berth/runtime/text/closest-name';
import semver from 'semver';
import { GENERATOR_ACCOUNTS, DECISIONS_CONFIG, DECISIONS_GENERATOR } from '../install/argo-connection.ts';
import type { ArgoFacts, Texts } from './argo-facts.ts';
import { type DecisionGenerator, decisionGenerators } from './generators-in-use.ts';
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

type DecisionResource = Extract<DecisionGenerator, { kind: 'clusterDecisionResource' }>;

/**
 * Problems of a cluster decision resource generator: its ConfigMap, and whether it finds a
 * PlacementDecision.
 */
function decisionConfigProblems(
  generator: DecisionResource,
  { configMaps, decisions, namespace }: ArgoFacts,
): readonly Problem[] {
  const { configMap: name, applicationSet } = generator;
  const data = configMaps.get(name);
  const object = `ConfigMap ${namespace}/${name}`;
  if (data === undefined)
    return [
      {
        severity: 'error',
        code: 'argocd.config-missing',
        object,
        message: `does not exist, but ApplicationSet ${applicationSet} names it`,
        hint:
          name === DECISIONS_CONFIG
            ? `berth argocd install --argocd-namespace ${namespace} --url https://berth.berth-system.svc:8443`
            : `kubectl -n ${namespace} create configmap ${name} ${literalFlags()}`,
      },
    ];
  if (data['kind'] !== DECISIONS_GENERATOR.kind) return wrongKind(data['kind'], object, namespace);
  const wrong = Object.entries(DECISIONS_GENERATOR).filter(([key, value]) => data[key] !== value);
  const problems = wrong.map(([key, value]): Problem => {
    const got = data[key] === undefined ? 'is missing' : `is ${JSON.stringify(data[key])}`;
    const effect = key === 'matchKey' ? '; Argo CD then deletes every Application' : '';
    return {
      severity: 'error',
      code: 'argocd.decision-config',
      object,
      message: `${key} ${got}, expected ${JSON.stringify(value)}${effect}`,
      hint: `kubectl -n ${namespace} patch configmap ${name} --type merge -p '${JSON.stringify({ data: { [key]: value } })}'`,
    };
  });
  const isFound = decisions.some(({ metadata }) =>
    generator.name === ''
      ? Object.entries(generator.labels).every(([key, value]) => metadata.labels?.[key] === value)
      : metadata.name === generator.name,
  );
  return isFound ? problems : [...problems, noDecisionFound(generator, namespace)];
}

/** A ConfigMap may name another kind; then only the spelling can be checked. */
function wrongKind(kind: string | undefined, object: string, namespace: string): readonly Problem[] {
  if (kind !== undefined && kind.toLowerCase() !== 'placementdecision' && kind !== 'PlacementDecisions')
    return [];
  return [
    {
      severity: 'error',
      code: 'argocd.decision-config',
      object,
      message: `kind ${kind === undefined ? 'is missing' : `is ${JSON.stringify(kind)}`}, expected the plural name of the resource: "placementdecisions"`,
      hint: `kubectl -n ${namespace} patch configmap ${object.split('/')[1] ?? ''} --type merge -p '{"data":{"kind":"placementdecisions"}}'`,
    },
  ];
}

function noDecisionFound({ applicationSet, labels, name }: DecisionResource, namespace: string): Problem {
  const placement = labels[PLACEMENT_LABEL] ?? name;
  return {
    severity: 'error',
    code: 'argocd.no-page',
    object: `ApplicationSet ${applicationSet}`,
    message: `selects no PlacementDecision in namespace ${namespace}, the only one where Argo CD looks: it makes and changes no Application`,
    hint: `kubectl -n ${namespace} describe placement ${placement}; for a placement of another namespace use the plugin generator`,
  };
}

/** The settings as flags of `kubectl create configmap`. */
function literalFlags(): string {
  return Object.entries(DECISIONS_GENERATOR)
    .map(([key, value]) => `--from-literal=${key}=${value}`)
    .join(' ');
}

interface ClusterSecret {
  readonly name: string;
  readonly data: Texts;
}

/** Problems of the clusters in Argo CD, and decided clusters that are missing there. */
function clusterProblems(facts: ArgoFacts): readonly Problem[] {
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

/**
 * Templates with a project that does not exist, for which Argo CD rejects each Application. Names
 * with placeholders are skipped, because they differ per Application. Source: argo-cd
 * `applicationset/controllers/applicationset_controller.go`, validateGeneratedApplications
 */
function projectProblems({ applicationSets, projects, namespace }: ArgoFacts): readonly Problem[] {
  if (projects === undefined) return [];
  return applicationSets.flatMap((set) => {
    if (decisionGenerators(set).length === 0) return [];
    const name = projectOf(set);
    return name === undefined || projects.has(name)
      ? []
      : [missingProject(set, name, { projects, namespace })];
  });
}

/** The project of an Application that names none. */
const DEFAULT_PROJECT = 'default';

/** Undefined if it differs between the Applications. */
function projectOf({ spec }: KubeObject): string | undefined {
  const { template } = (spec ?? {}) as {
    readonly template?: { readonly spec?: { readonly project?: unknown } };
  };
  const project = template?.spec?.project ?? '';
  if (typeof project !== 'string' || project.includes('{{')) return undefined;
  return project === '' ? DEFAULT_PROJECT : project;
}

/** Valid names of projects. Others cannot exist, and must not be part of a suggested command. */
const VALID_NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

function missingProject(
  { metadata: { name, namespace: ownNamespace = '' } }: KubeObject,
  project: string,
  { projects, namespace }: { readonly projects: ReadonlySet<string>; readonly namespace: string },
): Problem {
  const near = closestName(project, projects);
  const path = '/spec/template/spec/project';
  const patch = (value: string): string => JSON.stringify([{ op: 'add', path, value }]);
  const create = VALID_NAME.test(project)
    ? `argocd proj create ${project}, with --src and --dest for what it may use`
    : `kubectl -n ${namespace} get appprojects`;
  return {
    severity: 'error',
    code: 'argocd.project',
    object: `ApplicationSet ${ownNamespace}/${name}`,
    message: `its template names the project ${JSON.stringify(project)}, which does not exist in namespace ${namespace}: Argo CD refuses every Application`,
    hint:
      near === undefined
        ? create
        : `kubectl -n ${ownNamespace} patch applicationset ${name} --type json -p '${patch(near)}'`,
  };
}
