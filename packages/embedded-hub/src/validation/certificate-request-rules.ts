import { dnsLabel, dnsSubdomain, type NameRule, pathSegment } from '@berth/kube/model/selector/name-rules';
import { type JsonObject, listAt, numberAt, objectAt, textAt, textsAt } from '../json/json-value.ts';
import type { FieldReporter, KindRules } from './values/field-reporter.ts';

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
export const CERTIFICATE_REQUEST_RULES: KindRules = {
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
