import {
  CLUSTERS_PER_GROUP,
  COUNT_OR_PERCENT,
  DNS_LABEL,
  DNS_SUBDOMAIN,
  DURATION,
  DURATION_OR_NONE,
  GROUP_NAME,
  QUALIFIED_NAME,
  QUANTITY,
  TOPOLOGY_KEY,
  WORK_AGENT_USER,
} from '@berth/ocm/definition/patterns';

/** A name of a pattern for messages, and the regular expression. */
export interface NamedPattern {
  readonly pattern: RegExp;
  readonly patternName: string;
}

const NAMES: Readonly<Record<string, string>> = {
  [CLUSTERS_PER_GROUP]: 'a number of at least 1, or a percentage from "1%" to "100%"',
  [COUNT_OR_PERCENT]: 'a number, or a percentage from "0%" to "100%"',
  [DNS_LABEL]: 'a DNS label',
  [DNS_SUBDOMAIN]: 'a DNS subdomain name',
  [DURATION]: 'a duration such as 30s, 5m or 1h',
  [DURATION_OR_NONE]: 'a duration such as 30s, 10m or 1h, or None',
  [GROUP_NAME]: 'a name of 2 to 63 letters, digits, -, _ or .',
  [QUALIFIED_NAME]: 'a label key',
  [QUANTITY]: 'a quantity such as 4, 500m or 16Gi',
  [TOPOLOGY_KEY]: 'a label key',
  [WORK_AGENT_USER]: 'a name that starts with work-agent',
};

/** Corrections of OCM's patterns, which are not anchored and accept `|` as a unit. */
const STRICTER: Readonly<Record<string, RegExp>> = { [DURATION_OR_NONE]: /^([0-9]+[hms])+$|^None$/ };

/** The name of a pattern of OCM's definitions. */
export function namedPattern(pattern: string): NamedPattern {
  return {
    pattern: STRICTER[pattern] ?? new RegExp(pattern),
    patternName: NAMES[pattern] ?? `a string that matches ${pattern}`,
  };
}
