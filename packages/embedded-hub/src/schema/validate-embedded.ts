import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { getOwn, objectAt, textAt } from '../json/json-value.ts';
import type { Schema } from './schema.ts';
import type { FieldProblem } from '../wire/status-errors.ts';
import { mapEmbedded } from './embedded-resources.ts';
import type { FieldPath } from './field-path.ts';
import { child } from './field-path.ts';
import { invalidValue, required } from './field-problems.ts';
import { dns1035Label } from '@berth/kube/model/selector/name-rules';
import { validateEmbeddedMetadata } from './validate-metadata.ts';

/**
 * Checks apiVersion, kind and metadata of every embedded resource in a value.
 * Source: apiextensions-apiserver, pkg/apiserver/schema/objectmeta (Validate).
 */
export function validateEmbedded(
  schema: Schema,
  value: JsonValue,
  problems: FieldProblem[],
  path?: FieldPath,
): void {
  mapEmbedded(
    schema,
    value,
    (resource, place) => {
      checkResource(resource, place, problems);
      return resource;
    },
    path,
  );
}

function checkResource(resource: JsonObject, path: FieldPath | undefined, problems: FieldProblem[]): void {
  for (const key of ['apiVersion', 'kind']) {
    const value = getOwn(resource, key);
    if (value === undefined) problems.push(required(child(path, key)));
    else if (value === '') problems.push(invalidValue(child(path, key), value, 'must not be empty'));
  }
  const apiVersion = textAt(resource, 'apiVersion');
  if (apiVersion.indexOf('/') !== apiVersion.lastIndexOf('/')) {
    const detail = `unexpected GroupVersion string: ${apiVersion}`;
    problems.push(invalidValue(child(path, 'apiVersion'), apiVersion, detail));
  }
  const kind = textAt(resource, 'kind');
  const faults = kind === '' ? [] : dns1035Label(kind.toLowerCase());
  if (faults.length > 0) {
    const detail = `may have mixed case, but should otherwise match: ${faults.join(',')}`;
    problems.push(invalidValue(child(path, 'kind'), kind, detail));
  }
  const metadata = objectAt(resource, 'metadata');
  if (metadata !== undefined) validateEmbeddedMetadata(metadata, child(path, 'metadata'), problems);
}
