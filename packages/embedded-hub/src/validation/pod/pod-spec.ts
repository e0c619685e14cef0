import { dnsSubdomain, qualifiedName, type NameRule, dnsLabel } from '@berth/kube/model/selector/name-rules';
import {
  type JsonObject,
  getOwn,
  isObject,
  listAt,
  numberAt,
  objectAt,
  textAt,
  textsAt,
} from '../../json/json-value.ts';
import type { FieldReporter } from '../values/field-reporter.ts';
import { checkLegacyIp } from '../values/ip-rules.ts';
import { checkLabelMap } from '../values/metadata-rules.ts';
import { checkAffinity, checkSpreadConstraints, checkTolerations } from './affinity.ts';
import { checkContainers, checkInitContainers, type PodContext } from './containers.ts';
import { checkResources } from './resources.ts';
import { checkPodSecurity } from './security-context.ts';
import { checkVolumes } from './volumes.ts';

const RESTART_POLICIES = ['Always', 'OnFailure', 'Never'];
const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
export const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'];

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

const MAX_INT32 = 2 ** 31 - 1;

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

const LABEL = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const DOMAIN = `${LABEL}(\\.${LABEL})*`;
const DOMAIN_RE = new RegExp(`^${DOMAIN}$`);
const DOMAIN_TEXT = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${DOMAIN}')`;
const DOMAIN_LIMIT = 253;

/** A DNS search domain. Unlike other domain names it may contain underscores. */
const searchDomain: NameRule = (name) => {
  const problems: string[] = [];
  if (name.length > DOMAIN_LIMIT) problems.push(`must be no more than ${String(DOMAIN_LIMIT)} characters`);
  if (!DOMAIN_RE.test(name)) problems.push(DOMAIN_TEXT);
  return problems;
};

const MAX_NAMESERVERS = 3;

/** Source: pkg/apis/core/validation (validatePodDNSConfig). */
function checkDnsConfig(spec: JsonObject, at: FieldReporter): void {
  const config = objectAt(spec, 'dnsConfig');
  const place = at.at('dnsConfig');
  const servers = textsAt(config, 'nameservers');
  if (textAt(spec, 'dnsPolicy') === 'None') {
    if (config === undefined) place.required('must provide `dnsConfig` when `dnsPolicy` is None');
    else if (servers.length === 0)
      place.at('nameservers').required('must provide at least one DNS nameserver when `dnsPolicy` is None');
    if (servers.length === 0) return;
  }
  if (servers.length > MAX_NAMESERVERS) {
    const detail = `must not have more than ${String(MAX_NAMESERVERS)} nameservers`;
    place.at('nameservers').invalid([...servers], detail);
  }
  for (const [index, server] of servers.entries()) checkLegacyIp(server, place.at('nameservers').at(index));
  checkSearches(textsAt(config, 'searches'), place.at('searches'));
  for (const [index, option] of listAt(config, 'options').entries())
    if (textAt(option as JsonObject, 'name') === '')
      place.at('options').at(index).required('must not be empty');
}

const MAX_SEARCHES = 32;
const MAX_SEARCH_LENGTH = 2048;

function checkSearches(searches: readonly string[], at: FieldReporter): void {
  if (searches.length > MAX_SEARCHES)
    at.invalid([...searches], `must not have more than ${String(MAX_SEARCHES)} search paths`);
  if (searches.join(' ').length > MAX_SEARCH_LENGTH) {
    const limit = String(MAX_SEARCH_LENGTH);
    const detail = `must not have more than ${limit} characters (including spaces) in the search list`;
    at.invalid([...searches], detail);
  }
  for (const [index, search] of searches.entries())
    if (search !== '.') at.at(index).validName(search.replace(/\.$/, ''), searchDomain);
}

/** With `hostNetwork` a host port, where one is set, must equal the container port. */
function checkHostNetworkPorts(spec: JsonObject, at: FieldReporter): void {
  if (spec['hostNetwork'] !== true) return;
  at.each(spec, 'containers', (container, place) =>
    place.each(container, 'ports', (port, at) => {
      const [host, own] = [numberAt(port, 'hostPort') ?? 0, numberAt(port, 'containerPort') ?? 0];
      if (host !== own && host !== 0)
        at.at('hostPort').invalid(host, 'must match `containerPort` when `hostNetwork` is true');
    }),
  );
}

/** Host name and subdomain of a pod. */
function checkHostNames(spec: JsonObject, at: FieldReporter): void {
  for (const key of ['hostname', 'subdomain']) {
    const name = textAt(spec, key);
    if (name !== '') at.at(key).validName(name, dnsLabel);
  }
}

/** Further names in the hosts file of a pod. */
function checkHostAliases(spec: JsonObject, at: FieldReporter): void {
  at.each(spec, 'hostAliases', (alias, place) => {
    checkLegacyIp(textAt(alias, 'ip'), place.at('ip'));
    for (const [index, name] of textsAt(alias, 'hostnames').entries())
      place.at('hostnames').at(index).validName(name, dnsSubdomain);
  });
}

/** Source: pkg/apis/core/validation (validatePodHostName). */
function checkHostnameOverride(spec: JsonObject, at: FieldReporter): void {
  const name = getOwn(spec, 'hostnameOverride');
  if (typeof name !== 'string') return;
  const place = at.at('hostnameOverride');
  if (spec['setHostnameAsFQDN'] === true)
    place.forbidden('may not be specified when setHostnameAsFQDN is true');
  if (spec['hostNetwork'] === true) place.forbidden('may not be specified when hostNetwork is true');
  if (name.length > 64) place.tooLong(64);
  place.validName(name, dnsSubdomain);
}
