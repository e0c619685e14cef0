import type { JsonObject } from '../json/json-value.ts';
import { isObject, listAt, textAt } from '../json/json-value.ts';
import type { FieldProblem } from '../wire/status-errors.ts';
import type { FieldPath } from './field-path.ts';
import { child } from './field-path.ts';
import { invalidValue, tooLong } from './field-problems.ts';

const MANAGER_LIMIT_BYTES = 128;
const SUBRESOURCE_LIMIT_BYTES = 256;

/** Source: apimachinery, pkg/apis/meta/v1/validation (ValidateManagedFields). */
export function checkManagedFields(metadata: JsonObject, path: FieldPath, problems: FieldProblem[]): void {
  for (const [index, entry] of listAt(metadata, 'managedFields').entries()) {
    if (isObject(entry)) checkEntry(entry, child(child(path, 'managedFields'), index), problems);
  }
}

function checkEntry(entry: JsonObject, path: FieldPath, problems: FieldProblem[]): void {
  const [operation, fieldsType] = [textAt(entry, 'operation'), textAt(entry, 'fieldsType')];
  if (operation !== 'Apply' && operation !== 'Update')
    problems.push(invalidValue(child(path, 'operation'), operation, 'must be `Apply` or `Update`'));
  if (fieldsType !== '' && fieldsType !== 'FieldsV1')
    problems.push(invalidValue(child(path, 'fieldsType'), fieldsType, 'must be `FieldsV1`'));
  if (textAt(entry, 'manager').length > MANAGER_LIMIT_BYTES)
    problems.push(tooLong(child(path, 'manager'), MANAGER_LIMIT_BYTES));
  if (textAt(entry, 'subresource').length > SUBRESOURCE_LIMIT_BYTES)
    problems.push(tooLong(child(path, 'subresource'), SUBRESOURCE_LIMIT_BYTES));
}
