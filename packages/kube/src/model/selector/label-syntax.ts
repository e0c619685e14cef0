/** Syntax of Kubernetes label keys and values (apimachinery `validation.IsQualifiedName`, `IsValidLabelValue`). */

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const MAX_NAME_LENGTH = 63;
const MAX_PREFIX_LENGTH = 253;

/** The problem of `key` as a label key; undefined if it is valid. */
export function labelKeyProblem(key: string): string | undefined {
  const parts = key.split('/');
  if (parts.length > 2) return 'a label key has at most one "/" (PREFIX/NAME)';
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? parts[0] : undefined;
  if (prefix !== undefined && !isDnsSubdomain(prefix))
    return `the prefix must be a DNS name of at most ${MAX_PREFIX_LENGTH} lower-case characters`;
  if (name === '') return 'the name part of a label key must not be empty';
  return nameProblem(name, 'the name part of a label key');
}

/** The problem of `value` as a label value; undefined if it is valid. The empty value is valid. */
export function labelValueProblem(value: string): string | undefined {
  return value === '' ? undefined : nameProblem(value, 'a label value');
}

/** RFC 1123 subdomain as Kubernetes checks it: lower-case labels joined by dots, at most 253 characters. */
export function isDnsSubdomain(text: string): boolean {
  return text.length <= MAX_PREFIX_LENGTH && text.split('.').every((label) => DNS_LABEL.test(label));
}

function nameProblem(text: string, what: string): string | undefined {
  if (text.length > MAX_NAME_LENGTH) return `${what} has at most ${MAX_NAME_LENGTH} characters`;
  if (NAME.test(text)) return undefined;
  return `${what} consists of letters, digits, "-", "_" and ".", and starts and ends with a letter or digit`;
}
