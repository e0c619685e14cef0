import { dnsSubdomain, qualifiedName } from '@berth/kube/model/selector/name-rules';
import {
  type JsonObject,
  type JsonValue,
  getOwn,
  objectAt,
  textAt,
  textsAt,
  listAt,
} from '../json/json-value.ts';
import { checkNodeSelector } from './pod/affinity.ts';
import { checkAccessModes, checkVolumeMode } from './pod/claim-spec.ts';
import { checkDriverName, VOLUME_CHECKS } from './pod/volumes.ts';
import type { FieldReporter, KindRules } from './values/field-reporter.ts';
import { checkPositiveQuantity, eachQuantity } from './values/quantity-rules.ts';
import { semanticEqual } from './values/semantic-equal.ts';

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

const RECLAIM = ['Delete', 'Recycle', 'Retain'];

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
  if (name !== '') place.at('storageClassName').validName(name, dnsSubdomain);
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
  at.at('volumeMode').immutable(mode(spec), mode(old));
  const before = getOwn(old, 'nodeAffinity');
  if (before !== undefined && !semanticEqual(getOwn(spec, 'nodeAffinity'), before))
    at.at('nodeAffinity').invalid(
      getOwn(spec, 'nodeAffinity'),
      'field is immutable, except for updating from beta label to GA',
    );
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
    place.at('nodeName').validName(textAt(spec, 'nodeName'), dnsSubdomain);
    if (old !== undefined) {
      if (!semanticEqual(spec, objectAt(old, 'spec'))) place.invalid(spec, 'field is immutable');
      return;
    }
    checkDriverName(attacher, at.at('spec.attacher'));
    if (typeof volume === 'string') at.at('spec.source.persistentVolumeName').validName(volume, dnsSubdomain);
  },
};

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
    at.at('volumeBindingMode').oneOfIfPresent(getOwn(storageClass, 'volumeBindingMode'), BINDING_MODES);
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
    place.at('key').validName(key, qualifiedName);
    if (keys.has(key)) place.at('key').duplicate(key);
    keys.add(key);
  });
}
