import { dnsLabel, dnsSubdomain } from '@berth/kube/model/selector/name-rules';
import { type JsonObject, getOwn, listAt, objectAt, textAt, numberAt } from '../../json/json-value.ts';
import { type FieldReporter, checkNoBacksteps, checkVolumePath } from '../values/field-reporter.ts';
import { checkTemplateMetadata, checkSelector } from '../values/metadata-rules.ts';
import { quantityAt } from '../values/quantity-rules.ts';
import { checkClaimSpec } from './claim-spec.ts';
import { checkDownwardFile, checkKeyToPath, checkMode } from './volume-files.ts';

const KINDS = [
  'secret',
  'configMap',
  'downwardAPI',
  'serviceAccountToken',
  'clusterTrustBundle',
  'podCertificate',
];
const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

type SourceCheck = (source: JsonObject, at: FieldReporter) => void;

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];
export const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];
const DRIVER_LIMIT = 63;

const requires =
  (...fields: readonly string[]): SourceCheck =>
  (source, at) => {
    for (const field of fields) if (textAt(source, field) === '') at.at(field).required();
  };

/** Volume sources in the order of the checks. A volume may have only one. */
const SOURCES: readonly (readonly [field: string, check: SourceCheck])[] = [
  [
    'emptyDir',
    (source, at) => {
      const limit = quantityAt(source, 'sizeLimit');
      if (limit !== undefined && limit.mantissa < 0n)
        at.at('sizeLimit').forbidden('SizeLimit field must be a valid resource quantity');
    },
  ],
  ['hostPath', checkHostPath],
  ['gitRepo', requires('repository')],
  ['gcePersistentDisk', requires('pdName')],
  ['awsElasticBlockStore', requires('volumeID')],
  ['secret', (source, at) => checkKeys(source, 'secretName', at)],
  ['nfs', checkNfs],
  ['iscsi', requires('targetPortal', 'iqn')],
  ['glusterfs', requires('endpoints', 'path')],
  ['flocker', () => undefined],
  ['persistentVolumeClaim', requires('claimName')],
  ['rbd', requires('image')],
  ['cinder', requires('volumeID')],
  ['cephfs', () => undefined],
  ['quobyte', requires('registry', 'volume')],
  [
    'downwardAPI',
    (source, at) => {
      checkMode(source, 'defaultMode', at);
      for (const file of listAt(source, 'items')) checkDownwardFile(file as JsonObject, at);
    },
  ],
  ['fc', () => undefined],
  ['flexVolume', requires('driver')],
  ['configMap', (source, at) => checkKeys(source, 'name', at)],
  ['azureFile', requires('secretName', 'shareName')],
  ['vsphereVolume', requires('volumePath')],
  ['photonPersistentDisk', requires('pdID')],
  ['portworxVolume', requires('volumeID')],
  ['azureDisk', requires('diskName', 'diskURI')],
  ['storageos', () => undefined],
  ['projected', checkProjectedVolume],
  ['scaleIO', requires('gateway', 'system', 'volumeName')],
  ['csi', checkCsi],
  ['ephemeral', checkEphemeral],
  [
    'image',
    (source, at) => {
      const policy = textAt(source, 'pullPolicy');
      at.at('pullPolicy').oneOfIfSet(policy, PULL_POLICIES);
    },
  ],
];

/** Files of one projected volume; two may not have the same path. */
class Paths {
  readonly #seen = new Set<string>();

  /** @param value shown by the message when the path is already used */
  add(path: string, value: string, at: FieldReporter): void {
    if (path === '') return;
    if (this.#seen.has(path)) at.invalid(value, 'conflicting duplicate paths');
    this.#seen.add(path);
  }
}

/** The checks of each volume source, used for pods and for PersistentVolumes. */
export const VOLUME_CHECKS: ReadonlyMap<string, SourceCheck> = new Map(SOURCES);

/**
 * @returns the volumes with valid names, by name. Source: pkg/apis/core/validation
 * (ValidateVolumes).
 */
export function checkVolumes(
  spec: JsonObject,
  podName: string | undefined,
  at: FieldReporter,
): ReadonlyMap<string, JsonObject> {
  const volumes = new Map<string, JsonObject>();
  at.each(spec, 'volumes', (volume, place) => {
    const known = at.problems.length;
    checkSource(volume, place);
    checkOwnClaim(volume, podName ?? '', place.at('name'));
    const name = textAt(volume, 'name');
    if (name === '') place.at('name').required();
    else place.at('name').validName(name, dnsLabel);
    if (volumes.has(name)) place.at('name').duplicate(name);
    if (at.problems.length === known) volumes.set(name, volume);
  });
  return volumes;
}

/** The claim of an ephemeral volume is named POD-VOLUME, which must be a valid name. */
function checkOwnClaim(volume: JsonObject, podName: string, at: FieldReporter): void {
  const name = textAt(volume, 'name');
  if (podName === '' || name === '' || objectAt(volume, 'ephemeral') === undefined) return;
  const claim = `${podName}-${name}`;
  for (const detail of dnsSubdomain(claim)) at.invalid(name, `PVC name "${claim}": ${detail}`);
}

function checkSource(volume: JsonObject, at: FieldReporter): void {
  let count = 0;
  for (const [field, check] of SOURCES) {
    const source = objectAt(volume, field);
    if (source === undefined) continue;
    if (count > 0) at.at(field).forbidden('may not specify more than 1 volume type');
    else check(source, at.at(field));
    count += 1;
  }
  if (count === 0) at.required('must specify a volume type');
}

function checkHostPath(source: JsonObject, at: FieldReporter): void {
  const path = textAt(source, 'path');
  if (path === '') {
    at.at('path').required();
    return;
  }
  checkNoBacksteps(path, at.at('path'));
  at.at('type').oneOfIfPresent(getOwn(source, 'type'), HOST_PATH_TYPES);
}

function checkKeys(source: JsonObject, nameField: string, at: FieldReporter): void {
  if (textAt(source, nameField) === '') at.at(nameField).required();
  checkMode(source, 'defaultMode', at);
  at.each(source, 'items', checkKeyToPath);
}

function checkNfs(source: JsonObject, at: FieldReporter): void {
  const path = textAt(source, 'path');
  if (textAt(source, 'server') === '') at.at('server').required();
  if (path === '') at.at('path').required();
  if (!path.startsWith('/')) at.at('path').invalid(path, 'must be an absolute path');
}

/** Source: pkg/apis/core/validation (ValidateCSIDriverName). */
export function checkDriverName(name: string, at: FieldReporter): void {
  if (name === '') {
    at.required();
    return;
  }
  if (name.length > DRIVER_LIMIT) at.tooLong(DRIVER_LIMIT);
  for (const detail of dnsSubdomain(name.toLowerCase())) at.invalid(name, detail);
}

function checkCsi(source: JsonObject, at: FieldReporter): void {
  checkDriverName(textAt(source, 'driver'), at.at('driver'));
  const secret = objectAt(source, 'nodePublishSecretRef');
  if (secret === undefined) return;
  const name = textAt(secret, 'name');
  if (name === '') at.at('nodePublishSecretRef').at('name').required();
  else at.at('name').validName(name, dnsSubdomain);
}

function checkEphemeral(source: JsonObject, at: FieldReporter): void {
  const template = objectAt(source, 'volumeClaimTemplate');
  const place = at.at('volumeClaimTemplate');
  if (template === undefined) {
    place.required();
    return;
  }
  checkTemplateMetadata(template, place.at('metadata'));
  checkClaimSpec(objectAt(template, 'spec') ?? {}, place.at('spec'));
}

/** Source: pkg/apis/core/validation (validateProjectedVolumeSource). */
function checkProjectedVolume(volume: JsonObject, at: FieldReporter): void {
  checkMode(volume, 'defaultMode', at);
  const paths = new Paths();
  at.each(volume, 'sources', (source, place) => {
    for (const kind of ['secret', 'configMap']) checkProjectedKeys(source, kind, [place.at(kind), at], paths);
    checkProjectedFields(source, [place.at('downwardAPI'), at], paths);
    checkToken(objectAt(source, 'serviceAccountToken'), [place.at('serviceAccountToken'), at], paths);
    checkBundle(objectAt(source, 'clusterTrustBundle'), [place.at('clusterTrustBundle'), at], paths);
    const count = KINDS.filter((kind) => objectAt(source, kind) !== undefined).length;
    if (count > 1) place.forbidden('may not specify more than 1 volume type per source');
  });
}

/** Where problems of one source are reported, and where those of its volume. */
type Places = readonly [source: FieldReporter, volume: FieldReporter];

function checkProjectedKeys(source: JsonObject, kind: string, [at, volume]: Places, paths: Paths): void {
  const found = objectAt(source, kind);
  if (found === undefined) return;
  const name = textAt(found, 'name');
  if (name === '') at.at('name').required();
  at.each(found, 'items', (item, place) => {
    checkKeyToPath(item, place);
    paths.add(textAt(item, 'path'), name, volume);
  });
}

function checkProjectedFields(source: JsonObject, [at, volume]: Places, paths: Paths): void {
  for (const file of listAt(objectAt(source, 'downwardAPI'), 'items')) {
    checkDownwardFile(file as JsonObject, at);
    const path = textAt(file as JsonObject, 'path');
    paths.add(path, path, volume);
  }
}

function checkToken(token: JsonObject | undefined, [at, volume]: Places, paths: Paths): void {
  if (token === undefined) return;
  const seconds = numberAt(token, 'expirationSeconds');
  const place = at.at('expirationSeconds');
  if (seconds !== undefined && seconds < MIN_TOKEN_SECONDS)
    place.invalid(seconds, 'may not specify a duration less than 10 minutes');
  if (seconds !== undefined && seconds > MAX_TOKEN_SECONDS)
    place.invalid(seconds, 'may not specify a duration larger than 2^32 seconds');
  const path = textAt(token, 'path');
  if (path === '') volume.at('path').required();
  else checkVolumePath(path, volume.at('path'));
  paths.add(path, path, volume);
}

function checkBundle(bundle: JsonObject | undefined, [at, volume]: Places, paths: Paths): void {
  if (bundle === undefined) return;
  const [name, signer] = [getOwn(bundle, 'name'), getOwn(bundle, 'signerName')];
  if (name !== undefined && signer !== undefined)
    at.invalid(bundle, 'only one of name and signerName may be used');
  else if (name === '') at.at('name').required('must be a valid object name');
  else if (signer === '') at.at('signerName').required('must be a valid signer name');
  else if (name === undefined && signer === undefined)
    at.invalid(bundle, 'either name or signerName must be specified');
  checkSelector(objectAt(bundle, 'labelSelector'), at.at('labelSelector'));
  const path = textAt(bundle, 'path');
  if (path === '') at.at('path').required();
  else checkVolumePath(path, at.at('path'));
  paths.add(path, path, volume);
}
