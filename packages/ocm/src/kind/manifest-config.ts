import type { KubeObject } from '@berth/kube/model/object-meta';
import { utf8LengthBytes } from '@berth/runtime/text/utf8';
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

/** Upstream's default for the sum over all manifests of a work. */
export const DEFAULT_MANIFEST_LIMIT_BYTES = 500 * 1024;

/** Maximum size of one UTF-16 code unit in JSON: an escape such as `\u0001`. */
const MAX_BYTES_PER_UNIT = 6;
/** Quotes, a colon and a comma; also enough for `false` with its comma. */
const MAX_BYTES_PER_VALUE = 6;
/** `-1.2345678901234567e-300` */
const MAX_BYTES_PER_NUMBER = 25;
/** The tag, and the length of a manifest of less than 2^35 bytes. */
const MAX_BYTES_AROUND = 6;

/**
 * The size that a manifest adds to its work, as admission counts it: its JSON in UTF-8 as a
 * length-delimited protobuf field (one byte of tag, the length as a varint, the bytes).
 */
export function manifestSizeBytes(manifest: KubeObject): number {
  const rawBytes = utf8LengthBytes(JSON.stringify(manifest));
  return rawBytes + 1 + varintLength(rawBytes);
}

/** The size of the manifests together when it exceeds the limit (bytes), else undefined. */
export function excessiveSizeBytes(manifests: readonly KubeObject[], limit: number): number | undefined {
  // Nearly all works are so small that their JSON need not be made.
  if (maxJsonBytes(manifests) + manifests.length * MAX_BYTES_AROUND <= limit) return undefined;
  const sizeBytes = manifests.reduce((sum, manifest) => sum + manifestSizeBytes(manifest), 0);
  return sizeBytes > limit ? sizeBytes : undefined;
}

/** An upper bound of the length of the value's JSON (bytes). */
function maxJsonBytes(value: unknown): number {
  if (typeof value === 'string') return value.length * MAX_BYTES_PER_UNIT + MAX_BYTES_PER_VALUE;
  if (typeof value === 'number') return MAX_BYTES_PER_NUMBER;
  let bytes = MAX_BYTES_PER_VALUE;
  if (Array.isArray(value)) for (const item of value) bytes += maxJsonBytes(item);
  else if (typeof value === 'object' && value !== null) bytes += maxJsonBytesOfFields(value);
  return bytes;
}

/** Plain JSON inherits no enumerable key; unlike Object.entries, this allocates no list. */
function maxJsonBytesOfFields(object: object): number {
  let bytes = 0;
  for (const key in object)
    bytes +=
      key.length * MAX_BYTES_PER_UNIT +
      MAX_BYTES_PER_VALUE +
      maxJsonBytes((object as Record<string, unknown>)[key]);
  return bytes;
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) length += 1;
  return length;
}
