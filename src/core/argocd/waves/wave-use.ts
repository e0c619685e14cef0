import type { DecisionUse } from '../refresh/decision-use.ts';
import { readWaveRule, sameRule, type WaveRule } from './wave-rule.ts';

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
