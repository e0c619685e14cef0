import type { JsonObject } from '../../json/json-value.ts';
import { isObject } from '../../json/json-value.ts';
import type { Column } from './column.ts';
import { AGE_COLUMN, column, fieldColumn, itemsOf, NAME_COLUMN, textOf, valueAt } from './column.ts';

/* Source: kubernetes `pkg/printers/internalversion/printers.go`. */

const lengthColumn = (name: string, path: string): Column =>
  column(name, (object) => itemsOf(object, path).length, { type: 'integer' });

export const WEBHOOK_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  lengthColumn('Webhooks', 'webhooks'),
  AGE_COLUMN,
];

export const POLICY_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  lengthColumn('Validations', 'spec.validations'),
  column('ParamKind', (policy) => {
    const kind = valueAt(policy, 'spec.paramKind');
    return isObject(kind) ? `${textOf(kind, 'apiVersion', '')}/${textOf(kind, 'kind', '')}` : UNSET;
  }),
  AGE_COLUMN,
];

export const POLICY_BINDING_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  fieldColumn('PolicyName', 'spec.policyName'),
  column('ParamRef', paramText),
  AGE_COLUMN,
];

const UNSET = '<unset>';

/** A selector is printed as JSON; an API server prints its Go value. */
function paramText(binding: JsonObject): string {
  const ref = valueAt(binding, 'spec.paramRef');
  if (!isObject(ref)) return UNSET;
  const name = textOf(ref, 'name', '');
  return name === '' ? textOf(ref, 'selector', UNSET) : `${textOf(ref, 'namespace', '*')}/${name}`;
}
