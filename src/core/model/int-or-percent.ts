/** util/intstr IntOrString: a JSON number or a string (`"25%"`). */
export type IntOrString = number | string;

export type ScaledValue =
  | { readonly ok: true; readonly value: number }
  | { readonly ok: false; readonly error: string };

const WHOLE_PERCENT = /^([+-]?[0-9]+)%$/;

/**
 * The number that `value` denotes, out of `total`: an integer as it is, a whole percentage scaled and rounded
 * (apimachinery `intstr.GetScaledValueFromIntOrPercent`). A string that is not a percentage is an error.
 */
export function scaleIntOrPercent(value: IntOrString, total: number, rounding: 'up' | 'down'): ScaledValue {
  if (typeof value === 'number') return { ok: true, value };
  const match = WHOLE_PERCENT.exec(value);
  if (match === null) {
    const expected = value.endsWith('%')
      ? 'expected a whole number before "%"'
      : 'string is not a percentage';
    return { ok: false, error: `invalid value ${JSON.stringify(value)}: ${expected}` };
  }
  const exact = (Number(match[1]) * total) / 100;
  return { ok: true, value: rounding === 'up' ? Math.ceil(exact) : Math.floor(exact) };
}
