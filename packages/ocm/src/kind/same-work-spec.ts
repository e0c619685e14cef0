import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { ManifestWorkSpec } from './manifest-work.ts';

/**
 * Whether two specs are equal, ignoring API defaults, empty lists and maps, and `creationTimestamp:
 * null` in manifests. The order of lists matters. Objects are immutable, so the last result for a
 * spec is cached: thousands of works are compared with one template repeatedly.
 */
export function sameWorkSpec(
  left: ManifestWorkSpec | undefined,
  right: ManifestWorkSpec | undefined,
): boolean {
  if (left === right) return true;
  if (left === undefined || right === undefined) return false;
  const known = RESULTS.get(left);
  if (known?.right === right) return known.same;
  // Mostly they are equal as they are, which is found much faster.
  const same = jsonEqual(left, right) || canonicalWorkSpec(left) === canonicalWorkSpec(right);
  RESULTS.set(left, { right, same });
  return same;
}

const RESULTS = new WeakMap<ManifestWorkSpec, { readonly right: ManifestWorkSpec; readonly same: boolean }>();

/** A text that is the same for all specs that `sameWorkSpec` considers equal. */
export function canonicalWorkSpec(spec: ManifestWorkSpec | undefined): string {
  const { workload, deleteOption, manifestConfigs, ...rest } = (spec ?? {}) as Readonly<
    Record<string, unknown>
  > &
    ManifestWorkSpec;
  return JSON.stringify({
    ...(canonical(rest, new Map()) as object),
    manifests: (workload?.manifests ?? []).map((manifest) => canonical(manifest, MANIFEST_DEFAULTS)),
    deleteOption: canonical({ propagationPolicy: 'Foreground', ...deleteOption }, new Map()),
    configs: (manifestConfigs ?? []).map((config) => canonical(config, CONFIG_DEFAULTS)),
  });
}

/** Field name -> value that means the same as no such field. */
type Defaults = ReadonlyMap<string, unknown>;

const MANIFEST_DEFAULTS: Defaults = new Map([['creationTimestamp', null]]);
const CONFIG_DEFAULTS: Defaults = new Map<string, unknown>([
  ['feedbackScrapeType', 'Poll'],
  ['force', false],
  ['fieldManager', 'work-agent'],
]);

function canonical(value: unknown, defaults: Defaults): unknown {
  if (Array.isArray(value)) return value.map((item) => canonical(item, defaults));
  if (typeof value !== 'object' || value === null) return value;
  const fields: [string, unknown][] = [];
  for (const [key, field] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (field === undefined || (defaults.has(key) && defaults.get(key) === field)) continue;
    const clean = canonical(field, defaults);
    if (defaults === CONFIG_DEFAULTS && isEmpty(clean)) continue;
    fields.push([key, clean]);
  }
  // Entries, not an object: `__proto__` is a key like any other.
  return fields;
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
