import type { NameRule } from '@berth/kube/model/selector/name-rules';
import { asPrefix, dnsLabel, dnsSubdomain } from '@berth/kube/model/selector/name-rules';
import type { JsonObject } from '../../json/json-value.ts';
import { objectAt, textAt } from '../../json/json-value.ts';
import { configKey } from '../values/config-key.ts';
import { checkNoBacksteps } from '../values/path-rules.ts';
import type { FieldReporter } from '../values/field-reporter.ts';
import { checkFieldReference, checkResourceReference } from './volume-files.ts';

const NAME_TEXT =
  "a valid environment variable name must consist only of printable ASCII characters other than '='";
const POD_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

/** Source: apimachinery, pkg/util/validation (IsRelaxedEnvVarName). */
const variableName: NameRule = (name) => (/^[ -<>-~]*$/.test(name) ? [] : [NAME_TEXT]);

type SourceCheck = (source: JsonObject, at: FieldReporter) => void;

/** The checks of the sources of a value, in the order of the API server. */
const SOURCES: Readonly<Record<string, SourceCheck>> = {
  fieldRef: (source, at) => checkFieldReference(source, POD_FIELDS, at),
  resourceFieldRef: (source, at) => checkResourceReference(source, false, at),
  configMapKeyRef: checkKeyReference,
  secretKeyRef: checkKeyReference,
  fileKeyRef: checkFileReference,
};

/** Source: pkg/apis/core/validation (ValidateEnv). */
export function checkEnv(container: JsonObject, at: FieldReporter): void {
  at.each(container, 'env', (variable, place) => {
    const name = textAt(variable, 'name');
    if (name === '') place.at('name').required();
    else place.at('name').validName(name, variableName);
    const from = objectAt(variable, 'valueFrom');
    if (from !== undefined) checkValueFrom(from, textAt(variable, 'value'), place.at('valueFrom'));
  });
}

function checkValueFrom(from: JsonObject, value: string, at: FieldReporter): void {
  let count = 0;
  for (const [key, check] of Object.entries(SOURCES)) {
    const source = objectAt(from, key);
    if (source === undefined) continue;
    count += 1;
    check(source, at.at(key));
  }
  if (count === 0) {
    const detail =
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    at.invalid('', detail);
  } else if (value !== '') at.invalid('', 'may not be specified when `value` is not empty');
  else if (count > 1) at.invalid('', 'may not have more than one field specified at a time');
}

function checkKeyReference(source: JsonObject, at: FieldReporter): void {
  at.at('name').validName(textAt(source, 'name'), dnsSubdomain);
  const key = textAt(source, 'key');
  if (key === '') at.at('key').required();
  else at.at('key').validName(key, configKey);
}

function checkFileReference(source: JsonObject, at: FieldReporter): void {
  const [key, volume, path] = [textAt(source, 'key'), textAt(source, 'volumeName'), textAt(source, 'path')];
  if (key === '') at.at('key').required();
  else at.at('key').validName(key, variableName);
  if (volume === '') at.at('volumeName').required();
  else at.at('volumeName').validName(volume, dnsLabel);
  if (path === '') at.at('path').required();
  else checkNoBacksteps(path, at.at('path'));
}

const sourceName = asPrefix(dnsSubdomain);

/** Source: pkg/apis/core/validation (ValidateEnvFrom). */
export function checkEnvFrom(container: JsonObject, at: FieldReporter): void {
  at.each(container, 'envFrom', (source, place) => {
    const prefix = textAt(source, 'prefix');
    if (prefix !== '') place.at('prefix').validName(prefix, variableName);
    const found = ['configMapRef', 'secretRef'].filter((key) => objectAt(source, key) !== undefined);
    for (const key of found) {
      const name = textAt(objectAt(source, key), 'name');
      if (name === '') place.at(key).at('name').required();
      else place.at(key).at('name').validName(name, sourceName);
    }
    const list = at.at('envFrom');
    if (found.length === 0) list.invalid('', 'must specify one of: `configMapRef` or `secretRef`');
    else if (found.length > 1) list.invalid('', 'may not have more than one field specified at a time');
  });
}
