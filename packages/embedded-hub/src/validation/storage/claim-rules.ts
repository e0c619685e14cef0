import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { getOwn, objectAt, textAt } from '../../json/json-value.ts';
import type { Quantity } from '@berth/kube/model/quantity';
import { compareQuantities } from '@berth/kube/model/quantity';
import { checkClaimSpec } from '../pod/claim-spec.ts';
import type { KindRules } from '../values/kind-rules.ts';
import type { FieldReporter } from '../values/field-reporter.ts';
import { quantityAt, ZERO } from '../values/quantity-rules.ts';
import { semanticEqual } from '../values/semantic-equal.ts';

const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

/** Source: pkg/apis/core/validation (ValidatePersistentVolumeClaim, ValidatePersistentVolumeClaimUpdate). */
export const CLAIM_RULES: KindRules = {
  metadataChecks: 4,
  validate: (claim, at, old) => {
    const spec = objectAt(claim, 'spec') ?? {};
    checkClaimSpec(spec, at.at('spec'));
    if (old !== undefined) checkClaimChange(claim, old, at);
  },
};

function checkClaimChange(claim: JsonObject, old: JsonObject, at: FieldReporter): void {
  const [spec, before] = [objectAt(claim, 'spec') ?? {}, objectAt(old, 'spec') ?? {}];
  const annotation = (one: JsonObject): string =>
    textAt(objectAt(objectAt(one, 'metadata'), 'annotations'), CLASS_ANNOTATION);
  if (annotation(claim) !== annotation(old))
    at.at('metadata').at('annotations').at(CLASS_ANNOTATION).invalid(annotation(claim), 'field is immutable');
  const bound = textAt(objectAt(claim, 'status'), 'phase') === 'Bound';
  if (!semanticEqual(fixedClaim(spec, before, bound), fixedClaim(before, before, bound))) {
    const detail =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    at.at('spec').forbidden(detail);
  }
  const size = (one: JsonObject): Quantity =>
    quantityAt(objectAt(objectAt(one, 'resources'), 'requests'), 'storage') ?? ZERO;
  const [now, then] = [size(spec), size(before)];
  const capacity = quantityAt(objectAt(objectAt(old, 'status'), 'capacity'), 'storage') ?? ZERO;
  if (compareQuantities(now, then) < 0 && compareQuantities(now, capacity) <= 0) {
    const place = at.at('spec').at('resources').at('requests').at('storage');
    place.forbidden('field can not be less than status.capacity');
  }
  const mode = (one: JsonObject): JsonValue => getOwn(one, 'volumeMode') ?? 'Filesystem';
  at.at('volumeMode').immutable(mode(spec), mode(before));
}

/** The immutable part of a claim. The volume name and the storage class may be set once. */
function fixedClaim(spec: JsonObject, old: JsonObject, bound: boolean): JsonObject {
  const fixed: JsonObject = { volumeMode: 'Filesystem', ...spec };
  if (textAt(old, 'volumeName') === '') delete fixed['volumeName'];
  if (getOwn(old, 'storageClassName') === undefined) delete fixed['storageClassName'];
  if (!bound) return fixed;
  delete fixed['volumeAttributesClassName'];
  const resources = { ...objectAt(fixed, 'resources') };
  const requests = { ...objectAt(resources, 'requests') };
  delete requests['storage'];
  return { ...fixed, resources: { ...resources, requests } };
}
