import { dnsLabel, dnsSubdomain, labelValue, qualifiedName } from '@berth/kube/model/selector/name-rules';
import { parseIp } from '@berth/kube-cel/library/ip-address';
import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, listAt, numberAt, objectAt, textAt, textsAt } from '../../json/json-value.ts';
import { checkCanonicalIp, checkEndpointIp, checkLegacyIp, parseLegacyIp } from '../values/ip-rules.ts';
import type { FieldReporter, KindRules } from '../values/field-reporter.ts';
import { checkPort, PROTOCOLS } from '../values/port-rules.ts';

/** Source: pkg/apis/core/validation (ValidateEndpoints). */
export const ENDPOINTS_RULES: KindRules = {
  metadataChecks: 4,
  validate: (endpoints, at) =>
    at.each(endpoints, 'subsets', (subset, place) => {
      const lists = ['addresses', 'notReadyAddresses'];
      if (lists.every((key) => listAt(subset, key).length === 0))
        place.required('must specify `addresses` or `notReadyAddresses`');
      for (const key of lists) place.each(subset, key, checkAddress);
      const several = listAt(subset, 'ports').length > 1;
      place.each(subset, 'ports', (port, at) => {
        const name = textAt(port, 'name');
        if (name === '' && several) at.at('name').required();
        if (name !== '') at.at('name').validName(name, dnsLabel);
        checkPort(numberAt(port, 'port'), at.at('port'));
        checkProtocols(port, at);
      });
    }),
};

function checkAddress(address: JsonObject, at: FieldReporter): void {
  const ip = textAt(address, 'ip');
  checkLegacyIp(ip, at.at('ip'));
  const host = textAt(address, 'hostname');
  if (host !== '') at.at('hostname').validName(host, dnsLabel);
  const node = getOwn(address, 'nodeName');
  if (typeof node === 'string') at.at('nodeName').validName(node, dnsSubdomain);
  checkEndpointIp(ip, at.at('ip'));
}

function checkProtocols(port: JsonObject, at: FieldReporter): void {
  at.at('protocol').oneOfIfSet(textAt(port, 'protocol'), PROTOCOLS);
  const protocol = getOwn(port, 'appProtocol');
  if (typeof protocol === 'string') at.at('appProtocol').validName(protocol, qualifiedName);
}

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];
const MAX_PORTS = 20_000;
const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const MAX_HINTS = 8;

/** Source: pkg/apis/discovery/validation (ValidateEndpointSlice). */
export const ENDPOINT_SLICE_RULES: KindRules = {
  metadataChecks: 'new',
  validate: (slice, at, old) => {
    const type = textAt(slice, 'addressType');
    at.at('addressType').oneOf(type, ADDRESS_TYPES);
    checkSlicePorts(slice, at);
    checkEndpoints(slice, type, at);
    if (old !== undefined) at.at('addressType').immutable(type, textAt(old, 'addressType'));
  },
};

function checkSlicePorts(slice: JsonObject, at: FieldReporter): void {
  const count = listAt(slice, 'ports').length;
  if (count > MAX_PORTS) {
    at.at('ports').tooMany(count, MAX_PORTS);
    return;
  }
  const names = new Set<string>();
  at.each(slice, 'ports', (port, place) => {
    const name = textAt(port, 'name');
    if (name !== '') place.at('name').validName(name, dnsLabel);
    if (names.has(name)) place.at('name').duplicate(name);
    names.add(name);
    const protocol = getOwn(port, 'protocol');
    if (protocol === '') place.at('protocol').unsupported('', PROTOCOLS);
    checkProtocols(port, place);
  });
}

function checkEndpoints(slice: JsonObject, type: string, at: FieldReporter): void {
  const count = listAt(slice, 'endpoints').length;
  if (count > MAX_ENDPOINTS) {
    at.at('endpoints').tooMany(count, MAX_ENDPOINTS);
    return;
  }
  at.each(slice, 'endpoints', (endpoint, place) => {
    checkAddresses(endpoint, type, place.at('addresses'));
    const node = getOwn(endpoint, 'nodeName');
    if (typeof node === 'string') place.at('nodeName').validName(node, dnsSubdomain);
    const host = getOwn(endpoint, 'hostname');
    if (typeof host === 'string') place.at('hostname').validName(host, dnsLabel);
    checkHints(objectAt(endpoint, 'hints'), place.at('hints'));
  });
}

function checkAddresses(endpoint: JsonObject, type: string, at: FieldReporter): void {
  const addresses = textsAt(endpoint, 'addresses');
  if (addresses.length === 0) at.required('must contain at least 1 address');
  else if (addresses.length > MAX_ADDRESSES) at.tooMany(addresses.length, MAX_ADDRESSES);
  for (const [index, address] of addresses.entries()) {
    const place = at.at(index);
    if (type === 'FQDN') checkDomainName(address, place);
    else if (type === 'IPv4' && checkLegacyIp(address, place)) {
      if (parseLegacyIp(address)?.family !== 4) at.invalid(address, 'must be an IPv4 address');
      checkEndpointIp(address, place);
    } else if (type === 'IPv6' && checkCanonicalIp(address, place)) {
      if (parseIp(address)?.family !== 6) at.invalid(address, 'must be an IPv6 address');
      checkEndpointIp(address, place);
    }
  }
}

/** Source: apimachinery, pkg/util/validation (IsFullyQualifiedDomainName). */
function checkDomainName(text: string, at: FieldReporter): void {
  const name = text.replace(/\.$/, '');
  if (text === '') {
    at.required();
    return;
  }
  const faults = dnsSubdomain(name);
  if (faults.length > 0) at.invalid(name, faults.join(','));
  else if (!name.includes('.'))
    at.invalid(name, 'should be a domain with at least two segments separated by dots');
  else {
    const long = name.split('.').find((label) => dnsLabel(label).length > 0);
    if (long !== undefined) at.invalid(long, dnsLabel(long).join(','));
  }
}

function checkHints(hints: JsonObject | undefined, at: FieldReporter): void {
  for (const [key, rule] of [
    ['forZones', labelValue],
    ['forNodes', dnsSubdomain],
  ] as const) {
    const count = listAt(hints, key).length;
    if (count > MAX_HINTS) {
      at.at(key).tooMany(count, MAX_HINTS);
      return;
    }
    const seen = new Set<string>();
    at.each(hints, key, (hint, place) => {
      const name = textAt(hint, 'name');
      if (seen.has(name)) place.at('name').duplicate(name);
      seen.add(name);
      place.at('name').validName(name, rule);
    });
  }
}
