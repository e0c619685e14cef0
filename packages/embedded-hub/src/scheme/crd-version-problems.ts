import type { FieldPath } from '../schema/field-path.ts';
import { child } from '../schema/field-path.ts';
import { invalidValue, required, unsupportedValue } from '../schema/field-problems.ts';
import type { JsonObject } from '../json/json-value.ts';
import { isObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import type { FieldProblem } from '../wire/status-errors.ts';

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

/**
 * Problems of the printer columns, the scale subresource and the selectable fields of one version.
 */
export function versionExtraProblems(version: JsonObject, path: FieldPath): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [index, column] of listAt(version, 'additionalPrinterColumns').entries())
    if (isObject(column))
      checkColumn(column, child(child(path, 'additionalPrinterColumns'), index), problems);
  const scale = objectAt(objectAt(version, 'subresources'), 'scale');
  const place = child(child(path, 'subresources'), 'scale');
  if (scale !== undefined) {
    checkScalePath(scale, { place, key: 'specReplicasPath', below: '.spec.' }, problems);
    checkScalePath(scale, { place, key: 'statusReplicasPath', below: '.status.' }, problems);
  }
  const schema = objectAt(objectAt(version, 'schema'), 'openAPIV3Schema');
  for (const [index, field] of listAt(version, 'selectableFields').entries()) {
    const jsonPath = isObject(field) ? textAt(field, 'jsonPath') : '';
    const where = child(child(child(path, 'selectableFields'), index), 'jsonPath');
    if (schema !== undefined && !isScalarField(schema, jsonPath))
      problems.push(
        invalidValue(where, jsonPath, 'must point to a field of type string, boolean or integer'),
      );
  }
  return problems;
}

function checkColumn(column: JsonObject, path: FieldPath, problems: FieldProblem[]): void {
  if (textAt(column, 'name') === '') problems.push(required(child(path, 'name')));
  const type = textAt(column, 'type');
  if (!COLUMN_TYPES.includes(type)) problems.push(unsupportedValue(child(path, 'type'), type, COLUMN_TYPES));
  const format = textAt(column, 'format');
  if (format !== '' && !COLUMN_FORMATS.includes(format))
    problems.push(unsupportedValue(child(path, 'format'), format, COLUMN_FORMATS));
  checkSimplePath(textAt(column, 'jsonPath'), child(path, 'jsonPath'), problems);
}

function checkScalePath(
  scale: JsonObject,
  { place, key, below }: { readonly place: FieldPath; readonly key: string; readonly below: string },
  problems: FieldProblem[],
): void {
  const text = textAt(scale, key);
  checkSimplePath(text, child(place, key), problems);
  if (text !== '' && !text.startsWith(below))
    problems.push(invalidValue(child(place, key), text, `should be a json path under ${below.slice(0, -1)}`));
}

function checkSimplePath(text: string, path: FieldPath, problems: FieldProblem[]): void {
  if (text === '') problems.push(required(path));
  else if (!text.startsWith('.'))
    problems.push(invalidValue(path, text, 'must be a simple json path starting with .'));
}

function isScalarField(schema: JsonObject, jsonPath: string): boolean {
  if (!jsonPath.startsWith('.')) return false;
  let at: JsonObject | undefined = schema;
  for (const key of jsonPath.slice(1).split('.')) at = objectAt(objectAt(at, 'properties'), key);
  return ['string', 'boolean', 'integer'].includes(textAt(at, 'type'));
}
