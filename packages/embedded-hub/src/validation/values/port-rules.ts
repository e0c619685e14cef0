import { type NameRule, dnsSubdomain } from '@berth/kube/model/selector/name-rules';
import type { JsonValue, JsonObject } from '../../json/json-value.ts';
import type { FieldReporter } from './field-reporter.ts';

export const PROTOCOLS = ['SCTP', 'TCP', 'UDP'] as const;

const PORT_NAME_LIMIT = 15;

const PATH_PATTERN = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

/** Name of a port of a container. Source: apimachinery, pkg/util/validation (IsValidPortName). */
export const portName: NameRule = (name) => {
  const problems: string[] = [];
  if (name.length > PORT_NAME_LIMIT)
    problems.push(`must be no more than ${String(PORT_NAME_LIMIT)} characters`);
  if (!/^[-a-z0-9]+$/.test(name))
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(name)) problems.push('must contain at least one letter (a-z)');
  if (name.includes('--')) problems.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
};

/** Checks a port number; an absent one is treated as 0. */
export function checkPort(port: number | undefined, at: FieldReporter): void {
  const number = port ?? 0;
  if (number < 1 || number > 65535) at.invalid(number, 'must be between 1 and 65535, inclusive');
}

/** Checks a port number or the name of a container port. */
export function checkPortOrName(port: JsonValue | undefined, at: FieldReporter): void {
  if (typeof port === 'string') at.validName(port, portName);
  else checkPort(typeof port === 'number' ? port : undefined, at);
}

/** Validation of one built-in kind, in addition to the metadata checks of all kinds. */
export interface KindRules {
  /** Default: a DNS subdomain. */
  readonly name?: NameRule;
  /** Finalizers need no domain. */
  readonly anyFinalizer?: true;
  /**
   * How often the API server validates metadata on update; it reports a problem each time. `new`:
   * the third check is the one of a new object. `new twice`: the third and the fourth. Default 3.
   */
  readonly metadataChecks?: 2 | 'new' | 'new twice' | 4;
  /** Checks the whole object, on create and on update; `old` is undefined on create. */
  readonly validate: (object: JsonObject, at: FieldReporter, old: JsonObject | undefined) => void;
  /** Checks a write through a subresource. Default: only metadata is checked. */
  readonly validateSubresource?: (
    subresource: string,
    object: JsonObject,
    at: FieldReporter,
    old: JsonObject,
  ) => void;
}

/** `example.com/path`. Source: apimachinery, pkg/util/validation (IsDomainPrefixedPath). */
export function checkDomainPath(text: string, at: FieldReporter): void {
  const slash = text.indexOf('/');
  if (text === '') at.required();
  else if (slash <= 0 || slash === text.length - 1)
    at.invalid(text, 'must be a domain-prefixed path (such as "acme.io/foo")');
  else {
    at.validName(text.slice(0, slash), dnsSubdomain);
    const path = text.slice(slash + 1);
    if (!new RegExp(`^${PATH_PATTERN}$`).test(path))
      at.invalid(path, `Invalid path (regex used for validation is '${PATH_PATTERN}')`);
  }
}
