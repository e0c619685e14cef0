/** Rules for names of objects, labels and annotations. Each returns what is wrong, in the API server's words, or nothing. */
export type NameRule = (name: string) => readonly string[];

const SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const LABEL_1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?';

const SUBDOMAIN_TEXT = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;
const LABEL_TEXT = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`;
const LABEL_1035_TEXT = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${LABEL_1035}')`;
const QUALIFIED_TEXT = `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}')`;
const LABEL_VALUE_TEXT = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${LABEL_VALUE}')`;

const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`);
const [SUBDOMAIN_RE, LABEL_RE, LABEL_1035_RE] = [whole(SUBDOMAIN), whole(LABEL), whole(LABEL_1035)];
const [QUALIFIED_RE, LABEL_VALUE_RE] = [whole(QUALIFIED), whole(LABEL_VALUE)];

const tooLong = (limit: number): string => `must be no more than ${String(limit)} bytes`;

function check(text: string, pattern: RegExp, message: string, limit: number): readonly string[] {
  const problems: string[] = [];
  if (text.length > limit) problems.push(tooLong(limit));
  if (text.length > limit * 4 || !pattern.test(text)) problems.push(message);
  return problems;
}

export const dnsSubdomain: NameRule = (name) => check(name, SUBDOMAIN_RE, SUBDOMAIN_TEXT, 253);
export const dnsLabel: NameRule = (name) => check(name, LABEL_RE, LABEL_TEXT, 63);
export const dns1035Label: NameRule = (name) => check(name, LABEL_1035_RE, LABEL_1035_TEXT, 63);
export const labelValue: NameRule = (value) => check(value, LABEL_VALUE_RE, LABEL_VALUE_TEXT, 63);

/** Anything that can stand between two slashes of a path: RBAC's names. */
export const pathSegment: NameRule = (name) => {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
};

/** `[prefix/]name`, the form of label keys, annotation keys and finalizers. */
export const qualifiedName: NameRule = (text) => {
  const parts = text.split('/');
  if (parts.length > 2) {
    return [
      `a qualified name ${QUALIFIED_TEXT.replace(/\)$/, '')}) with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const problems: string[] = [];
  const name = parts[parts.length - 1] as string;
  if (parts.length === 2) {
    const prefix = parts[0] as string;
    if (prefix === '') problems.push('prefix part must be non-empty');
    else problems.push(...dnsSubdomain(prefix).map((problem) => `prefix part ${problem}`));
  }
  if (name === '') problems.push('name part must be non-empty');
  else if (name.length > 63) problems.push(`name part ${tooLong(63)}`);
  if (name.length <= 253 && !QUALIFIED_RE.test(name)) problems.push(`name part ${QUALIFIED_TEXT}`);
  return problems;
};
