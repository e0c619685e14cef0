import type { KubeObject } from '@berth/kube/model/object-meta';
import type {
  ManifestCondition,
  ManifestWork,
  ManifestWorkStatus,
  ManifestResourceMeta,
  ManifestWorkSpec,
} from '@berth/ocm/kind/manifest-work';
import { errorText } from '@berth/runtime/errors';
import { type ManifestResult, missingNamespaces } from '../apply/apply-manifests.ts';
import type { WatchedObject, LiveObjects } from '../cluster/live-objects.ts';
import type { ExecutorReviews } from '../executor/executor-reviews.ts';
import type { AgentSettings } from '../options/agent-options.ts';
import { kindOfResource } from '../rules/applied/applied-resources.ts';
import { parseExecutor, type ExecutorChoice } from '../rules/applied/executor-subject.ts';
import { evaluateConditionRules } from '../rules/conditions/condition-rules.ts';
import {
  aggregateErrorTexts,
  type Feedback,
  readFeedback,
  type ReportableObject,
  reportableObject,
} from '../rules/feedback/feedback.ts';
import {
  observedStatus,
  wasApplied,
  type Observation,
  hasOlderStatus,
} from '../rules/feedback/observed-status.ts';
import { resolveManifestConfig } from '@berth/ocm/kind/manifest-config';
import { RESERVED_CONDITIONS } from '../rules/manifests/validate-work.ts';
import type { AgentState } from './agent-state.ts';

/** The result of observing a work's objects. */
export interface WorkObservation {
  /** Contains Available, feedback and rule conditions as the cluster shows them now. */
  readonly status: ManifestWorkStatus;
  /** The observed objects that the work's executor may get. */
  readonly watched: readonly WatchedObject[];
  /**
   * Result of the access checks of the executor: `denied` is checked again after a minute,
   * `unknown` (no response) soon.
   */
  readonly rights: 'known' | 'unknown' | 'denied';
}

/**
 * Observes the objects of a work, except those that its executor may not get.
 * @param justApplied results of this pass, whose objects need not be read again
 */
export async function observeWork(
  state: AgentState,
  work: ManifestWork,
  status: ManifestWorkStatus,
  justApplied: readonly ManifestResult[] = [],
): Promise<WorkObservation> {
  const entries = status.resourceStatus?.manifests ?? [];
  if (!wasApplied(status)) return { status, watched: addressesOf(entries), rights: 'known' };
  const { settings, live } = state;
  const spec = work.spec ?? {};
  const access = await reviewReadAccess(state.reviews, spec.executor, entries);
  const watched = addressesOf(entries.filter((_entry, index) => access[index]?.kind === 'allowed'));
  live.setInterest(work.metadata.name, [...watched, ...missingNamespaces(justApplied)]);
  // Uses the response of the apply while the watch is not established.
  const known = new Map(
    justApplied.flatMap(({ task, outcome }) =>
      outcome.kind === 'applied' && outcome.object !== undefined
        ? [[task.meta.ordinal, outcome.object] as const]
        : [],
    ),
  );
  const observations = await observeObjects({ settings, live, spec, entries, known, access });
  const moment = { generation: work.metadata.generation ?? 0, now: state.now() };
  return {
    status: observedStatus(status, observations, moment),
    watched,
    rights: rightsIn(access),
  };
}

function rightsIn(access: readonly ReadAccess[]): WorkObservation['rights'] {
  if (access.some(({ kind }) => kind === 'failed')) return 'unknown';
  return access.some(({ kind }) => kind === 'denied') ? 'denied' : 'known';
}

function addressesOf(entries: readonly ManifestCondition[]): readonly WatchedObject[] {
  return entries.flatMap(({ resourceMeta }) => objectAddress(resourceMeta) ?? []);
}

interface ObserveRequest {
  readonly settings: AgentSettings;
  readonly live: LiveObjects;
  readonly spec: ManifestWorkSpec;
  readonly entries: readonly ManifestCondition[];
  /** Objects that this pass has read or written, by ordinal. */
  readonly known: ReadonlyMap<number, KubeObject>;
  /** One result for each entry. */
  readonly access: readonly ReadAccess[];
}

/**
 * Observes the object of every entry of a work's status: whether it exists, and the results of its feedback and
 * condition rules.
 */
async function observeObjects(request: ObserveRequest): Promise<readonly Observation[]> {
  const observations: Observation[] = [];
  for (const [index, { resourceMeta }] of request.entries.entries()) {
    const access = request.access[index] ?? { kind: 'failed', problem: 'rights are not known' };
    observations.push(await observeObject(request, resourceMeta, access));
  }
  return observations;
}

async function observeObject(
  { settings, live, spec, known }: ObserveRequest,
  meta: ManifestResourceMeta,
  access: ReadAccess,
): Promise<Observation> {
  const watched = objectAddress(meta);
  if (watched === undefined) return { kind: 'incomplete' };
  const { group, plural: resource } = watched.kind;
  const config = resolveManifestConfig(spec.manifestConfigs ?? [], { group, resource, ...watched.key });
  const rules = (config.conditionRules ?? []).filter((rule) => !RESERVED_CONDITIONS.has(rule.condition));
  const ruleTypes = rules.map((rule) => rule.condition);
  if (access.kind === 'failed') return { kind: 'failed', problem: access.problem, ruleTypes };
  if (access.kind === 'denied')
    return {
      kind: 'denied',
      problem: access.problem,
      ruleTypes,
      asksFeedback: config.feedbackRules.length > 0,
    };
  let object: KubeObject | undefined;
  try {
    object = live.isWatched(watched)
      ? await live.get(watched)
      : (known.get(meta.ordinal) ?? (await live.get(watched)));
  } catch (error) {
    return { kind: 'failed', problem: errorText(error), ruleTypes };
  }
  if (object === undefined) return { kind: 'absent', ruleTypes };
  if (rules.length + config.feedbackRules.length === 0)
    return { kind: 'present', feedback: undefined, rules: [], isSettling: hasOlderStatus(object) };
  const shown = reportableObject(object, watched.kind);
  return {
    kind: 'present',
    feedback: feedbackOf(shown, config.feedbackRules, settings),
    rules: evaluateConditionRules(shown.object, rules),
    isSettling: hasOlderStatus(object),
  };
}

function feedbackOf(
  { object, withheld }: ReportableObject,
  rules: Parameters<typeof readFeedback>[1],
  settings: AgentSettings,
): Extract<Observation, { kind: 'present' }>['feedback'] {
  if (rules.length === 0) return undefined;
  const { values, errors } = readFeedback(object, rules, settings.feedback);
  const texts = errors.map((error) => error.text);
  if (withheld !== undefined) texts.push(...missingTexts(rules, { values, errors }, withheld));
  const names = new Set<string>();
  // The API server rejects a complete status that has two values with one name.
  const distinct = values.filter(({ name }) => {
    if (!names.has(name)) return names.add(name);
    texts.push(`the feedback name ${name} is used more than once, the first value is reported`);
    return false;
  });
  return { values: distinct, problem: aggregateErrorTexts(texts) };
}

/**
 * Reports paths without a value in an object that is only partly reported. It does not depend on
 * the hidden data.
 */
function missingTexts(
  rules: Parameters<typeof readFeedback>[1],
  { values, errors }: Feedback,
  withheld: string,
): readonly string[] {
  const namesWithResult = new Set([...values, ...errors].map(({ name }) => name));
  return rules
    .flatMap(({ type, jsonPaths = [] }) => (type === 'JSONPaths' ? jsonPaths : []))
    .filter(({ name }) => !namesWithResult.has(name))
    .map(({ name }) => `there is no value for ${name}: ${withheld}`);
}

/** Whether the agent may read an object for a work and report its state. */
type ReadAccess =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'denied'; readonly problem: string }
  /** Unknown, because the check failed. */
  | { readonly kind: 'failed'; readonly problem: string };

/**
 * Whether the executor of a work may get the objects of its status, one result for each entry. The
 * agent reads with its own rights, which include every Secret; without this check, feedback and
 * Available could reveal data that the executor may not read.
 */
export async function reviewReadAccess(
  reviews: ExecutorReviews,
  executor: ManifestWorkSpec['executor'],
  entries: readonly ManifestCondition[],
): Promise<readonly ReadAccess[]> {
  const choice = parseExecutor(executor);
  const access: ReadAccess[] = [];
  for (const { resourceMeta } of entries) access.push(await accessTo(reviews, choice, resourceMeta));
  return access;
}

const ALLOWED: ReadAccess = { kind: 'allowed' };

async function accessTo(
  reviews: ExecutorReviews,
  choice: ExecutorChoice,
  meta: ManifestResourceMeta,
): Promise<ReadAccess> {
  if (choice.kind === 'none') return ALLOWED;
  if (choice.kind === 'unusable') return { kind: 'denied', problem: choice.problem };
  const object = objectAddress(meta);
  // Without an address there is nothing to read.
  if (object === undefined) return ALLOWED;
  try {
    if (await reviews.isGetAllowed(choice.account, object)) return ALLOWED;
  } catch (error) {
    return { kind: 'failed', problem: errorText(error) };
  }
  const { namespace, name } = choice.account;
  const { kind, key } = object;
  const problem = `executor ${namespace}/${name} is not allowed to get the resource ${kind.group} ${kind.plural}, ${key.namespace} ${key.name}`;
  return { kind: 'denied', problem };
}

/** The object of an entry of a work's status; undefined if the entry does not identify one. */
function objectAddress(meta: ManifestResourceMeta): WatchedObject | undefined {
  const { group = '', version = '', resource = '', name = '', namespace = '' } = meta;
  if (version === '' || resource === '' || name === '') return undefined;
  return { kind: kindOfResource({ group, version, resource, name, namespace }), key: { namespace, name } };
}
