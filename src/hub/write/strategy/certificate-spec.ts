import { dnsSubdomain } from '../../admit/name-rules.ts';
import { duplicate, invalidValue, required, unsupportedValue } from '../../admit/field-problems.ts';
import { readCertificateRequest } from '../../auth/certificate-request.ts';
import { requestText } from '../../auth/client-signer.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { listAt, textAt } from '../../json/json-value.ts';
import type { FieldProblem } from '../../status/status-errors.ts';

/** As `pkg/apis/certificates/types.go` lists them, sorted. */
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
] as const;
const SHOWN_LETTERS = 64;
/** Each names all usages there are; nobody reads a thousand of them. */
const MOST_PROBLEMS = 8;
const LONGEST_SIGNER = 571;
const SHORTEST_SECONDS = 600;

/** What is wrong with the spec of a new request (`pkg/apis/certificates/validation`, ValidateCertificateSigningRequestCreate). */
export function specProblems(spec: JsonObject | undefined): readonly FieldProblem[] {
  return [
    ...requestProblems(spec),
    ...usageProblems(spec),
    ...signerProblems(spec),
    ...lifetimeProblems(spec),
  ];
}

function requestProblems(spec: JsonObject | undefined): FieldProblem[] {
  const reading = readCertificateRequest(requestText(spec));
  if (reading.kind === 'request') return [];
  return [invalidValue('spec.request', textAt(spec, 'request').slice(0, SHOWN_LETTERS), reading.why)];
}

function usageProblems(spec: JsonObject | undefined): FieldProblem[] {
  const usages = listAt(spec, 'usages');
  if (usages.length === 0) return [required('spec.usages')];
  const known = new Set<unknown>(USAGES);
  const seen = new Set<unknown>();
  const problems: FieldProblem[] = [];
  for (const [index, usage] of usages.entries()) {
    const field = `spec.usages[${String(index)}]`;
    if (!known.has(usage)) problems.push(unsupportedValue(field, usage, USAGES));
    else if (seen.has(usage)) problems.push(duplicate(field, usage));
    seen.add(usage);
    if (problems.length === MOST_PROBLEMS) break;
  }
  return problems;
}

/** `DOMAIN/PATH`, the domain with a dot in it (`pkg/apis/core/validation`, ValidateSignerName). */
function signerProblems(spec: JsonObject | undefined): FieldProblem[] {
  const name = textAt(spec, 'signerName');
  const wrong = (detail: string): FieldProblem[] => [
    invalidValue('spec.signerName', name.slice(0, LONGEST_SIGNER), detail),
  ];
  if (name === '') return [required('spec.signerName')];
  if (name.length > LONGEST_SIGNER) return wrong(`must be at most ${String(LONGEST_SIGNER)} characters`);
  if (name === 'kubernetes.io/legacy-unknown')
    return wrong('the legacy signerName is not allowed via this API version');
  const [domain = '', path = '', ...more] = name.split('/');
  if (domain === '' || path === '' || more.length > 0)
    return wrong('must be a fully qualified domain and path of the form "example.com/signer-name"');
  if (!domain.includes('.')) return wrong('should be a domain with at least two segments separated by dots');
  return [...dnsSubdomain(domain), ...path.split('.').flatMap(dnsSubdomain)].flatMap(wrong);
}

function lifetimeProblems(spec: JsonObject | undefined): FieldProblem[] {
  const seconds = spec?.['expirationSeconds'];
  if (typeof seconds !== 'number' || seconds >= SHORTEST_SECONDS) return [];
  return [
    invalidValue(
      'spec.expirationSeconds',
      seconds,
      'may not specify a duration less than 600 seconds (10 minutes)',
    ),
  ];
}
