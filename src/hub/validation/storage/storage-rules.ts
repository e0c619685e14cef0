import { dnsSubdomain, qualifiedName } from '../../../core/model/selector/name-rules.ts';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { getOwn, listAt, numberAt, objectAt, textAt, textsAt } from '../../json/json-value.ts';
import type { Quantity } from '../../../core/model/quantity.ts';
import { compareQuantities } from '../../../core/model/quantity.ts';
import { checkAccessModes, checkClaimSpec, checkVolumeMode } from '../pod/claim-spec.ts';
import type { KindRules } from '../values/kind-rules.ts';
import type { FieldReporter } from '../values/field-reporter.ts';
import { checkNodeSelector } from '../pod/node-selector.ts';
import { PREEMPTION_POLICIES } from '../pod/pod-spec.ts';
import { checkDriverName, VOLUME_CHECKS } from '../pod/volumes.ts';
import { checkPositiveQuantity, eachQuantity, quantityAt } from '../values/quantity-rules.ts';
import { semanticEqual } from '../values/semantic-equal.ts';

const ZERO: Quantity = { mantissa: 0n, exponent: 0, format: 'DecimalSI' };
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
  at.at('volumeMode').fixed(mode(spec), mode(before));
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

const RECLAIM = ['Delete', 'Recycle', 'Retain'];
const VOLUME_SOURCES = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'flocker',
  'nfs',
  'rbd',
  'quobyte',
  'cephfs',
  'iscsi',
  'cinder',
  'fc',
  'flexVolume',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'scaleIO',
  'local',
  'storageos',
  'csi',
];

/** Source: pkg/apis/core/validation (ValidatePersistentVolume, ValidatePersistentVolumeUpdate). */
export const VOLUME_RULES: KindRules = {
  metadataChecks: 'new twice',
  validate: (volume, at, old) => {
    const spec = objectAt(volume, 'spec') ?? {};
    checkVolume(spec, at.at('spec'));
    if (old === undefined) return;
    checkVolume(spec, at.at('spec'));
    checkVolumeChange(spec, objectAt(old, 'spec') ?? {}, at);
  },
};

function checkVolume(spec: JsonObject, place: FieldReporter): void {
  if (textsAt(spec, 'accessModes').length === 0) place.at('accessModes').required();
  checkAccessModes(spec, place.at('accessModes'));
  checkCapacity(spec, place.at('capacity'));
  place
    .at('persistentVolumeReclaimPolicy')
    .oneOfIfSet(textAt(spec, 'persistentVolumeReclaimPolicy'), RECLAIM);
  checkAffinity(spec, place.at('nodeAffinity'));
  checkSource(spec, place);
  const name = textAt(spec, 'storageClassName');
  if (name !== '') place.at('storageClassName').named(name, dnsSubdomain);
  checkVolumeMode(spec, place.at('volumeMode'));
}

function checkCapacity(spec: JsonObject, at: FieldReporter): void {
  const capacity = objectAt(spec, 'capacity') ?? {};
  const names = Object.keys(capacity);
  if (names.length === 0) at.required();
  if (!names.includes('storage') || names.length > 1)
    at.unsupported(getOwn(spec, 'capacity') ?? null, ['storage']);
  eachQuantity(capacity, at, (_name, quantity, place) => {
    if (quantity.mantissa < 0n) place.invalid(Number(quantity.mantissa), 'must be a valid resource quantity');
    checkPositiveQuantity(quantity, place);
  });
}

function checkAffinity(spec: JsonObject, at: FieldReporter): void {
  const affinity = objectAt(spec, 'nodeAffinity');
  if (affinity === undefined) return;
  const required = objectAt(affinity, 'required');
  if (required === undefined) at.at('required').required('must specify required node constraints');
  else checkNodeSelector(required, at.at('required'));
}

function checkSource(spec: JsonObject, at: FieldReporter): void {
  let count = 0;
  for (const field of VOLUME_SOURCES) {
    const source = objectAt(spec, field);
    if (source === undefined) continue;
    if (count > 0) at.at(field).forbidden('may not specify more than 1 volume type');
    else if (field === 'csi') checkCsi(source, at.at(field));
    else if (field === 'local') checkLocal(spec, source, at);
    else VOLUME_CHECKS.get(field)?.(source, at.at(field));
    count += 1;
  }
  if (count === 0) at.required('must specify a volume type');
  const path = textAt(objectAt(spec, 'hostPath'), 'path');
  if (/^\/+$/.test(path) && spec['persistentVolumeReclaimPolicy'] === 'Recycle')
    at.at('persistentVolumeReclaimPolicy').forbidden("may not be 'recycle' for a hostPath mount of '/'");
}

function checkCsi(source: JsonObject, at: FieldReporter): void {
  checkDriverName(textAt(source, 'driver'), at.at('driver'));
  if (textAt(source, 'volumeHandle') === '') at.at('volumeHandle').required();
}

function checkLocal(spec: JsonObject, source: JsonObject, at: FieldReporter): void {
  if (textAt(source, 'path') === '') at.at('local').at('path').required();
  if (objectAt(spec, 'nodeAffinity') === undefined)
    at.at('nodeAffinity').required('Local volume requires node affinity');
}

function checkVolumeChange(spec: JsonObject, old: JsonObject, at: FieldReporter): void {
  const sources = (one: JsonObject): JsonObject =>
    Object.fromEntries(VOLUME_SOURCES.map((key) => [key, getOwn(one, key) ?? null]));
  if (!semanticEqual(sources(spec), sources(old)))
    at.at('spec')
      .at('persistentvolumesource')
      .forbidden('spec.persistentvolumesource is immutable after creation');
  const mode = (one: JsonObject): JsonValue => getOwn(one, 'volumeMode') ?? 'Filesystem';
  at.at('volumeMode').fixed(mode(spec), mode(old));
  const before = getOwn(old, 'nodeAffinity');
  if (before !== undefined && !semanticEqual(getOwn(spec, 'nodeAffinity'), before))
    at.at('nodeAffinity').invalid(
      getOwn(spec, 'nodeAffinity'),
      'field is immutable, except for updating from beta label to GA',
    );
}

const CLASS_RECLAIM = ['Delete', 'Retain'];
const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer'];
const MAX_PARAMETERS = 512;

/**
 * Source: pkg/apis/storage/validation (ValidateStorageClass). The strategy of the kind checks
 * immutable fields.
 */
export const STORAGE_CLASS_RULES: KindRules = {
  metadataChecks: 4,
  validate: (storageClass, at) => {
    const provisioner = textAt(storageClass, 'provisioner');
    if (provisioner === '') at.at('provisioner').required();
    else
      for (const detail of qualifiedName(provisioner.toLowerCase()))
        at.at('provisioner').invalid(provisioner.toLowerCase(), detail);
    const parameters = Object.keys(objectAt(storageClass, 'parameters') ?? {});
    if (parameters.length > MAX_PARAMETERS) at.at('parameters').tooLong(MAX_PARAMETERS);
    else if (parameters.includes('')) at.at('parameters').invalid('', 'field can not be empty.');
    at.at('reclaimPolicy').oneOfIfSet(textAt(storageClass, 'reclaimPolicy'), CLASS_RECLAIM);
    const mode = getOwn(storageClass, 'volumeBindingMode');
    if (typeof mode === 'string' && !BINDING_MODES.includes(mode))
      at.at('volumeBindingMode').unsupported(mode, BINDING_MODES);
    checkTopologies(storageClass, at);
  },
};

function checkTopologies(storageClass: JsonObject, at: FieldReporter): void {
  const seen: JsonObject[] = [];
  at.each(storageClass, 'allowedTopologies', (term, place) => {
    checkTopology(term, place);
    // The API server also compares each term with as many empty terms as there are terms.
    const blank = listAt(term, 'matchLabelExpressions').length === 0;
    const known =
      seen.filter((one) => semanticEqual(one, term)).length +
      (blank ? listAt(storageClass, 'allowedTopologies').length : 0);
    for (let count = 0; count < known; count += 1) place.at('matchLabelExpressions').duplicate('');
    seen.push(term);
  });
}

function checkTopology(term: JsonObject, at: FieldReporter): void {
  const keys = new Set<string>();
  at.each(term, 'matchLabelExpressions', (requirement, place) => {
    const values = textsAt(requirement, 'values');
    if (values.length === 0) place.at('values').required();
    for (const [index, value] of values.entries())
      if (values.indexOf(value) < index) place.at('values').at(index).duplicate(value);
    const key = textAt(requirement, 'key');
    place.at('key').named(key, qualifiedName);
    if (keys.has(key)) place.at('key').duplicate(key);
    keys.add(key);
  });
}

/** Source: pkg/apis/storage/validation (ValidateVolumeAttachment). */
export const ATTACHMENT_RULES: KindRules = {
  metadataChecks: 'new',
  validate: (attachment, at, old) => {
    const spec = objectAt(attachment, 'spec') ?? {};
    const place = at.at('spec');
    const attacher = textAt(spec, 'attacher');
    if (attacher === '') place.at('attacher').required();
    const source = objectAt(spec, 'source') ?? {};
    const [volume, inline] = [getOwn(source, 'persistentVolumeName'), getOwn(source, 'inlineVolumeSpec')];
    const exactly = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
    if (volume === undefined && inline === undefined) place.at('source').required(exactly);
    else if (volume !== undefined && inline !== undefined) place.at('source').forbidden(exactly);
    else if (volume === '')
      place.at('source').at('persistentVolumeName').required('must specify non empty persistentVolumeName');
    place.at('nodeName').named(textAt(spec, 'nodeName'), dnsSubdomain);
    if (old !== undefined) {
      if (!semanticEqual(spec, objectAt(old, 'spec'))) place.invalid(spec, 'field is immutable');
      return;
    }
    checkDriverName(attacher, at.at('spec.attacher'));
    if (typeof volume === 'string') at.at('spec.source.persistentVolumeName').named(volume, dnsSubdomain);
  },
};

const HIGHEST_PRIORITY = 1_000_000_000;
const SYSTEM_PREFIX = 'system-';

/** Source: pkg/apis/scheduling/validation (ValidatePriorityClass). What may change is in the strategy of the kind. */
export const PRIORITY_CLASS_RULES: KindRules = {
  validate: (priorityClass, at, old) => {
    if (old !== undefined) return;
    const name = textAt(objectAt(priorityClass, 'metadata'), 'name');
    const value = numberAt(priorityClass, 'value') ?? 0;
    if (name.startsWith(SYSTEM_PREFIX)) {
      const detail = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${name} is not a known system priority class`;
      at.at('metadata').at('name').forbidden(detail);
    } else if (value > HIGHEST_PRIORITY) {
      const detail = `maximum allowed value of a user defined priority is ${String(HIGHEST_PRIORITY)}`;
      at.at('value').forbidden(detail);
    }
    const policy = getOwn(priorityClass, 'preemptionPolicy');
    if (typeof policy === 'string') at.at('preemptionPolicy').oneOf(policy, PREEMPTION_POLICIES);
  },
};
