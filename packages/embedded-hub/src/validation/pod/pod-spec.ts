import { dnsSubdomain, qualifiedName } from '@berth/kube/model/selector/name-rules';
import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, isObject, listAt, numberAt, objectAt, textAt } from '../../json/json-value.ts';
import { checkLabelMap } from '../values/metadata-rules.ts';
import type { FieldReporter } from '../values/field-reporter.ts';
import { checkAffinity } from './affinity.ts';
import type { PodContext } from './containers.ts';
import { checkContainers, checkInitContainers } from './containers.ts';
import {
  checkDnsConfig,
  checkHostAliases,
  checkHostNames,
  checkHostNetworkPorts,
  checkHostnameOverride,
} from './pod-network.ts';
import { checkResources } from './resources.ts';
import { checkSpreadConstraints, checkTolerations } from './scheduling.ts';
import { checkPodSecurity } from './security-context.ts';
import { checkVolumes } from './volumes.ts';

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
export const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'];
const MAX_INT32 = 2 ** 31 - 1;
const DEFAULT_GRACE_SECONDS = 30;

/**
 * Source: pkg/apis/core/validation (ValidatePodSpec).
 * @param podName undefined for a pod template
 */
export function checkPodSpec(spec: JsonObject, podName: string | undefined, at: FieldReporter): void {
  const pod: PodContext = {
    volumes: checkVolumes(spec, podName, at),
    claims: checkResourceClaims(spec, at),
    graceSeconds: numberAt(spec, 'terminationGracePeriodSeconds') ?? DEFAULT_GRACE_SECONDS,
    restartPolicy: textAt(spec, 'restartPolicy'),
    hostUsers: spec['hostUsers'] !== false,
  };
  checkContainers(spec, pod, at);
  checkInitContainers(spec, pod, at);
  checkPodResources(spec, pod, at);
  checkHostNetworkPorts(spec, at);
  at.at('restartPolicy').oneOfIfSet(pod.restartPolicy, RESTART_POLICIES);
  at.at('dnsPolicy').oneOfIfSet(textAt(spec, 'dnsPolicy'), DNS_POLICIES);
  checkLabelMap(spec, 'nodeSelector', at);
  checkPodSecurity(spec, at);
  checkAffinity(objectAt(spec, 'affinity'), at.at('affinity'));
  checkDnsConfig(spec, at);
  checkGates(spec, at);
  checkSpreadConstraints(spec, at);
  checkHostUsers(spec, at);
  checkHostnameOverride(spec, at);
  checkRemainingFields(spec, at);
}

/** The last checks, in the order of the API server: names of other objects, deadlines, tolerations. */
function checkRemainingFields(spec: JsonObject, at: FieldReporter): void {
  const named = (key: string): void => {
    const name = textAt(spec, key);
    if (name !== '') at.at(key).validName(name, dnsSubdomain);
  };
  named('serviceAccountName');
  named('nodeName');
  at.at('activeDeadlineSeconds').inRange(numberAt(spec, 'activeDeadlineSeconds'), 1, MAX_INT32);
  checkHostNames(spec, at);
  checkTolerations(spec, at);
  checkHostAliases(spec, at);
  named('priorityClassName');
  const runtime = getOwn(spec, 'runtimeClassName');
  if (typeof runtime === 'string') at.at('runtimeClassName').validName(runtime, dnsSubdomain);
  const preemption = getOwn(spec, 'preemptionPolicy');
  if (typeof preemption === 'string') at.at('preemptionPolicy').oneOf(preemption, PREEMPTION_POLICIES);
  const overhead = objectAt(spec, 'overhead');
  if (overhead !== undefined) checkResources({ limits: overhead }, new Set(), at.at('overhead'));
  const os = objectAt(spec, 'os');
  if (os === undefined) return;
  if (textAt(os, 'name') === '') at.at('os').at('name').required();
  else at.at('os').oneOfIfSet(textAt(os, 'name'), ['linux', 'windows']);
}

function checkResourceClaims(spec: JsonObject, at: FieldReporter): ReadonlySet<string> {
  const names = new Set<string>();
  at.each(spec, 'resourceClaims', (claim, place) => {
    const name = textAt(claim, 'name');
    if (name === '') place.at('name').required();
    else if (names.has(name)) place.at('name').duplicate(name);
    names.add(name);
    const sources = ['resourceClaimName', 'resourceClaimTemplateName'].filter(
      (key) => getOwn(claim, key) !== undefined,
    );
    const choice = 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`';
    if (sources.length > 1)
      place.invalid(
        claim,
        'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
      );
    else if (sources.length === 0) place.invalid(claim, choice);
    for (const key of sources) place.at(key).validName(textAt(claim, key), dnsSubdomain);
  });
  return names;
}

const POD_RESOURCES = ['cpu', 'memory'];

function checkPodResources(spec: JsonObject, pod: PodContext, at: FieldReporter): void {
  const resources = objectAt(spec, 'resources');
  if (resources === undefined) return;
  const place = at.at('resources');
  if (listAt(resources, 'claims').length > 0)
    place.at('claims').forbidden('claims may not be set for Resources at pod-level');
  checkResources(resources, pod.claims, place, (name, entry) => {
    if (!POD_RESOURCES.includes(name) && !name.startsWith('hugepages-'))
      entry.unsupported(name, POD_RESOURCES);
  });
}

function checkGates(spec: JsonObject, at: FieldReporter): void {
  at.each(spec, 'readinessGates', (gate, place) =>
    place.at('conditionType').validName(textAt(gate, 'conditionType'), qualifiedName),
  );
  const seen = new Set<string>();
  at.each(spec, 'schedulingGates', (gate, place) => {
    const name = textAt(gate, 'name');
    place.validName(name, qualifiedName);
    if (seen.has(name)) place.duplicate(name);
    seen.add(name);
  });
}

function checkHostUsers(spec: JsonObject, at: FieldReporter): void {
  if (spec['hostUsers'] !== false) return;
  for (const [field, shown] of [
    ['hostNetwork', 'hostNetwork'],
    ['hostPID', 'HostPID'],
    ['hostIPC', 'HostIPC'],
  ] as const)
    if (spec[field] === true) at.at(shown).forbidden('when `hostUsers` is false');
  for (const list of ['initContainers', 'containers'])
    for (const [index, container] of listAt(spec, list).entries())
      if (isObject(container) && listAt(container, 'volumeDevices').length > 0)
        at.at(list).at(index).at('volumeDevices').forbidden('when `hostUsers` is false');
}
