import { errorText } from '../../core/errors.ts';
import type {
  ManifestCondition,
  ManifestResourceMeta,
  ManifestWorkSpec,
} from '../../core/model/manifest-work.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import { evaluateConditionRules } from '../../core/work/condition-rules.ts';
import { aggregateErrorTexts, readFeedback } from '../../core/work/feedback.ts';
import { RESERVED_CONDITIONS } from '../../core/work/validate-work.ts';
import { resolveManifestConfig } from '../../core/work/manifest-config.ts';
import type { Observation } from '../../core/work/observed-status.ts';
import type { AgentSettings } from './agent-options.ts';
import type { LiveObjects } from './live-objects.ts';
import { kindOfResource } from './release-resources.ts';

export interface LookRequest {
  readonly settings: AgentSettings;
  readonly live: LiveObjects;
  readonly spec: ManifestWorkSpec;
  readonly entries: readonly ManifestCondition[];
  /** Objects that were read or written just now, by ordinal. */
  readonly known: ReadonlyMap<number, KubeObject>;
}

/** Looks at the object behind every entry of a work's status: is it there, what do its feedback and condition rules say? */
export async function lookAtObjects(request: LookRequest): Promise<readonly Observation[]> {
  const observations: Observation[] = [];
  for (const entry of request.entries) observations.push(await lookAt(request, entry.resourceMeta));
  return observations;
}

async function lookAt(
  { settings, live, spec, known }: LookRequest,
  meta: ManifestResourceMeta,
): Promise<Observation> {
  const { group = '', version = '', resource = '', name = '', namespace = '' } = meta;
  if (version === '' || resource === '' || name === '') return { kind: 'incomplete' };
  const config = resolveManifestConfig(spec.manifestConfigs ?? [], { group, resource, name, namespace });
  const rules = (config.conditionRules ?? []).filter((rule) => !RESERVED_CONDITIONS.has(rule.condition));
  const ruleTypes = rules.map((rule) => rule.condition);
  const kind = kindOfResource({ group, version, resource, name, namespace });
  let object: KubeObject | undefined;
  try {
    const watched = { kind, key: { namespace, name } };
    object = live.isWatched(watched)
      ? await live.get(watched)
      : (known.get(meta.ordinal) ?? (await live.get(watched)));
  } catch (error) {
    return { kind: 'failed', problem: errorText(error), ruleTypes };
  }
  if (object === undefined) return { kind: 'absent', ruleTypes };
  return {
    kind: 'present',
    feedback: feedbackOf(object, config.feedbackRules ?? [], settings),
    rules: rules.length === 0 ? [] : evaluateConditionRules(object, rules),
  };
}

function feedbackOf(
  object: KubeObject,
  rules: Parameters<typeof readFeedback>[1],
  settings: AgentSettings,
): Extract<Observation, { kind: 'present' }>['feedback'] {
  if (rules.length === 0) return undefined;
  const { values, errors } = readFeedback(object, rules, settings.feedback);
  const texts = errors.map((error) => error.text);
  const names = new Set<string>();
  // The API server refuses a status with two values of one name, and with it everything else there is to say.
  const distinct = values.filter(({ name }) => {
    if (!names.has(name)) return names.add(name);
    texts.push(`the feedback name ${name} is used more than once, the first value is reported`);
    return false;
  });
  return { values: distinct, problem: aggregateErrorTexts(texts) };
}
