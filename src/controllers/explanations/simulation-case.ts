import { z } from 'zod';
import { errorText } from '@berth/runtime/errors';
import { parseRfc3339 } from '@berth/kube/model/rfc3339';
import { assumedSetNotes, withAssumedSets } from '../../core/registration/cluster-sets.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';

export interface SimulationCase {
  readonly name: string;
  readonly snapshot: Snapshot;
  /** What the snapshot has that the case does not name, one sentence each. */
  readonly assumed: readonly string[];
}

export type ParsedCase =
  | (SimulationCase & { readonly ok: true })
  | { readonly ok: false; readonly error: string };

const text = z.string();
const textMap = z.record(text, text);
const requirement = z.looseObject({ key: text, operator: text, values: z.array(text).optional() });
const selector = z.looseObject({
  matchLabels: textMap.optional(),
  matchExpressions: z.array(requirement).optional(),
});
const metadata = z.looseObject({
  name: text,
  namespace: text.optional(),
  labels: textMap.optional(),
  annotations: textMap.optional(),
});
const list = <T extends z.ZodType>(item: T) => z.array(item).nullish();

const clusterSelector = z.looseObject({
  labelSelector: selector.optional(),
  claimSelector: z.looseObject({ matchExpressions: z.array(requirement).optional() }).optional(),
  celSelector: z.looseObject({ celExpressions: z.array(text).optional() }).optional(),
});
const placement = z.looseObject({
  metadata,
  spec: z
    .looseObject({
      clusterSets: z.array(text).optional(),
      numberOfClusters: z.int().min(0).optional(),
      predicates: z.array(z.looseObject({ requiredClusterSelector: clusterSelector.optional() })).optional(),
      tolerations: z.array(z.looseObject({ tolerationSeconds: z.number().optional() })).optional(),
    })
    .optional(),
});
const cluster = z.looseObject({
  metadata,
  spec: z.looseObject({ taints: z.array(z.looseObject({ key: text, effect: text })).optional() }).optional(),
  status: z
    .looseObject({ clusterClaims: z.array(z.looseObject({ name: text, value: text })).optional() })
    .optional(),
});
const named = z.looseObject({ metadata });
const decision = z.looseObject({
  metadata,
  status: z.looseObject({ decisions: z.array(z.looseObject({ clusterName: text })).nullish() }).optional(),
});
const score = z.looseObject({
  metadata,
  status: z
    .looseObject({ scores: z.array(z.looseObject({ name: text, value: z.number() })).optional() })
    .optional(),
});
const simulationCase = z.looseObject({
  name: text,
  now: text.refine((value) => parseRfc3339(value) !== undefined, {
    error: 'expected an RFC 3339 time like 2026-03-01T12:00:00Z',
  }),
  placements: list(placement),
  clusters: list(cluster),
  clusterSets: list(named),
  bindings: list(named),
  decisions: list(decision),
  scores: list(score),
});

/** Parses one line of `berth simulate`. The fields that placement reads are checked; all others are kept as they are. */
export function parseSimulationCase(line: string): ParsedCase {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return { ok: false, error: `not JSON (${errorText(error)}), expected one case object per line` };
  }
  return checkSimulationCase(value);
}

/** Checks a case that has been parsed already. */
export function checkSimulationCase(value: unknown): ParsedCase {
  const parsed = simulationCase.safeParse(value);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'case'}: ${message}`);
    return { ok: false, error: issues.join('; ') };
  }
  // The parsed line and not the checked copy, because the copy would lose names like __proto__.
  const given = value as Partial<Snapshot> & { readonly name: string; readonly now: string };
  const snapshot: Snapshot = {
    now: given.now,
    placements: given.placements ?? [],
    clusters: given.clusters ?? [],
    clusterSets: given.clusterSets ?? [],
    bindings: given.bindings ?? [],
    decisions: given.decisions ?? [],
    scores: given.scores ?? [],
  };
  // A case that lists sets, be it none, says which sets the hub has.
  if (given.clusterSets != null) return { ok: true, name: given.name, snapshot, assumed: [] };
  return {
    ok: true,
    name: given.name,
    snapshot: withAssumedSets(snapshot),
    assumed: assumedSetNotes(snapshot),
  };
}
