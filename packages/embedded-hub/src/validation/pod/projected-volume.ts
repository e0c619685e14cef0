import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, listAt, numberAt, objectAt, textAt } from '../../json/json-value.ts';
import { checkVolumePath } from '../values/path-rules.ts';
import type { FieldReporter } from '../values/field-reporter.ts';
import { checkSelector } from '../values/selector-rules.ts';
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

/** Source: pkg/apis/core/validation (validateProjectedVolumeSource). */
export function checkProjectedVolume(volume: JsonObject, at: FieldReporter): void {
  checkMode(volume, 'defaultMode', at);
  const paths = new Paths();
  at.each(volume, 'sources', (source, place) => {
    for (const kind of ['secret', 'configMap']) checkKeys(source, kind, [place.at(kind), at], paths);
    checkFields(source, [place.at('downwardAPI'), at], paths);
    checkToken(objectAt(source, 'serviceAccountToken'), [place.at('serviceAccountToken'), at], paths);
    checkBundle(objectAt(source, 'clusterTrustBundle'), [place.at('clusterTrustBundle'), at], paths);
    const count = KINDS.filter((kind) => objectAt(source, kind) !== undefined).length;
    if (count > 1) place.forbidden('may not specify more than 1 volume type per source');
  });
}

/** Where problems of one source are reported, and where those of its volume. */
type Places = readonly [source: FieldReporter, volume: FieldReporter];

function checkKeys(source: JsonObject, kind: string, [at, volume]: Places, paths: Paths): void {
  const found = objectAt(source, kind);
  if (found === undefined) return;
  const name = textAt(found, 'name');
  if (name === '') at.at('name').required();
  at.each(found, 'items', (item, place) => {
    checkKeyToPath(item, place);
    paths.add(textAt(item, 'path'), name, volume);
  });
}

function checkFields(source: JsonObject, [at, volume]: Places, paths: Paths): void {
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
