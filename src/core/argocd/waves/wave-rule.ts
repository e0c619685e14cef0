import { parseGoDuration } from '@berth/kube/model/go-duration';
import type { DecisionUse } from '../refresh/decision-use.ts';

/**
 * The number of waves in which an ApplicationSet takes the clusters of a placement, and whether a wave waits for the
 * previous one.
 */
export interface WaveRule {
  /** The number of steps of the ApplicationSet's RollingSync. */
  readonly count: number;
  /** How long a wave must be healthy before the next one is served; undefined: no wave waits. */
  readonly soakMs: number | undefined;
}

export type WaveRuleReading =
  | { readonly ok: true; readonly rule: WaveRule | undefined }
  | { readonly ok: false; readonly message: string };

/** More steps than a user writes by hand. */
const MAX_WAVES = 50;

/** Reads `waves` and `soak` of a plugin generator's `input.parameters`. Without `waves` there is no rule. */
export function readWaveRule({ waves, soak }: Readonly<Record<string, unknown>>): WaveRuleReading {
  if (waves === undefined)
    return soak === undefined
      ? { ok: true, rule: undefined }
      : { ok: false, message: 'input.parameters.soak has no effect without input.parameters.waves' };
  const count = Number(textOf(waves) ?? Number.NaN);
  if (!Number.isInteger(count) || count < 1 || count > MAX_WAVES)
    return wrong('waves', waves, `a whole number from 1 to ${MAX_WAVES}`);
  if (soak === undefined) return { ok: true, rule: { count, soakMs: undefined } };
  const soakMs = parseGoDuration(textOf(soak) ?? '');
  if (soakMs === undefined || soakMs < 0) return wrong('soak', soak, 'a duration such as 10m');
  return { ok: true, rule: { count, soakMs } };
}

export function sameRule(a: WaveRule, b: WaveRule): boolean {
  return a.count === b.count && a.soakMs === b.soakMs;
}

/** A matrix generator converts every value to text. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

function wrong(key: string, value: unknown, expected: string): WaveRuleReading {
  return {
    ok: false,
    message: `input.parameters.${key} must be ${expected}, got ${JSON.stringify(value)}`,
  };
}

export interface WaveUses {
  /** By placement, `namespace/name`. */
  readonly rules: ReadonlyMap<string, WaveRule>;
  /** By placement: why its waves cannot be used, as a sentence. Such a placement has no rule. */
  readonly refused: ReadonlyMap<string, string>;
}

/**
 * The placements that an ApplicationSet takes in waves.
 * @param plugins names of the ConfigMaps of plugins that ask Berth
 */
export function waveUses(uses: readonly DecisionUse[], plugins: ReadonlySet<string>): WaveUses {
  const rules = new Map<string, WaveRule>();
  const refused = new Map<string, string>();
  for (const use of uses) {
    if (use.kind !== 'plugin' || !plugins.has(use.configMap)) continue;
    const { placement } = use;
    const reading = readWaveRule(use.parameters);
    if (!reading.ok) refused.set(placement, reading.message);
    if (!reading.ok || reading.rule === undefined) continue;
    const known = rules.get(placement);
    if (placement.includes('{{'))
      refused.set(placement, 'waves need the name of the placement as it is, without a placeholder');
    else if (known !== undefined && !sameRule(known, reading.rule))
      refused.set(placement, 'two generators of the ApplicationSet ask for different waves of it');
    else rules.set(placement, reading.rule);
  }
  for (const placement of refused.keys()) rules.delete(placement);
  return { rules, refused };
}
