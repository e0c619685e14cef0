import type { NameRule } from '@berth/kube/model/selector/name-rules';
import { dns1035Label, dnsLabel, dnsSubdomain, pathSegment } from '@berth/kube/model/selector/name-rules';
import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, listAt, numberAt, objectAt, textAt, textsAt } from '../../json/json-value.ts';
import { parseLegacyIp } from '../values/ip-rules.ts';
import { checkDomainPath, type FieldReporter, type KindRules } from '../values/field-reporter.ts';
import { checkPort, portName } from '../values/port-rules.ts';

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

/** Source: pkg/apis/networking/validation (ValidateIngressCreate, ValidateIngressUpdate). */
export const INGRESS_RULES: KindRules = {
  metadataChecks: 4,
  validate: (ingress, at, old) => {
    const spec = objectAt(ingress, 'spec') ?? {};
    checkSpec(spec, at.at('spec'));
    const annotations = objectAt(objectAt(ingress, 'metadata'), 'annotations') ?? {};
    const [annotated, named] = [getOwn(annotations, CLASS_ANNOTATION), getOwn(spec, 'ingressClassName')];
    if (old !== undefined || annotated === undefined || named === undefined || annotated === named) return;
    const place = at.at('annotations').at(CLASS_ANNOTATION);
    place.invalid(annotated, 'must match `ingressClassName` when both are specified');
  },
};

const SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const WILDCARD = new RegExp(`^\\*\\.${SUBDOMAIN}$`);
const WILDCARD_TEXT = `a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.${SUBDOMAIN}')`;
const HOST_LIMIT = 253;
/** A host name, optionally with the prefix `*.`. */
const hostName: NameRule = (host) => {
  if (!host.includes('*')) return dnsSubdomain(host);
  const problems: string[] = [];
  if (host.length > HOST_LIMIT) problems.push(`must be no more than ${String(HOST_LIMIT)} characters`);
  if (!WILDCARD.test(host)) problems.push(WILDCARD_TEXT);
  return problems;
};

function checkSpec(spec: JsonObject, at: FieldReporter): void {
  const backend = objectAt(spec, 'defaultBackend');
  if (listAt(spec, 'rules').length === 0 && backend === undefined)
    at.invalid(getOwn(spec, 'rules'), 'either `defaultBackend` or `rules` must be specified');
  if (backend !== undefined) checkBackend(backend, at.at('defaultBackend'));
  at.each(spec, 'rules', checkRule);
  at.each(spec, 'tls', (tls, place) => {
    for (const [index, host] of textsAt(tls, 'hosts').entries())
      place.at('hosts').at(index).validName(host, hostName);
    const secret = textAt(tls, 'secretName');
    if (secret !== '') place.at('secretName').validName(secret, dnsSubdomain);
  });
  const name = getOwn(spec, 'ingressClassName');
  if (typeof name === 'string') at.at('ingressClassName').validName(name, dnsSubdomain);
}

function checkRule(rule: JsonObject, at: FieldReporter): void {
  const host = textAt(rule, 'host');
  if (host !== '') {
    if (parseLegacyIp(host) !== undefined)
      at.at('host').invalid(host, 'must be a DNS name, not an IP address');
    at.at('host').validName(host, hostName);
  }
  const http = objectAt(rule, 'http');
  if (http === undefined) return;
  if (listAt(http, 'paths').length === 0) at.at('http').at('paths').required();
  at.at('http').each(http, 'paths', checkPath);
}

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix'];
const BAD_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F'];
const BAD_ENDS = ['/..', '/.'];

function checkPath(path: JsonObject, at: FieldReporter): void {
  const type = getOwn(path, 'pathType');
  if (typeof type !== 'string') {
    at.at('pathType').required('pathType must be specified');
    return;
  }
  const text = textAt(path, 'path');
  if (!PATH_TYPES.includes(type)) at.at('pathType').unsupported(type, PATH_TYPES);
  else if (type !== 'ImplementationSpecific') {
    if (!text.startsWith('/')) at.at('path').invalid(text, 'must be an absolute path');
    for (const part of BAD_SEQUENCES)
      if (text.includes(part)) at.at('path').invalid(text, `must not contain '${part}'`);
    for (const end of BAD_ENDS)
      if (text.endsWith(end)) at.at('path').invalid(text, `cannot end with '${end}'`);
  } else if (text !== '' && !text.startsWith('/')) at.at('path').invalid(text, 'must be an absolute path');
  checkBackend(objectAt(path, 'backend') ?? {}, at.at('backend'));
}

function checkBackend(backend: JsonObject, at: FieldReporter): void {
  const [resource, service] = [objectAt(backend, 'resource'), objectAt(backend, 'service')];
  if (resource !== undefined && service !== undefined)
    at.invalid('', 'cannot set both resource and service backends');
  else if (resource !== undefined) checkObjectReference(resource, at.at('resource'));
  else if (service !== undefined) checkService(service, at);
  else at.invalid('', 'resource or service backend is required');
}

function checkService(service: JsonObject, at: FieldReporter): void {
  const name = textAt(service, 'name');
  const place = at.at('service');
  if (name === '') place.at('name').required();
  else place.at('name').validName(name, dns1035Label);
  const port = objectAt(service, 'port');
  const [portText, number] = [textAt(port, 'name'), numberAt(port, 'number') ?? 0];
  if (portText !== '' && number !== 0) at.invalid('', 'cannot set both port name & port number');
  else if (portText !== '') place.at('port').at('name').validName(portText, portName);
  else if (number !== 0) checkPort(number, place.at('port').at('number'));
  else at.required('port name or number is required');
}

function checkObjectReference(reference: JsonObject, at: FieldReporter): void {
  const group = getOwn(reference, 'apiGroup');
  if (typeof group === 'string') at.at('apiGroup').validName(group, dnsSubdomain);
  for (const key of ['kind', 'name']) {
    const text = textAt(reference, key);
    if (text === '') at.at(key).required();
    else at.at(key).validName(text, pathSegment);
  }
}

const CONTROLLER_LIMIT = 250;
const SCOPES = ['Cluster', 'Namespace'];

/** Source: pkg/apis/networking/validation (ValidateIngressClass). */
export const INGRESS_CLASS_RULES: KindRules = {
  metadataChecks: 4,
  validate: (ingressClass, at, old) => {
    const spec = objectAt(ingressClass, 'spec') ?? {};
    const place = at.at('spec');
    const controller = textAt(spec, 'controller');
    if (old !== undefined)
      place.at('controller').immutable(controller, textAt(objectAt(old, 'spec'), 'controller'));
    if (controller.length > CONTROLLER_LIMIT) place.at('controller').tooLong(CONTROLLER_LIMIT);
    checkDomainPath(controller, place.at('controller'));
    const parameters = objectAt(spec, 'parameters');
    if (parameters !== undefined) checkParameters(parameters, place.at('parameters'));
  },
};

function checkParameters(parameters: JsonObject, at: FieldReporter): void {
  checkObjectReference(parameters, at);
  const scope = getOwn(parameters, 'scope') ?? 'Cluster';
  const namespace = getOwn(parameters, 'namespace');
  if (typeof scope !== 'string' || !SCOPES.includes(scope)) at.at('scope').unsupported(scope, SCOPES);
  else if (scope === 'Cluster' && namespace !== undefined)
    at.at('namespace').forbidden("`parameters.scope` is set to 'Cluster'");
  else if (scope === 'Namespace' && typeof namespace !== 'string')
    at.at('namespace').required("`parameters.scope` is set to 'Namespace'");
  else if (typeof namespace === 'string') at.at('namespace').validName(namespace, dnsLabel);
}
