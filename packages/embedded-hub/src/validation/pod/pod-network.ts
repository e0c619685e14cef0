import type { NameRule } from '@berth/kube/model/selector/name-rules';
import { dnsLabel, dnsSubdomain } from '@berth/kube/model/selector/name-rules';
import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, listAt, numberAt, objectAt, textAt, textsAt } from '../../json/json-value.ts';
import { checkLegacyIp } from '../values/ip-rules.ts';
import type { FieldReporter } from '../values/field-reporter.ts';

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_LENGTH = 2048;
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

/** Source: pkg/apis/core/validation (validatePodDNSConfig). */
export function checkDnsConfig(spec: JsonObject, at: FieldReporter): void {
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
export function checkHostNetworkPorts(spec: JsonObject, at: FieldReporter): void {
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
export function checkHostNames(spec: JsonObject, at: FieldReporter): void {
  for (const key of ['hostname', 'subdomain']) {
    const name = textAt(spec, key);
    if (name !== '') at.at(key).validName(name, dnsLabel);
  }
}

/** Further names in the hosts file of a pod. */
export function checkHostAliases(spec: JsonObject, at: FieldReporter): void {
  at.each(spec, 'hostAliases', (alias, place) => {
    checkLegacyIp(textAt(alias, 'ip'), place.at('ip'));
    for (const [index, name] of textsAt(alias, 'hostnames').entries())
      place.at('hostnames').at(index).validName(name, dnsSubdomain);
  });
}

/** Source: pkg/apis/core/validation (validatePodHostName). */
export function checkHostnameOverride(spec: JsonObject, at: FieldReporter): void {
  const name = getOwn(spec, 'hostnameOverride');
  if (typeof name !== 'string') return;
  const place = at.at('hostnameOverride');
  if (spec['setHostnameAsFQDN'] === true)
    place.forbidden('may not be specified when setHostnameAsFQDN is true');
  if (spec['hostNetwork'] === true) place.forbidden('may not be specified when hostNetwork is true');
  if (name.length > 64) place.tooLong(64);
  place.validName(name, dnsSubdomain);
}
