import { formatQuantity } from '@berth/kube/model/quantity';
import { qualifiedName } from '@berth/kube/model/selector/name-rules';
import { type JsonObject, numberAt, objectAt, textAt } from '../../json/json-value.ts';
import { type FieldReporter, checkVolumePath } from '../values/field-reporter.ts';
import { quantityAt } from '../values/quantity-rules.ts';

const MAX_MODE = 0o777;
const MODE_TEXT = 'must be a number between 0 and 0777 (octal), both inclusive';

/** The permissions of a file. */
export function checkMode(owner: JsonObject, key: string, at: FieldReporter): void {
  const mode = numberAt(owner, key);
  if (mode !== undefined && (mode > MAX_MODE || mode < 0)) at.at(key).invalid(mode, MODE_TEXT);
}

/** A key of a ConfigMap or a Secret as a file. */
export function checkKeyToPath(item: JsonObject, at: FieldReporter): void {
  if (textAt(item, 'key') === '') at.at('key').required();
  const path = textAt(item, 'path');
  if (path === '') at.at('path').required();
  checkVolumePath(path, at.at('path'));
  checkMode(item, 'mode', at);
}

const VOLUME_FIELDS = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

/** A pod field as a file. A problem is reported at the list of files, as the API server does. */
export function checkDownwardFile(file: JsonObject, at: FieldReporter): void {
  const path = textAt(file, 'path');
  if (path === '') at.at('path').required();
  checkVolumePath(path, at.at('path'));
  const [field, resource] = [objectAt(file, 'fieldRef'), objectAt(file, 'resourceFieldRef')];
  if (field !== undefined) {
    checkFieldReference(field, VOLUME_FIELDS, at.at('fieldRef'));
    if (resource !== undefined)
      at.invalid('resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
  } else if (resource !== undefined) checkResourceReference(resource, true, at.at('resourceFieldRef'));
  else at.required('one of fieldRef and resourceFieldRef is required');
  checkMode(file, 'mode', at);
}

const KNOWN_FIELDS = new Set([
  ...VOLUME_FIELDS,
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'spec.host',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);

/**
 * Source: pkg/apis/core/validation (validateObjectFieldSelector).
 * @param allowed in the order in which the message lists them
 */
export function checkFieldReference(
  reference: JsonObject,
  allowed: readonly string[],
  at: FieldReporter,
): void {
  const version = textAt(reference, 'apiVersion') || 'v1';
  const path = textAt(reference, 'fieldPath');
  const place = at.at('fieldPath');
  if (path === '') {
    place.required();
    return;
  }
  const [, name = path, subscript] = /^(.+?)\['(.*)'\]$/.exec(path) ?? [];
  const problem = fieldProblem(version, path, name, subscript);
  if (problem !== undefined) place.invalid(path, `error converting fieldPath: ${problem}`);
  else if (subscript !== undefined)
    at.validName(name === 'metadata.annotations' ? subscript.toLowerCase() : subscript, qualifiedName);
  else if (!allowed.includes(name)) place.unsupported(name, allowed);
}

function fieldProblem(
  version: string,
  path: string,
  name: string,
  subscript: string | undefined,
): string | undefined {
  if (version !== 'v1') return `unsupported pod version: ${version}`;
  if (subscript === undefined)
    return KNOWN_FIELDS.has(path) ? undefined : `field label not supported: ${path}`;
  const isMap = name === 'metadata.annotations' || name === 'metadata.labels';
  return isMap ? undefined : `field label does not support subscript: ${path}`;
}

const RESOURCES = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const SIZES = '1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei';
const DIVISORS: readonly (readonly [resource: RegExp, allowed: readonly string[], detail: string])[] = [
  [/\.cpu$/, ['1m', '1'], "only divisor's values 1m and 1 are supported with the cpu resource"],
  [/\.memory$/, SIZES.split(', '), `only divisor's values ${SIZES} are supported with the memory resource`],
  [
    /\.ephemeral-storage$/,
    SIZES.split(', '),
    `only divisor's values ${SIZES} are supported with the local ephemeral storage resource`,
  ],
  [
    /\.hugepages-/,
    SIZES.split(', '),
    `only divisor's values ${SIZES} are supported with the hugepages resource`,
  ],
];

/** Source: pkg/apis/core/validation (validateContainerResourceFieldSelector). */
export function checkResourceReference(reference: JsonObject, inVolume: boolean, at: FieldReporter): void {
  const resource = textAt(reference, 'resource');
  if (inVolume && textAt(reference, 'containerName') === '') at.at('containerName').required();
  else if (resource === '') at.at('resource').required();
  else if (!RESOURCES.includes(resource) && !/^(limits|requests)\.hugepages-/.test(resource))
    at.at('resource').unsupported(resource, RESOURCES);
  const divisor = quantityAt(reference, 'divisor');
  if (divisor === undefined || divisor.mantissa === 0n) return;
  const text = formatQuantity(divisor);
  const known = DIVISORS.find(([pattern]) => pattern.test(resource));
  if (known !== undefined && !known[1].includes(text)) at.at('divisor').invalid(resource, known[2]);
}
