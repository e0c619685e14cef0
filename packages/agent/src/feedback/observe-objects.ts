import { errorText } from '@berth/runtime/errors';
import type {
  ManifestCondition,
  ManifestResourceMeta,
  ManifestWorkSpec,
} from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { evaluateConditionRules } from '../rules/conditions/condition-rules.ts';
import { aggregateErrorTexts, type Feedback, readFeedback } from '../rules/feedback/feedback.ts';
import { RESERVED_CONDITIONS } from '../rules/manifests/validate-work.ts';
import { resolveManifestConfig } from '../rules/manifests/manifest-config.ts';
import type { Observation } from '../rules/feedback/observed-status.ts';
import { hasOlderStatus } from '../rules/feedback/older-status.ts';
import { type ReportableObject, reportableObject } from '../rules/feedback/reportable-object.ts';
import type { AgentSettings } from '../options/agent-options.ts';
import type { LiveObjects } from '../cluster/live-objects.ts';
import { objectAddress, type ReadAccess } from '../executor/review-read-access.ts';

export interface ObserveRequest {
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
export async function observeObjects(request: ObserveRequest): Promise<readonly Observation[]> {
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
