import type { FieldPath } from '../schema/field-path.ts';
import { child } from '../schema/field-path.ts';
import { invalidValue } from '../schema/field-problems.ts';
import { prune } from '../schema/prune.ts';
import { validateEmbedded } from '../schema/validate-embedded.ts';
import { validateValue } from '../schema/validate-value.ts';
import type { JsonObject } from '../json/json-value.ts';
import { getOwn } from '../json/json-value.ts';
import type { FieldProblem } from '../wire/status-errors.ts';
import { compileSchema } from './compile-schema.ts';

/** A default must be valid for its own schema, and must not contain unknown fields. */
export function defaultProblems(schema: JsonObject, path: FieldPath): readonly FieldProblem[] {
  const value = getOwn(schema, 'default');
  if (value === undefined) return [];
  const place = child(path, 'default');
  const compiled = compileSchema(schema);
  const problems: FieldProblem[] = [];
  const unknown: string[] = [];
  prune(compiled, value, unknown);
  for (const field of unknown) problems.push(invalidValue(place, value, `unknown field "${field}"`));
  validateValue(compiled, value, problems, place);
  validateEmbedded(compiled, value, problems, place);
  return problems;
}
