import { parseGoDuration } from '@berth/kube/model/go-duration';

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
