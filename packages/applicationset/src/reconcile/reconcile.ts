import { isDeepStrictEqual } from 'node:util';
import { GenerateError } from '../failure/failures.ts';
import type { Generated } from '../generate-applications.ts';
import { listArgoClusters } from '../generators/argo-clusters.ts';
import type { JsonValue } from '../json/json-value.ts';
import { type ApplicationSet, readApplicationSet } from '../read-application-set.ts';
import type { GeneratorInputs } from '../inputs/generator-inputs.ts';
import { type ApplicationFields, fieldsOf } from './application-fields.ts';
import { normalizeSpec } from './normalize-spec.ts';
import { refusalOf } from './refuse-application.ts';
import { requeueAfterSeconds } from './requeue-after.ts';
import { validateApplications } from './validate-applications.ts';

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
const DONE = 'All applications have been generated successfully';

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
