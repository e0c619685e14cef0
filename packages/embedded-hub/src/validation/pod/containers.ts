import { dnsLabel, type NameRule, asPrefix, dnsSubdomain } from '@berth/kube/model/selector/name-rules';
import {
  type JsonObject,
  getOwn,
  isObject,
  listAt,
  numberAt,
  objectAt,
  textAt,
} from '../../json/json-value.ts';
import {
  type FieldReporter,
  configKey,
  checkDescendingPath,
  checkNoBacksteps,
} from '../values/field-reporter.ts';
import { PROTOCOLS, checkPort, portName } from '../values/port-rules.ts';
import { checkLifecycle, checkProbes } from './probes.ts';
import { checkResources } from './resources.ts';
import { checkContainerSecurity } from './security-context.ts';
import { checkFieldReference, checkResourceReference } from './volume-files.ts';
import { PULL_POLICIES } from './volumes.ts';

/** Facts about the pod that the checks of its containers need. */
export interface PodContext {
  readonly volumes: ReadonlyMap<string, JsonObject>;
  /** Names of resource claims. */
  readonly claims: ReadonlySet<string>;
  readonly graceSeconds: number;
  readonly restartPolicy: string;
  readonly hostUsers: boolean;
}

/** Source: pkg/apis/core/validation (validateContainers). */
export function checkContainers(spec: JsonObject, pod: PodContext, at: FieldReporter): void {
  if (listAt(spec, 'containers').length === 0) {
    at.at('containers').required();
    return;
  }
  const names = new Set<string>();
  at.each(spec, 'containers', (container, place) => {
    checkContainer(container, pod, place);
    const name = textAt(container, 'name');
    if (names.has(name)) place.at('name').duplicate(name);
    names.add(name);
    checkLifecycle(container, pod.graceSeconds, place);
    checkProbes(container, pod.graceSeconds, place);
    checkRestart(container, place);
  });
  checkHostPorts(listAt(spec, 'containers'), at.at('containers'));
}

/** Source: pkg/apis/core/validation (validateInitContainers). */
export function checkInitContainers(spec: JsonObject, pod: PodContext, at: FieldReporter): void {
  const names = new Set(
    listAt(spec, 'containers')
      .filter(isObject)
      .map((one) => textAt(one, 'name')),
  );
  at.each(spec, 'initContainers', (container, place) => {
    checkContainer(container, pod, place);
    checkRestart(container, place);
    const name = textAt(container, 'name');
    if (names.has(name)) place.at('name').duplicate(name);
    else if (name !== '') names.add(name);
    checkHostPorts([container], at.at('initContainers'));
    if (textAt(container, 'restartPolicy') === 'Always') {
      checkLifecycle(container, pod.graceSeconds, place);
      checkProbes(container, pod.graceSeconds, place);
      return;
    }
    for (const key of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'])
      if (objectAt(container, key) !== undefined)
        place.at(key).forbidden('may not be set for init containers without restartPolicy=Always');
  });
}

const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];

/** Source: pkg/apis/core/validation (validateContainerCommon). */
function checkContainer(container: JsonObject, pod: PodContext, at: FieldReporter): void {
  const name = textAt(container, 'name');
  if (name === '') at.at('name').required();
  else at.at('name').validName(name, dnsLabel);
  if (textAt(container, 'image') === '') at.at('image').required();
  const messages = textAt(container, 'terminationMessagePolicy');
  at.at('terminationMessagePolicy').oneOfIfSet(messages, MESSAGE_POLICIES);
  checkPorts(container, at);
  checkEnv(container, at);
  checkEnvFrom(container, at);
  checkMounts(container, pod.volumes, at);
  checkDevices(container, pod.volumes, at);
  at.at('imagePullPolicy').oneOfIfSet(textAt(container, 'imagePullPolicy'), PULL_POLICIES);
  checkResources(objectAt(container, 'resources'), pod.claims, at.at('resources'));
  checkResizePolicy(container, pod.restartPolicy, at);
  checkContainerSecurity(container, pod.hostUsers, at);
}

function checkPorts(container: JsonObject, at: FieldReporter): void {
  const names = new Set<string>();
  at.each(container, 'ports', (port, place) => {
    const name = textAt(port, 'name');
    const faults = name === '' ? [] : portName(name);
    for (const fault of faults) place.at('name').invalid(name, fault);
    if (name !== '' && faults.length === 0) {
      if (names.has(name)) place.at('name').duplicate(name);
      names.add(name);
    }
    const number = numberAt(port, 'containerPort') ?? 0;
    if (number === 0) place.at('containerPort').required();
    else checkPort(number, place.at('containerPort'));
    const hostPort = numberAt(port, 'hostPort') ?? 0;
    if (hostPort !== 0) checkPort(hostPort, place.at('hostPort'));
    place.at('protocol').oneOfIfSet(textAt(port, 'protocol'), PROTOCOLS);
  });
}

function checkHostPorts(containers: readonly unknown[], at: FieldReporter): void {
  const taken = new Set<string>();
  for (const [index, container] of containers.entries()) {
    if (!isObject(container)) continue;
    at.at(index).each(container, 'ports', (port, place) => {
      const hostPort = numberAt(port, 'hostPort') ?? 0;
      if (hostPort === 0) return;
      const key = `${textAt(port, 'protocol') || 'TCP'}/${textAt(port, 'hostIP')}/${String(hostPort)}`;
      if (taken.has(key)) place.at('hostPort').duplicate(key);
      taken.add(key);
    });
  }
}

const RESTART_POLICIES = ['Always', 'Never', 'OnFailure'];
const MAX_RESTART_RULES = 20;

function checkRestart(container: JsonObject, at: FieldReporter): void {
  const policy = getOwn(container, 'restartPolicy');
  const rules = listAt(container, 'restartPolicyRules');
  if (policy === undefined) {
    const detail = 'must specify restartPolicy when restart rules are used';
    if (rules.length > 0) at.at('restartPolicy').required(detail);
  } else at.at('restartPolicy').oneOfIfPresent(policy, RESTART_POLICIES);
  if (rules.length > MAX_RESTART_RULES) at.at('restartPolicyRules').tooLong(MAX_RESTART_RULES);
  at.each(container, 'restartPolicyRules', (rule, place) => {
    const action = textAt(rule, 'action');
    if (action !== 'Restart') place.at('action').unsupported(action, ['Restart']);
    const codes = objectAt(rule, 'exitCodes');
    if (codes === undefined) {
      place.at('exitCodes').required('must be specified');
      return;
    }
    const operator = textAt(codes, 'operator');
    if (operator !== 'In' && operator !== 'NotIn')
      place.at('exitCodes').at('operator').unsupported(operator, ['In', 'NotIn']);
  });
}

const RESIZE_POLICIES = ['NotRequired', 'RestartContainer'];

function checkResizePolicy(container: JsonObject, podRestart: string, at: FieldReporter): void {
  const seen = new Set<string>();
  const list = at.at('resizePolicy');
  at.each(container, 'resizePolicy', (policy, place) => {
    const [resource, restart] = [textAt(policy, 'resourceName'), textAt(policy, 'restartPolicy')];
    if (seen.has(resource)) place.duplicate(resource);
    seen.add(resource);
    list.oneOf(resource, ['cpu', 'memory']);
    list.oneOf(restart, RESIZE_POLICIES);
    if (podRestart === 'Never' && restart !== 'NotRequired')
      list.invalid(restart, "must be 'NotRequired' when `restartPolicy` is 'Never'");
  });
}

const NAME_TEXT =
  "a valid environment variable name must consist only of printable ASCII characters other than '='";

/** Source: apimachinery, pkg/util/validation (IsRelaxedEnvVarName). */
const variableName: NameRule = (name) => (/^[ -<>-~]*$/.test(name) ? [] : [NAME_TEXT]);

type SourceCheck = (source: JsonObject, at: FieldReporter) => void;

/** Source: pkg/apis/core/validation (ValidateEnv). */
function checkEnv(container: JsonObject, at: FieldReporter): void {
  at.each(container, 'env', (variable, place) => {
    const name = textAt(variable, 'name');
    if (name === '') place.at('name').required();
    else place.at('name').validName(name, variableName);
    const from = objectAt(variable, 'valueFrom');
    if (from !== undefined) checkValueFrom(from, textAt(variable, 'value'), place.at('valueFrom'));
  });
}

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
/** The checks of the sources of a value, in the order of the API server. */
const SOURCES: Readonly<Record<string, SourceCheck>> = {
  fieldRef: (source, at) => checkFieldReference(source, POD_FIELDS, at),
  resourceFieldRef: (source, at) => checkResourceReference(source, false, at),
  configMapKeyRef: checkKeyReference,
  secretKeyRef: checkKeyReference,
  fileKeyRef: checkFileReference,
};

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
function checkEnvFrom(container: JsonObject, at: FieldReporter): void {
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

type Volumes = ReadonlyMap<string, JsonObject>;

/**
 * Source: pkg/apis/core/validation (ValidateVolumeMounts). A problem of one mount is reported at
 * the list, as the API server does.
 */
function checkMounts(container: JsonObject, volumes: Volumes, at: FieldReporter): void {
  const [names, paths] = namesAndPaths(container, 'volumeDevices', 'devicePath');
  const taken = new Set<string>();
  at.each(container, 'volumeMounts', (mount, place) => {
    const [name, path] = [textAt(mount, 'name'), textAt(mount, 'mountPath')];
    if (name === '') place.at('name').required();
    if (!volumes.has(name)) place.at('name').notFound(name);
    if (path === '') place.at('mountPath').required();
    if (taken.has(path)) place.at('mountPath').invalid(path, 'must be unique');
    taken.add(path);
    if (names.has(name)) place.at('name').invalid(name, 'must not already exist in volumeDevices');
    if (paths.has(path))
      place.at('mountPath').invalid(path, 'must not already exist as a path in volumeDevices');
    checkSubPaths(mount, place, at.at('volumeMounts'));
    checkOptions(mount, container, at.at('volumeMounts'));
  });
}

function namesAndPaths(
  container: JsonObject,
  list: string,
  pathKey: string,
): readonly [Set<string>, Set<string>] {
  const found = listAt(container, list).filter(isObject);
  return [
    new Set(found.map((one) => textAt(one, 'name'))),
    new Set(found.map((one) => textAt(one, pathKey))),
  ];
}

function checkSubPaths(mount: JsonObject, at: FieldReporter, list: FieldReporter): void {
  const [path, expression] = [textAt(mount, 'subPath'), textAt(mount, 'subPathExpr')];
  if (path !== '') checkDescendingPath(path, list.at('subPath'));
  if (expression === '') return;
  if (path !== '') at.at('subPathExpr').invalid(expression, 'subPathExpr and subPath are mutually exclusive');
  checkDescendingPath(expression, list.at('subPathExpr'));
}

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];
const RECURSIVE = ['Disabled', 'Enabled', 'IfPossible'];

function checkOptions(mount: JsonObject, container: JsonObject, list: FieldReporter): void {
  const propagation = getOwn(mount, 'mountPropagation');
  const place = list.at('mountPropagation');
  place.oneOfIfPresent(propagation, PROPAGATIONS);
  if (propagation === 'Bidirectional' && objectAt(container, 'securityContext')?.['privileged'] !== true)
    place.forbidden('Bidirectional mount propagation is available only to privileged containers');
  const recursive = getOwn(mount, 'recursiveReadOnly');
  if (typeof recursive !== 'string' || recursive === 'Disabled') return;
  const at = list.at('recursiveReadOnly');
  if (!RECURSIVE.includes(recursive)) {
    at.unsupported(recursive, RECURSIVE);
    return;
  }
  if (mount['readOnly'] !== true) at.forbidden('may only be specified when readOnly is true');
  if (propagation !== undefined && propagation !== 'None')
    at.forbidden('may only be specified when mountPropagation is None or not specified');
}

/** Source: pkg/apis/core/validation (ValidateVolumeDevices). */
function checkDevices(container: JsonObject, volumes: Volumes, at: FieldReporter): void {
  const [names, paths] = namesAndPaths(container, 'volumeMounts', 'mountPath');
  const [takenNames, takenPaths] = [new Set<string>(), new Set<string>()];
  at.each(container, 'volumeDevices', (device, place) => {
    const [name, path] = [textAt(device, 'name'), textAt(device, 'devicePath')];
    const [nameAt, pathAt] = [place.at('name'), place.at('devicePath')];
    const volume = volumes.get(name);
    if (name === '') nameAt.required();
    if (takenNames.has(name)) nameAt.invalid(name, 'must be unique');
    const isClaim = ['persistentVolumeClaim', 'ephemeral'].some((key) => objectAt(volume, key) !== undefined);
    if (volume === undefined) nameAt.notFound(name);
    else if (!isClaim) {
      const detail = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
      nameAt.invalid(name, detail);
    }
    if (path === '') pathAt.required();
    if (takenPaths.has(path)) pathAt.invalid(path, 'must be unique');
    if (path.split('/').includes('..')) pathAt.invalid(path, "can not contain backsteps ('..')");
    else takenPaths.add(path);
    if (names.has(name)) nameAt.invalid(name, 'must not already exist in volumeMounts');
    if (paths.has(path)) pathAt.invalid(path, 'must not already exist as a path in volumeMounts');
    if (name !== '') takenNames.add(name);
  });
}
