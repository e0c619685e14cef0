import { dnsLabel, dnsSubdomain } from '@berth/kube/model/selector/name-rules';
import { deepEqual, getOwn, type JsonObject, objectAt, textAt, textsAt } from '../../json/json-value.ts';
import type { FieldReporter } from '../values/field-reporter.ts';
import { checkSelector } from '../values/metadata-rules.ts';
import { checkPositiveQuantity, quantityAt } from '../values/quantity-rules.ts';

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
export const VOLUME_MODES = ['Block', 'Filesystem'];
const CLAIM = 'PersistentVolumeClaim';

/** Access modes of a claim or a volume. */
export function checkAccessModes(spec: JsonObject, at: FieldReporter): void {
  const modes = textsAt(spec, 'accessModes');
  for (const mode of modes) if (!ACCESS_MODES.includes(mode)) at.unsupported(mode, ACCESS_MODES);
  const known = new Set(modes.filter((mode) => ACCESS_MODES.includes(mode)));
  if (known.has('ReadWriteOncePod') && known.size > 1)
    at.forbidden('may not use ReadWriteOncePod with other access modes');
}

export function checkVolumeMode(spec: JsonObject, at: FieldReporter): void {
  at.oneOfIfPresent(getOwn(spec, 'volumeMode'), VOLUME_MODES);
}

/** Source: pkg/apis/core/validation (ValidatePersistentVolumeClaimSpec). */
export function checkClaimSpec(spec: JsonObject, at: FieldReporter): void {
  if (textsAt(spec, 'accessModes').length === 0)
    at.at('accessModes').required('at least 1 access mode is required');
  checkSelector(objectAt(spec, 'selector'), at.at('selector'));
  checkAccessModes(spec, at.at('accessModes'));
  const storage = quantityAt(objectAt(objectAt(spec, 'resources'), 'requests'), 'storage');
  const place = at.at('resources').entry('storage');
  if (storage === undefined) place.required();
  else checkPositiveQuantity(storage, place);
  const storageClass = textAt(spec, 'storageClassName');
  if (storageClass !== '') at.at('storageClassName').validName(storageClass, dnsSubdomain);
  checkVolumeMode(spec, at.at('volumeMode'));
  checkDataSources(spec, at);
  const attributes = textAt(spec, 'volumeAttributesClassName');
  if (attributes !== '') at.at('volumeAttributesClassName').validName(attributes, dnsSubdomain);
}

function checkDataSources(spec: JsonObject, at: FieldReporter): void {
  const [source, reference] = [objectAt(spec, 'dataSource'), objectAt(spec, 'dataSourceRef')];
  if (source !== undefined) checkDataSource(source, at.at('dataSource'));
  if (reference !== undefined) checkDataSource(reference, at.at('dataSourceRef'));
  if (source === undefined || reference === undefined) return;
  const shown = `${at.toString()}.dataSource`;
  if (textAt(reference, 'namespace') !== '')
    at.invalid(shown, 'may not be specified when dataSourceRef.namespace is specified');
  else if (
    ['apiGroup', 'kind', 'name'].some((key) => !deepEqual(getOwn(source, key), getOwn(reference, key)))
  )
    at.invalid(shown, 'must match dataSourceRef');
}

function checkDataSource(source: JsonObject, at: FieldReporter): void {
  for (const key of ['name', 'kind']) if (textAt(source, key) === '') at.at(key).required();
  const [group, kind] = [textAt(source, 'apiGroup'), textAt(source, 'kind')];
  if (group === '' && kind !== CLAIM)
    at.invalid(kind, `must be '${CLAIM}' when referencing the default apiGroup`);
  if (group !== '') at.at('apiGroup').validName(group, dnsSubdomain);
  const namespace = textAt(source, 'namespace');
  if (namespace !== '') at.at('namespace').validName(namespace, dnsLabel);
}
