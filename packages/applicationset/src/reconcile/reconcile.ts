import { isDeepStrictEqual } from 'node:util';
import { dnsSubdomain, labelValue, qualifiedName } from '@berth/kube/model/selector/name-rules';
import type { ApplicationJson } from '../application-renderer.ts';
import { GenerateError } from '../failure/failures.ts';
import type { Generated } from '../generate-applications.ts';
import {
  IN_CLUSTER_NAME,
  IN_CLUSTER_SERVER,
  isReadableConfig,
  listArgoClusters,
} from '../generators/clusters.ts';
import { asGenerator } from '../generators/nested-generator.ts';
import type { GeneratorInputs } from '../inputs/generator-inputs.ts';
import { quoteAsGo } from '../json/go-json-text.ts';
import type { JsonValue } from '../json/json-value.ts';
import { type ApplicationSet, readApplicationSet } from '../read-application-set.ts';
import type { TypedObject } from '../types/go-type.ts';

export interface Condition {
  readonly type: 'ErrorOccurred' | 'ParametersGenerated' | 'ResourcesUpToDate';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/**
 * What the controller of Argo CD does with the Applications of an ApplicationSet if no Applications
 * exist yet.
 */
export interface Reconciled {
  /** The conditions by type. */
  readonly conditions: readonly Condition[];
  /** Names of the created Applications, sorted. */
  readonly created: readonly string[];
  /** The errors of the API server for Applications that it rejects, by name. */
  readonly refused: Readonly<Record<string, string>>;
  /** Specs that the controller changes before it creates the Application, by name. */
  readonly specAsCreated: Readonly<Record<string, unknown>>;
  /** The error that the reconcile returns, so that the controller soon tries again. */
  readonly error?: string;
  readonly requeueAfterSeconds?: number;
}

const RETRY_SECONDS = 180;

const NOTHING = { created: [], refused: {}, specAsCreated: {} };

/**
 * Predicts one run of the ApplicationSet controller on a cluster without Applications. It knows the
 * checks of the API server for names and metadata, but not the schema of the Application. Source:
 * argo-cd applicationset_controller.go, `Reconcile`.
 * @param projects names of the AppProjects
 */
export function reconcile(
  applicationSet: JsonValue,
  generated: Generated,
  context: { readonly inputs: GeneratorInputs; readonly projects: ReadonlySet<string> },
): Reconciled {
  if ('error' in generated) {
    const { error, reason } = generated;
    if (reason === 'Panic') return { ...NOTHING, conditions: [], error };
    return { ...NOTHING, conditions: failed(reason, error, false), requeueAfterSeconds: RETRY_SECONDS };
  }
  const set = readApplicationSet(applicationSet);
  const applications = generated.applications.map(fieldsOf);
  const problems = validateApplications(applications, { ...context, applicationSet: set.name });
  const created = create(applications.filter(({ name }) => !problems.has(name)));
  const failure = firstError(set, created.refused, context.inputs);
  if (failure !== undefined)
    return { ...created, conditions: failed(failure.reason, failure.error, true), error: failure.error };
  const seconds = requeueAfterSeconds(set.generators);
  if (problems.size === 0)
    return { ...created, conditions: upToDate(), ...(seconds === 0 ? {} : { requeueAfterSeconds: seconds }) };
  return {
    ...created,
    conditions: failed('ApplicationValidationError', problemText(problems), true),
    requeueAfterSeconds: seconds === 0 ? RETRY_SECONDS : seconds,
  };
}

function create(
  applications: readonly ApplicationFields[],
): Pick<Reconciled, 'created' | 'refused' | 'specAsCreated'> {
  const created: string[] = [];
  const refused: Record<string, string> = {};
  const specAsCreated: Record<string, unknown> = {};
  for (const application of applications) {
    const { name, spec } = application;
    const refusal = refusalOf(application);
    if (refusal !== undefined) {
      refused[name] = refusal;
      continue;
    }
    created.push(name);
    const normalized = normalizeSpec(spec);
    if (!isDeepStrictEqual(normalized, spec)) specAsCreated[name] = normalized;
  }
  return { created: created.sort(), refused, specAsCreated };
}

/**
 * The error of the first rejected Application, sorted by name. Otherwise the error of deleting
 * Applications that are no longer wanted, which fails if the clusters cannot be listed.
 */
function firstError(
  { applicationsSync }: ApplicationSet,
  refused: Readonly<Record<string, string>>,
  inputs: GeneratorInputs,
): { readonly reason: string; readonly error: string } | undefined {
  const [name] = Object.keys(refused).sort();
  if (name !== undefined) {
    const updates = applicationsSync === 'sync' || applicationsSync === 'create-update';
    return {
      reason: updates ? 'UpdateApplicationError' : 'CreateApplicationError',
      error: refused[name] ?? '',
    };
  }
  if (applicationsSync !== 'sync' && applicationsSync !== 'create-delete') return undefined;
  try {
    listArgoClusters(inputs.clusters);
    return undefined;
  } catch (error) {
    if (!(error instanceof GenerateError)) throw error;
    return { reason: 'DeleteApplicationError', error: `error listing clusters: ${error.message}` };
  }
}

/** The problem of the last Application, sorted by name, and how many more there are. */
function problemText(problems: ReadonlyMap<string, string>): string {
  const last = [...problems.keys()].sort().at(-1) ?? '';
  const more = problems.size - 1;
  return `${problems.get(last) ?? ''}${more === 0 ? '' : ` (and ${String(more)} more)`}`;
}

const DONE = 'All applications have been generated successfully';

function upToDate(): readonly Condition[] {
  return [
    { type: 'ErrorOccurred', status: 'False', reason: 'ApplicationSetUpToDate', message: DONE },
    parametersGenerated(),
    { type: 'ResourcesUpToDate', status: 'True', reason: 'ApplicationSetUpToDate', message: DONE },
  ];
}

function failed(reason: string, message: string, isGenerated: boolean): readonly Condition[] {
  return [
    { type: 'ErrorOccurred', status: 'True', reason, message },
    isGenerated
      ? parametersGenerated()
      : { type: 'ParametersGenerated', status: 'False', reason: 'ErrorOccurred', message },
    { type: 'ResourcesUpToDate', status: 'False', reason: 'ErrorOccurred', message },
  ];
}

function parametersGenerated(): Condition {
  return {
    type: 'ParametersGenerated',
    status: 'True',
    reason: 'ParametersGenerated',
    // Before Argo CD 3.6: Successfully generated parameters for all Applications.
    message: 'All parameters have been generated successfully',
  };
}

/**
 * After how many seconds the controller reconciles again if nothing changed: the shortest time of
 * all generators. 0 means never.
 */
function requeueAfterSeconds(generators: readonly TypedObject[]): number {
  const seconds = generators.flatMap(secondsOf).filter((value) => value !== 0);
  return seconds.length === 0 ? 0 : Math.min(...seconds);
}

const DECISIONS_SECONDS = 180;
const PLUGIN_SECONDS = 1800;

function secondsOf({ clusterDecisionResource, plugin, matrix, merge }: TypedObject): readonly number[] {
  return [
    ...requeueOf(clusterDecisionResource as TypedObject | undefined, DECISIONS_SECONDS),
    ...requeueOf(plugin as TypedObject | undefined, PLUGIN_SECONDS),
    ...requeueOfChildren(matrix as TypedObject | undefined),
    ...requeueOfChildren(merge as TypedObject | undefined),
  ];
}

function requeueOf(generator: TypedObject | undefined, defaultSeconds: number): readonly number[] {
  return generator === undefined
    ? []
    : [(generator['requeueAfterSeconds'] as number | undefined) ?? defaultSeconds];
}

function requeueOfChildren(generator: TypedObject | undefined): readonly number[] {
  const list = (generator?.['generators'] ?? []) as readonly TypedObject[];
  return list.flatMap((child) => {
    try {
      return secondsOf(asGenerator(child));
    } catch (error) {
      if (error instanceof GenerateError) return [];
      throw error;
    }
  });
}

/** The fields of an Application that the controller reads. An absent field is empty. */
interface ApplicationFields {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  readonly spec: JsonMap;
  readonly project: string;
  readonly destination: { readonly server: string; readonly name: string };
}

function fieldsOf({ metadata, spec }: ApplicationJson): ApplicationFields {
  const meta = (metadata ?? {}) as JsonMap;
  const fields = (spec ?? {}) as JsonMap;
  const destination = (fields['destination'] ?? {}) as JsonMap;
  return {
    name: (meta['name'] ?? '') as string,
    labels: (meta['labels'] ?? {}) as Record<string, string>,
    annotations: (meta['annotations'] ?? {}) as Record<string, string>,
    finalizers: (meta['finalizers'] ?? []) as readonly string[],
    spec: fields,
    project: (fields['project'] ?? '') as string,
    destination: {
      server: (destination['server'] ?? '') as string,
      name: (destination['name'] ?? '') as string,
    },
  };
}

/**
 * The problems that the controller of Argo CD finds in Applications, by name: no name, a name that occurs
 * twice, a project that does not exist, or a destination that is not a cluster of Argo CD. Source:
 * argo-cd applicationset_controller.go, `validateGeneratedApplications`.
 */
function validateApplications(
  applications: readonly ApplicationFields[],
  {
    applicationSet,
    inputs,
    projects,
  }: { applicationSet: string; inputs: GeneratorInputs; projects: ReadonlySet<string> },
): ReadonlyMap<string, string> {
  const problems = new Map<string, string>();
  const seen = new Set<string>();
  for (const { name, project, destination } of applications) {
    // Since Argo CD 3.6; before, the API server refused it.
    if (name === '') {
      problems.set(
        name,
        `ApplicationSet ${applicationSet} contains an application with no name; a name must be set in the template's metadata.name or via a templatePatch (generateName is not supported)`,
      );
      continue;
    }
    if (seen.has(name)) {
      problems.set(
        name,
        `ApplicationSet ${applicationSet} contains applications with duplicate name: ${name}`,
      );
      continue;
    }
    seen.add(name);
    const problem = projects.has(project)
      ? destinationProblem(destination, inputs)
      : `application references project ${project} which does not exist`;
    if (problem !== undefined) problems.set(name, problem);
  }
  return problems;
}

function destinationProblem(
  { server, name }: ApplicationFields['destination'],
  inputs: GeneratorInputs,
): string | undefined {
  const problem = clusterProblem(server, name, inputs);
  return problem === undefined ? undefined : `application destination spec is invalid: ${problem}`;
}

function clusterProblem(server: string, name: string, { clusters }: GeneratorInputs): string | undefined {
  const known = clusters
    .filter(({ config }) => isReadableConfig(config))
    .map((cluster) => ({ name: cluster.name ?? '', server: trimSlashes(cluster.server ?? '') }));
  if (server !== '' && name !== '')
    return `application destination can't have both name and server defined: ${name} ${server}`;
  if (server !== '') {
    const address = trimSlashes(server);
    if (address === IN_CLUSTER_SERVER || known.some((cluster) => cluster.server === address))
      return undefined;
    return `error getting cluster by server ${quoteAsGo(server)}: rpc error: code = NotFound desc = cluster ${quoteAsGo(address)} not found`;
  }
  if (name === '') return 'Destination server missing from app spec';
  const servers = known.filter((cluster) => cluster.name === name).map((cluster) => cluster.server);
  if (servers.length === 0)
    return name === IN_CLUSTER_NAME ? undefined : `there are no clusters with this name: ${name}`;
  if (servers.length === 1) return undefined;
  return `there are ${String(servers.length)} clusters with the same name: [${servers.join(' ')}]`;
}

function trimSlashes(address: string): string {
  return address.replace(/\/+$/, '');
}

/**
 * The error of the API server for an Application with invalid metadata; undefined if it is valid.
 * The complaints are sorted.
 */
function refusalOf({ name, labels, annotations, finalizers }: ApplicationFields): string | undefined {
  const complaints: string[] = [];
  const invalid = (field: string, value: string, problems: readonly string[]): void => {
    for (const problem of problems)
      complaints.push(`metadata.${field}: Invalid value: ${quoteAsGo(value)}: ${problem}`);
  };
  if (name === '') complaints.push('metadata.name: Required value: name or generateName is required');
  else invalid('name', name, dnsSubdomain(name));
  for (const [key, value] of Object.entries(labels)) {
    invalid('labels', key, qualifiedName(key));
    invalid('labels', value, labelValue(value));
  }
  for (const key of Object.keys(annotations)) invalid('annotations', key, qualifiedName(key.toLowerCase()));
  for (const finalizer of finalizers) invalid('finalizers', finalizer, qualifiedName(finalizer));
  const different = [...new Set(complaints)].sort();
  if (different.length === 0) return undefined;
  const text = different.length === 1 ? (different[0] ?? '') : `[${different.join(', ')}]`;
  return `Application.argoproj.io ${quoteAsGo(name)} is invalid: ${text}`;
}

type JsonMap = { readonly [key: string]: JsonValue };

/**
 * The spec with which the controller creates an Application. It has a project, and it has no empty
 * sync policies or source options. Source: argo-cd util/argo/argo.go, `NormalizeApplicationSpec`.
 */
function normalizeSpec(spec: JsonMap): JsonMap {
  const { syncPolicy, source, sources, project, ...rest } = spec;
  const hasSources = Array.isArray(sources) && sources.length > 0;
  return {
    ...rest,
    project: project === '' || project === undefined ? 'default' : project,
    ...(syncPolicy === undefined || isEmptyMap(syncPolicy) ? {} : { syncPolicy }),
    ...(source === undefined ? {} : { source: hasSources ? source : normalizeSource(source as JsonMap) }),
    ...(sources === undefined
      ? {}
      : {
          sources: hasSources ? sources.map((item: JsonValue) => normalizeSource(item as JsonMap)) : sources,
        }),
  };
}

/** Fields of kustomize that do not count if nothing else is set. */
const KUSTOMIZE_FLAGS = [
  'forceCommonLabels',
  'forceCommonAnnotations',
  'commonAnnotationsEnvsubst',
  'labelWithoutSelector',
  'labelIncludeTemplates',
];

function normalizeSource({ kustomize, helm, directory, ...rest }: JsonMap): JsonMap {
  return {
    ...rest,
    ...(kustomize === undefined || isEmptyMap(kustomize, KUSTOMIZE_FLAGS) ? {} : { kustomize }),
    ...(helm === undefined || isEmptyMap(helm) ? {} : { helm }),
    ...(directory === undefined || isEmptyMap(directory) ? {} : { directory }),
  };
}

function isEmptyMap(value: JsonValue, ignored: readonly string[] = []): boolean {
  return Object.keys(value as JsonMap).every((key) => ignored.includes(key));
}
