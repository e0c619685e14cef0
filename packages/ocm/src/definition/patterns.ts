/** Patterns that several OCM kinds share. */
export const QUALIFIED_NAME =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$';
export const QUANTITY =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';
export const CONDITION_REASON = '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$';
export const DNS_LABEL = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$';
export const DNS_SUBDOMAIN = '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)$';
export const WORK_AGENT_USER = '^work-agent';
export const COUNT_OR_PERCENT = '^((100|[0-9]{1,2})%|[0-9]+)$';
export const DURATION_OR_NONE = '^(([0-9])+[h|m|s])|None$';
export const SIGNER_NAME = '^([a-z0-9][a-z0-9-]*[a-z0-9]\\.)+[a-z]+\\/[a-z0-9-\\.]+$';
export const DNS_LABEL_OR_EMPTY = '^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$';
export const C_IDENTIFIER = '^[a-zA-Z_][_a-zA-Z0-9]*$';
export const CONTAINER_PATH =
  '^(deployments|daemonsets|statefulsets|replicasets|jobs|cronjobs|pods|\\*):.+:.+$';
export const TOPOLOGY_KEY =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$';
export const CLUSTERS_PER_GROUP = '^((100|[1-9][0-9]{0,1})%|[1-9][0-9]*)$';
export const GROUP_NAME = '^[a-zA-Z0-9][-A-Za-z0-9_.]{0,61}[a-zA-Z0-9]$';
export const DURATION = '^[0-9]+[hms]$';
