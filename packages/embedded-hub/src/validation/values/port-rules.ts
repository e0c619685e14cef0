import type { NameRule } from '@berth/kube/model/selector/name-rules';
import type { JsonValue } from '../../json/json-value.ts';
import type { FieldReporter } from './field-reporter.ts';

export const PROTOCOLS = ['SCTP', 'TCP', 'UDP'] as const;

const PORT_NAME_LIMIT = 15;

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
