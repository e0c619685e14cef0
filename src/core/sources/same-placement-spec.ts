import { jsonEqual } from '../model/json-equal.ts';
import type { PlacementSpec } from '../model/kind/placement.ts';

/** Of a field by its name, wherever it is in the spec. Source: the CustomResourceDefinition of OCM's Placement. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  clustersPerDecisionGroup: '100%',
  maxSkew: 1,
  mode: 'Additive',
  operator: 'Equal',
  scoreRateLimit: '1m',
  sortBy: 'ClusterName',
  type: 'BuiltIn',
  weight: 1,
  whenUnsatisfiable: 'ScheduleAnyway',
};

/** Do two specs say the same, whether or not a hub has filled in its defaults? */
export function samePlacementSpec(a: PlacementSpec | undefined, b: PlacementSpec | undefined): boolean {
  return jsonEqual(a, b) || jsonEqual(withoutDefaults(a ?? {}), withoutDefaults(b ?? {}));
}

function withoutDefaults(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDefaults);
  if (typeof value !== 'object' || value === null) return value;
  const stated = Object.entries(value).filter(([name, one]) => one !== undefined && DEFAULTS[name] !== one);
  return Object.fromEntries(stated.map(([name, one]) => [name, withoutDefaults(one)]));
}
