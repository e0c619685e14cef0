import type {
  ConditionRule,
  FeedbackRule,
  ManifestConfig,
  ManifestResourceMeta,
  UpdateStrategy,
} from './manifest-work.ts';

/** The merged manifestConfigs of one manifest. */
export interface EffectiveConfig {
  readonly feedbackRules: readonly FeedbackRule[];
  readonly conditionRules: readonly ConditionRule[];
  readonly updateStrategy: UpdateStrategy | undefined;
  readonly watchFeedback: boolean;
}

/**
 * Merges the entries that match a resource, field by field: the first value wins. If one entry has
 * Watch, the result is Watch (upstream, a later entry's default resets it to Poll).
 */
export function resolveManifestConfig(
  configs: readonly ManifestConfig[],
  resource: Pick<ManifestResourceMeta, 'group' | 'resource' | 'namespace' | 'name'>,
): EffectiveConfig {
  const matching = configs.filter((config) => matches(config, resource));
  return {
    feedbackRules: matching.find((config) => (config.feedbackRules ?? []).length > 0)?.feedbackRules ?? [],
    conditionRules: matching.find((config) => (config.conditionRules ?? []).length > 0)?.conditionRules ?? [],
    updateStrategy: matching.find((config) => config.updateStrategy !== undefined)?.updateStrategy,
    watchFeedback: matching.some((config) => config.feedbackScrapeType === 'Watch'),
  };
}

function matches(
  { resourceIdentifier: id }: ManifestConfig,
  resource: Pick<ManifestResourceMeta, 'group' | 'resource' | 'namespace' | 'name'>,
): boolean {
  return (
    (id.group ?? '') === (resource.group ?? '') &&
    id.resource === resource.resource &&
    matchesWildcard(id.namespace ?? '', resource.namespace ?? '') &&
    matchesWildcard(id.name, resource.name ?? '')
  );
}

/** `*` matches any run of characters, anchored at both ends. Linear in the text, unlike a regular expression. */
export function matchesWildcard(pattern: string, text: string): boolean {
  const parts = pattern.split('*');
  const first = parts[0] as string;
  if (parts.length === 1) return pattern === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  const last = parts.at(-1) as string;
  return text.length - last.length >= at && text.endsWith(last);
}
