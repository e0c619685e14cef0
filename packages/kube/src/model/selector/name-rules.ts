/**
 * Rules for names of objects, labels and annotations. Each returns the problems, with the messages
 * of the API server.
 */
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

// These match in linear time, so that hostile lengths do no harm.
const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`);
const [SUBDOMAIN_RE, LABEL_RE, LABEL_1035_RE] = [whole(SUBDOMAIN), whole(LABEL), whole(LABEL_1035)];
const [QUALIFIED_RE, LABEL_VALUE_RE] = [whole(QUALIFIED), whole(LABEL_VALUE)];

const tooLong = (limit: number): string => `must be no more than ${String(limit)} characters`;
const tooManyBytes = (limit: number): string => `must be no more than ${String(limit)} bytes`;

interface Form {
  readonly pattern: RegExp;
  readonly message: string;
  readonly limit: number;
}

const NOTHING: readonly string[] = [];

function check(text: string, form: Form, limitText = tooLong): readonly string[] {
  if (text.length <= form.limit && form.pattern.test(text)) return NOTHING;
  const problems: string[] = [];
  if (text.length > form.limit) problems.push(limitText(form.limit));
  if (!form.pattern.test(text)) problems.push(form.message);
  return problems;
}

const SUBDOMAIN_FORM: Form = { pattern: SUBDOMAIN_RE, message: SUBDOMAIN_TEXT, limit: 253 };
const LABEL_FORM: Form = { pattern: LABEL_RE, message: LABEL_TEXT, limit: 63 };
const LABEL_1035_FORM: Form = { pattern: LABEL_1035_RE, message: LABEL_1035_TEXT, limit: 63 };
const LABEL_VALUE_FORM: Form = { pattern: LABEL_VALUE_RE, message: LABEL_VALUE_TEXT, limit: 63 };

export const dnsSubdomain: NameRule = (name) => check(name, SUBDOMAIN_FORM);
export const dns1035Label: NameRule = (name) => check(name, LABEL_1035_FORM);
export const labelValue: NameRule = (value) => check(value, LABEL_VALUE_FORM, tooManyBytes);

export const dnsLabel: NameRule = (name) => {
  const problems = check(name, LABEL_FORM);
  if (problems.at(-1) !== LABEL_TEXT || !SUBDOMAIN_RE.test(name)) return problems;
  return [...problems.slice(0, -1), 'must not contain dots'];
};

/** Any text that can be one segment of a path: RBAC's names. */
export const pathSegment: NameRule = (name) => {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  if (!name.includes('/') && !name.includes('%')) return NOTHING;
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
};

/** `[prefix/]name`, the form of label keys, annotation keys and finalizers. */
export const qualifiedName: NameRule = (text) => {
  const slash = text.indexOf('/');
  const known = slash < 0 || (slash <= SUBDOMAIN_FORM.limit && SUBDOMAIN_RE.test(text.slice(0, slash)));
  const own = slash < 0 ? text : text.slice(slash + 1);
  return known && own.length <= 63 && QUALIFIED_RE.test(own) ? NOTHING : qualifiedProblems(text);
};

function qualifiedProblems(text: string): readonly string[] {
  const parts = text.split('/');
  if (parts.length > 2) {
    return [
      `a valid label key ${QUALIFIED_TEXT} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
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
  else if (name.length > 63) problems.push(`name part ${tooManyBytes(63)}`);
  if (!QUALIFIED_RE.test(name)) problems.push(`name part ${QUALIFIED_TEXT}`);
  return problems;
}

/** A prefix of names, as `generateName`: a dash at its end is not the end of the name. */
export function asPrefix(rule: NameRule): NameRule {
  if (rule === pathSegment) return (prefix) => pathSegment(`${prefix}x`);
  return (prefix) => rule(prefix.length > 1 && prefix.endsWith('-') ? `${prefix.slice(0, -2)}a` : prefix);
}
