import { dnsSubdomain, pathSegment } from '@berth/kube/model/selector/name-rules';
import { deepEqual, getOwn, type JsonObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import type { FieldReporter, KindRules } from './values/field-reporter.ts';
import { checkSelector, isCompilable } from './values/metadata-rules.ts';

const GROUP = 'rbac.authorization.k8s.io';
const SUBJECT_KINDS = ['ServiceAccount', 'User', 'Group'];

/** Source: pkg/apis/rbac/validation (ValidateRole). */
export const ROLE_RULES: KindRules = {
  name: pathSegment,
  metadataChecks: 4,
  validate: (role, at) => at.each(role, 'rules', (rule, place) => checkRule(rule, true, place)),
};

/** Source: pkg/apis/rbac/validation (ValidateClusterRole). */
export const CLUSTER_ROLE_RULES: KindRules = {
  name: pathSegment,
  metadataChecks: 4,
  validate: (role, at) => {
    at.each(role, 'rules', (rule, place) => checkRule(rule, false, place));
    const aggregation = objectAt(role, 'aggregationRule');
    if (aggregation === undefined) return;
    const place = at.at('aggregationRule');
    if (listAt(aggregation, 'clusterRoleSelectors').length === 0) {
      const detail = 'at least one clusterRoleSelector required if aggregationRule is non-nil';
      place.at('clusterRoleSelectors').required(detail);
    }
    place.each(aggregation, 'clusterRoleSelectors', (selector, at) => {
      checkSelector(selector, at);
      if (!isCompilable(selector)) at.invalid(null, 'invalid label selector.');
    });
  },
};

function checkRule(rule: JsonObject, namespaced: boolean, at: FieldReporter): void {
  const has = (key: string): boolean => listAt(rule, key).length > 0;
  if (!has('verbs')) at.at('verbs').required('verbs must contain at least one value');
  if (has('nonResourceURLs')) {
    const [place, urls] = [at.at('nonResourceURLs'), [...listAt(rule, 'nonResourceURLs')]];
    if (namespaced) place.invalid(urls, 'namespaced rules cannot apply to non-resource URLs');
    if (has('apiGroups') || has('resources') || has('resourceNames'))
      place.invalid(urls, 'rules cannot apply to both regular resources and non-resource URLs');
    return;
  }
  if (!has('apiGroups')) at.at('apiGroups').required('resource rules must supply at least one api group');
  if (!has('resources')) at.at('resources').required('resource rules must supply at least one resource');
}

/** Source: pkg/apis/rbac/validation (ValidateRoleBinding). */
export const ROLE_BINDING_RULES: KindRules = bindingRules(['Role', 'ClusterRole'], true);

/** Source: pkg/apis/rbac/validation (ValidateClusterRoleBinding). */
export const CLUSTER_ROLE_BINDING_RULES: KindRules = bindingRules(['ClusterRole'], false);

function bindingRules(kinds: readonly string[], namespaced: boolean): KindRules {
  return {
    name: pathSegment,
    metadataChecks: 4,
    validate: (binding, at, old) => {
      const role = objectAt(binding, 'roleRef') ?? {};
      const place = at.at('roleRef');
      const [group, kind, name] = [
        textAt(role, 'apiGroup') || GROUP,
        textAt(role, 'kind'),
        textAt(role, 'name'),
      ];
      if (group !== GROUP) place.at('apiGroup').unsupported(group, [GROUP]);
      if (!kinds.includes(kind)) place.at('kind').unsupported(kind, kinds);
      if (name === '') place.at('name').required();
      else place.at('name').validName(name, pathSegment);
      at.each(binding, 'subjects', (subject, at) => checkSubject(subject, namespaced, at));
      if (old !== undefined && !deepEqual(getOwn(binding, 'roleRef'), getOwn(old, 'roleRef')))
        place.invalid(role, 'cannot change roleRef');
    },
  };
}

function checkSubject(subject: JsonObject, namespaced: boolean, at: FieldReporter): void {
  const [kind, name, group] = [textAt(subject, 'kind'), textAt(subject, 'name'), textAt(subject, 'apiGroup')];
  if (name === '') at.at('name').required();
  if (kind === 'ServiceAccount') {
    if (name !== '') at.at('name').validName(name, dnsSubdomain);
    if (group !== '') at.at('apiGroup').unsupported(group, ['']);
    if (!namespaced && textAt(subject, 'namespace') === '') at.at('namespace').required();
  } else if (!SUBJECT_KINDS.includes(kind)) at.at('kind').unsupported(kind, SUBJECT_KINDS);
  else if (group !== GROUP) at.at('apiGroup').unsupported(group, [GROUP]);
}
