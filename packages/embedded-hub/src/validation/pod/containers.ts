import { dnsLabel } from '@berth/kube/model/selector/name-rules';
import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, isObject, listAt, numberAt, objectAt, textAt } from '../../json/json-value.ts';
import type { FieldReporter } from '../values/field-reporter.ts';
import { PROTOCOLS, checkPort, portName } from '../values/port-rules.ts';
import { checkEnv, checkEnvFrom } from './container-env.ts';
import { checkDevices, checkMounts } from './container-mounts.ts';
import { checkLifecycle, checkProbes } from './probes.ts';
import { checkResources } from './resources.ts';
import { checkContainerSecurity } from './security-context.ts';
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

const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];
const RESTART_POLICIES = ['Always', 'Never', 'OnFailure'];
const MAX_RESTART_RULES = 20;

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
