import { labelKeyProblem, labelValueProblem } from '@berth/kube/model/selector/label-syntax';
import { patternCost } from '../value/cel-cost.ts';
import { CelFailure, CelOpaque, CelOptional, type CelResult, OPTIONAL_NONE } from '../value/cel-value.ts';
import { type CelOverload, overload } from '../value/overload.ts';
import { parseTimestamp } from './time.ts';

/**
 * The Kubernetes format library: `format.dns1123Label().validate(x)` returns the problems, or none.
 */
class CelFormat extends CelOpaque {
  readonly typeName = 'kubernetes.NamedFormat';
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelFormat && this.name === other.name;
  }
}

type Check = (text: string) => string | undefined;

/** The problem, or undefined. */
function pattern(regex: RegExp, maxLength: number, wanted: string): Check {
  return (text) => {
    if (text.length > maxLength) return `must be no more than ${maxLength} characters`;
    return regex.test(text) ? undefined : wanted;
  };
}

const LABEL_WORDS =
  'must consist of lower case alphanumeric characters or "-", and start and end with an alphanumeric';
const SUBDOMAIN_WORDS =
  'must consist of lower case alphanumeric characters, "-" or ".", and start and end with an alphanumeric';
const DNS1035_WORDS =
  'must consist of lower case alphanumeric characters or "-", start with a letter, and end with an alphanumeric';

const dns1123Label = pattern(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 63, LABEL_WORDS);
const dns1123Subdomain = pattern(
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  253,
  SUBDOMAIN_WORDS,
);
const dns1035Label = pattern(/^[a-z]([-a-z0-9]*[a-z0-9])?$/, 63, DNS1035_WORDS);

/** A prefix of generated names may end with a dash. */
function prefixOf(check: Check): Check {
  return (text) => check(text.endsWith('-') && text.length > 1 ? `${text.slice(0, -1)}a` : text);
}

const CHECKS: ReadonlyMap<string, Check> = new Map([
  ['dns1123Label', dns1123Label],
  ['dns1123Subdomain', dns1123Subdomain],
  ['dns1035Label', dns1035Label],
  ['dns1123LabelPrefix', prefixOf(dns1123Label)],
  ['dns1123SubdomainPrefix', prefixOf(dns1123Subdomain)],
  ['dns1035LabelPrefix', prefixOf(dns1035Label)],
  ['qualifiedName', labelKeyProblem],
  ['labelValue', labelValueProblem],
  ['uri', (text) => (/^(\/|[A-Za-z][A-Za-z0-9+.-]*:)\S*$/.test(text) ? undefined : 'must be a URI')],
  [
    'uuid',
    (text) =>
      /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text)
        ? undefined
        : 'does not match the UUID format',
  ],
  [
    'byte',
    (text) =>
      /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)
        ? undefined
        : 'invalid base64',
  ],
  ['date', (text) => (isTime(`${text}T00:00:00Z`) ? undefined : 'invalid date')],
  ['datetime', (text) => (isTime(text) ? undefined : 'invalid datetime')],
]);

/**
 * The length that the API server assumes for the pattern of a format when it computes costs; those
 * of uuid and times are rounded up.
 */
const MAX_PATTERN = 100;
const PATTERN_LENGTHS: ReadonlyMap<string, number> = new Map([
  ['dns1123Label', 30],
  ['dns1123Subdomain', 60],
  ['dns1035Label', 30],
  ['qualifiedName', 60],
  ['dns1123LabelPrefix', 30],
  ['dns1123SubdomainPrefix', 60],
  ['dns1035LabelPrefix', 30],
  ['labelValue', 40],
  ['uri', 1103],
  ['byte', 84],
]);

function isTime(text: string): boolean {
  return !(parseTimestamp(text) instanceof CelFailure);
}

function validate(format: CelFormat, text: string): CelResult {
  const problem = CHECKS.get(format.name)?.(text);
  return problem === undefined ? OPTIONAL_NONE : new CelOptional([problem]);
}

export const FORMATS: readonly CelOverload[] = [
  ...[...CHECKS.keys()].map((name) =>
    overload(`format.${name}(): kubernetes.NamedFormat`, () => new CelFormat(name)),
  ),
  overload('format.named(string): optional<kubernetes.NamedFormat>', (name: string) =>
    CHECKS.has(name) ? new CelOptional(new CelFormat(name)) : OPTIONAL_NONE,
  ),
  overload('kubernetes.NamedFormat.validate(string): optional<list<string>>', validate, ([format, text]) =>
    patternCost(text, PATTERN_LENGTHS.get(format instanceof CelFormat ? format.name : '') ?? MAX_PATTERN),
  ),
];
