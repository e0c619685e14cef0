import { parseFloat64, parseInt64 } from '../../text/parse-number.ts';
import { type Any, isInteger, isUnsigned, floatToInt64, wrap64 } from '../../value/go-type.ts';

/** Conversion as in spf13/cast. A value that cannot become a number is 0. */
export function toInt64(value: Any): bigint {
  if (value === null) return 0n;
  if (isInteger(value) || isUnsigned(value)) return wrap64(value.data);
  switch (value.type.kind) {
    case 'float64':
      return floatToInt64(value.data as number);
    case 'bool':
      return value.data === true ? 1n : 0n;
    case 'string': {
      const number = parseInt64(withoutZeroDecimals(value.data as string));
      return typeof number === 'bigint' ? number : 0n;
    }
    default:
      return 0n;
  }
}

/** `3.00` counts as 3, and `.0` as nothing. */
function withoutZeroDecimals(text: string): string {
  return text.replace(/\.0+$/, '');
}

export function toFloat64(value: Any): number {
  if (value === null) return 0;
  if (isInteger(value) || isUnsigned(value)) return Number(value.data);
  switch (value.type.kind) {
    case 'float64':
      return value.data as number;
    case 'bool':
      return value.data === true ? 1 : 0;
    case 'string': {
      const number = parseFloat64(value.data as string);
      return typeof number === 'number' ? number : 0;
    }
    default:
      return 0;
  }
}
