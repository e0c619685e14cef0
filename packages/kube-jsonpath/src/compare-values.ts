import { compareUtf8 } from '@berth/runtime/text/utf8-order';
import { isInteger, JsonFloat } from '@berth/runtime/json/json-float';

export type Comparison =
  | { readonly ok: true; readonly pass: boolean }
  | { readonly ok: false; readonly error: string };

const BAD_TYPE: Comparison = { ok: false, error: 'invalid type for comparison' };
const INCOMPATIBLE: Comparison = { ok: false, error: 'incompatible types for comparison' };

/** One comparison of a filter. Kinds never mix: an integer and a float are as incompatible as text and a number. */
export function compareValues(operator: string, left: unknown, right: unknown): Comparison {
  if (!KNOWN.has(operator)) return { ok: false, error: `unrecognized filter operator ${operator}` };
  const kind = basicKind(left);
  const other = basicKind(right);
  if (kind === undefined || other === undefined) return BAD_TYPE;
  if (kind !== other) return INCOMPATIBLE;
  if (operator !== '==' && operator !== '!=' && kind === 'bool') return BAD_TYPE;
  return { ok: true, pass: holds(operator, order(left, right)) };
}

const KNOWN = new Set(['<', '>', '==', '!=', '<=', '>=']);

/** NaN (a float that compares with nothing) makes only `!=`, `>` and `>=` true, as negations of the others. */
function holds(operator: string, sign: number): boolean {
  switch (operator) {
    case '<':
      return sign < 0;
    case '<=':
      return sign <= 0;
    case '==':
      return sign === 0;
    case '!=':
      return sign !== 0;
    case '>':
      return !(sign <= 0);
    default:
      return !(sign < 0);
  }
}

function basicKind(value: unknown): 'bool' | 'int' | 'float' | 'string' | undefined {
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  if (isInteger(value)) return 'int';
  return typeof value === 'number' || value instanceof JsonFloat ? 'float' : undefined;
}

function order(left: unknown, right: unknown): number {
  if (typeof left === 'string') return compareUtf8(left, right as string);
  const [a, b] = [plain(left), plain(right)];
  if (a < b) return -1;
  return a > b ? 1 : a === b ? 0 : Number.NaN;
}

/** Mixed number and bigint compare exactly in JavaScript; only `===` needs equal types. */
function plain(value: unknown): number | bigint {
  if (value instanceof JsonFloat) return value.value;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  return typeof value === 'boolean' ? Number(value) : (value as number);
}
