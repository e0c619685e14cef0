import type { NameRule } from '../../core/model/selector/name-rules.ts';
import { dns1035Label, dnsLabel, dnsSubdomain, pathSegment } from '../../core/model/selector/name-rules.ts';
import type { JsonObject } from '../json/json-value.ts';
import { listAt, numberAt, objectAt, textAt, textsAt } from '../json/json-value.ts';
import { checkReviewVersions, checkWebhookClient } from './values/webhook-client-rules.ts';
import type { KindRules } from './values/kind-rules.ts';
import type { FieldReporter } from './values/field-reporter.ts';

/** Source: kube-aggregator, pkg/apis/apiregistration/validation (ValidateAPIService). */
export const API_SERVICE_RULES: KindRules = {
  anyFinalizer: true,
  name: pathSegment,
  metadataChecks: 4,
  validate: (service, at) => {
    const spec = objectAt(service, 'spec') ?? {};
    const place = at.at('spec');
    const [group, version] = [textAt(spec, 'group'), textAt(spec, 'version')];
    const name = textAt(objectAt(service, 'metadata'), 'name');
    const wanted = `${version}.${group}`;
    const detail = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`;
    const prefix = textAt(objectAt(service, 'metadata'), 'generateName');
    if (prefix !== '' && prefix !== wanted) at.at('metadata').at('generateName').invalid(prefix, detail);
    if (name !== '' && pathSegment(name).length === 0 && name !== wanted)
      at.at('metadata').at('name').invalid(name, detail);
    if (group === '' && version !== 'v1')
      place.at('group').required('only v1 may have an empty group and it better be legacy kube');
    if (group !== '') place.at('group').named(group, dnsSubdomain);
    place.at('version').named(version, dns1035Label);
    checkPriority(spec, ['groupPriorityMinimum', 20_000], place);
    checkPriority(spec, ['versionPriority', 1000], place);
    checkServer(spec, place);
  },
};

function checkPriority(spec: JsonObject, [key, max]: readonly [string, number], at: FieldReporter): void {
  const priority = numberAt(spec, key) ?? 0;
  if (priority <= 0 || priority > max)
    at.at(key).invalid(priority, `must be positive and less than ${String(max)}`);
}

function checkServer(spec: JsonObject, at: FieldReporter): void {
  const [server, authority] = [objectAt(spec, 'service'), textAt(spec, 'caBundle')];
  const insecure = spec['insecureSkipTLSVerify'] === true;
  if (server === undefined) {
    const size = Buffer.from(authority, 'base64').length;
    if (authority !== '')
      at.at('caBundle').invalid(`${String(size)} bytes`, 'local APIServices may not have a caBundle');
    if (insecure)
      at.at('insecureSkipTLSVerify').invalid(true, 'local APIServices may not have insecureSkipTLSVerify');
    return;
  }
  const place = at.at('service');
  for (const key of ['namespace', 'name']) if (textAt(server, key) === '') place.at(key).required();
  const port = numberAt(server, 'port') ?? 443;
  if (port < 1 || port > 65535)
    place.at('port').invalid(port, 'port is not valid: must be between 1 and 65535, inclusive');
  if (insecure && authority !== '')
    at.at('insecureSkipTLSVerify').invalid(true, 'may not be true if caBundle is present');
}

const USAGES = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];
const MIN_SECONDS = 600;
const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown';
const MAX_DOMAIN_LENGTH = 253;

/**
 * Source: pkg/apis/certificates/validation (ValidateCertificateSigningRequestCreate). The strategy
 * of the kind checks the request itself and immutable fields.
 */
export const CERTIFICATE_RULES: KindRules = {
  name: pathSegment,
  metadataChecks: 4,
  validate: (request, at) => {
    const spec = objectAt(request, 'spec') ?? {};
    const place = at.at('spec');
    const usages = textsAt(spec, 'usages');
    if (usages.length === 0) place.at('usages').required();
    for (const [index, usage] of usages.entries())
      if (!USAGES.includes(usage)) place.at('usages').at(index).unsupported(usage, USAGES);
    for (const [index, usage] of usages.entries())
      if (usages.indexOf(usage) < index) place.at('usages').at(index).duplicate(usage);
    const signer = textAt(spec, 'signerName');
    if (signer === LEGACY_SIGNER)
      place.at('signerName').invalid(signer, 'the legacy signerName is not allowed via this API version');
    else checkSigner(signer, place.at('signerName'));
    const seconds = numberAt(spec, 'expirationSeconds');
    if (seconds !== undefined && seconds < MIN_SECONDS) {
      const detail = 'may not specify a duration less than 600 seconds (10 minutes)';
      place.at('expirationSeconds').invalid(seconds, detail);
    }
  },
  validateSubresource: (_subresource, request, at) => checkConditions(request, at),
};

/** Source: pkg/apis/core/validation/names.go (ValidateSignerName). */
function checkSigner(name: string, at: FieldReporter): void {
  const [domain = '', path = '', ...more] = name.split('/');
  if (name === '') {
    at.required();
    return;
  }
  if (!name.includes('/') || more.length > 0) {
    const detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    at.invalid(name, detail);
    return;
  }
  if (domain.length > MAX_DOMAIN_LENGTH) at.tooLong(MAX_DOMAIN_LENGTH);
  checkLabels(domain, dnsLabel, at);
  if (!domain.includes('.'))
    at.invalid(domain, 'should be a domain with at least two segments separated by dots');
  checkLabels(path, dnsSubdomain, at);
}

function checkLabels(text: string, rule: NameRule, at: FieldReporter): void {
  const bad = text.split('.').find((label) => rule(label).length > 0);
  if (bad === undefined) return;
  for (const detail of rule(bad)) at.invalid(text, `validating label ${JSON.stringify(bad)}: ${detail}`);
}

const ALWAYS_TRUE = new Set(['Approved', 'Denied', 'Failed']);
const EXCLUSIVE = new Map([
  ['Approved', 'Denied'],
  ['Denied', 'Approved'],
]);
const STATUSES = ['False', 'True', 'Unknown'];

function checkConditions(request: JsonObject, at: FieldReporter): void {
  const status = objectAt(request, 'status');
  const place = at.at('status');
  if (listAt(status, 'conditions').length === 0) return;
  const seen = new Set<string>();
  place.each(status, 'conditions', (condition, one) => {
    const type = textAt(condition, 'type');
    if (type === '') one.at('type').required();
    // The default status is `True`.
    one.at('status').oneOfIfSet(textAt(condition, 'status'), ALWAYS_TRUE.has(type) ? ['True'] : STATUSES);
    if (seen.has(type)) one.at('type').duplicate(type);
    seen.add(type);
    const other = EXCLUSIVE.get(type);
    if (other !== undefined && seen.has(other))
      one.at('type').invalid(type, 'Approved and Denied conditions are mutually exclusive');
  });
}

/** Messages name the fields as the server's internal version does. */
function checkConversion(conversion: JsonObject, at: FieldReporter): void {
  const strategy = textAt(conversion, 'strategy');
  at.at('strategy').oneOf(strategy, ['None', 'Webhook']);
  const webhook = objectAt(conversion, 'webhook');
  const client = objectAt(webhook, 'clientConfig');
  const place = at.at('webhookClientConfig');
  if (strategy !== 'Webhook') {
    if (client !== undefined) place.forbidden('should not be set when strategy is not set to Webhook');
    if (listAt(webhook, 'conversionReviewVersions').length > 0)
      at.at('conversionReviewVersions').forbidden('should not be set when strategy is not set to Webhook');
    return;
  }
  if (client === undefined) place.required('required when strategy is set to Webhook');
  else checkWebhookClient(client, place);
  checkReviewVersions(webhook ?? {}, 'conversionReviewVersions', [at, ['v1', 'v1beta1']]);
}

/** A CustomResourceDefinition. The strategy of the kind checks the schema. */
export const DEFINITION_RULES: KindRules = {
  anyFinalizer: true,
  validate: (definition, at) => {
    const spec = objectAt(definition, 'spec');
    const names = at.at('spec').at('names');
    for (const list of ['shortNames', 'categories'])
      for (const [index, name] of textsAt(objectAt(spec, 'names'), list).entries())
        names.at(list).at(index).named(name, dns1035Label);
    const conversion = objectAt(spec, 'conversion');
    if (conversion !== undefined) checkConversion(conversion, at.at('spec').at('conversion'));
  },
};
