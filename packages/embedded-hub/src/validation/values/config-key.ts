import type { NameRule } from '@berth/kube/model/selector/name-rules';

const KEY_LIMIT = 253;
const KEY_TEXT =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** Keys of ConfigMaps and Secrets. Source: apimachinery, pkg/util/validation (IsConfigMapKey). */
export const configKey: NameRule = (key) => {
  const problems: string[] = [];
  if (key.length > KEY_LIMIT) problems.push(`must be no more than ${String(KEY_LIMIT)} characters`);
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) problems.push(KEY_TEXT);
  if (key === '.' || key === '..') problems.push(`must not be '${key}'`);
  else if (key.startsWith('..')) problems.push("must not start with '..'");
  return problems;
};
