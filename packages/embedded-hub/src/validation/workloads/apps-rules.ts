import { dnsLabel } from '@berth/kube/model/selector/name-rules';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { getOwn, isObject, listAt, numberAt, objectAt, textAt } from '../../json/json-value.ts';
import { checkClaimSpec } from '../pod/claim-spec.ts';
import { checkAtMostHundredPercent, checkCountOrPercent, countOrPercent } from '../values/quantity-rules.ts';
import type { FieldReporter, KindRules } from '../values/field-reporter.ts';
import {
  checkTemplateMetadata,
  checkSelector,
  isCompilable,
  isEmptySelector,
} from '../values/metadata-rules.ts';
import {
  checkPodTemplate,
  checkAlwaysRunning,
  checkOwnedTemplate,
  checkTemplateLabels,
} from '../pod/pod-rules.ts';
import { semanticEqual } from '../values/semantic-equal.ts';

const ROLLING = 'RollingUpdate';

/**
 * The selector of a workload, which is required and must not be empty.
 * @param kind its name in the message
 */
function checkOwnSelector(spec: JsonObject, kind: string, at: FieldReporter): void {
  const selector = objectAt(spec, 'selector');
  const place = at.at('selector');
  if (selector === undefined) {
    place.required();
    return;
  }
  checkSelector(selector, place);
  if (isEmptySelector(selector)) place.invalid(selector, `empty selector is invalid for ${kind}`);
}

function checkReplicaTemplate(spec: JsonObject, at: FieldReporter): void {
  if (!isCompilable(objectAt(spec, 'selector'))) {
    at.at('selector').invalid(getOwn(spec, 'selector'), 'invalid label selector');
    return;
  }
  checkOwnedTemplate(spec, 'ReplicaSet', at);
}

/** Source: pkg/apis/apps/validation (ValidateDeployment). */
export const DEPLOYMENT_RULES: KindRules = {
  validate: (deployment, at, old) => {
    const spec = objectAt(deployment, 'spec') ?? {};
    const place = at.at('spec');
    place.at('replicas').nonNegative(numberAt(spec, 'replicas'));
    checkOwnSelector(spec, 'deployment', place);
    checkReplicaTemplate(spec, place);
    checkStrategy(objectAt(spec, 'strategy') ?? {}, place.at('strategy'));
    place.at('minReadySeconds').nonNegative(numberAt(spec, 'minReadySeconds'));
    place.at('revisionHistoryLimit').nonNegative(numberAt(spec, 'revisionHistoryLimit'));
    const deadline = numberAt(spec, 'progressDeadlineSeconds');
    place.at('progressDeadlineSeconds').nonNegative(deadline);
    if (deadline !== undefined && deadline <= (numberAt(spec, 'minReadySeconds') ?? 0))
      place.at('progressDeadlineSeconds').invalid(deadline, 'must be greater than minReadySeconds');
    if (old !== undefined) checkFixedSelector(spec, old, place);
  },
};

function checkFixedSelector(spec: JsonObject, old: JsonObject, at: FieldReporter): void {
  const [now, before] = [getOwn(spec, 'selector'), getOwn(objectAt(old, 'spec') ?? {}, 'selector')];
  if (!semanticEqual(now, before)) at.at('selector').invalid(now, 'field is immutable');
}

function checkStrategy(strategy: JsonObject, at: FieldReporter): void {
  const [type, rolling] = [textAt(strategy, 'type') || ROLLING, objectAt(strategy, 'rollingUpdate')];
  const place = at.at('rollingUpdate');
  if (type === 'Recreate') {
    if (rolling !== undefined) place.forbidden("may not be specified when strategy `type` is 'Recreate'");
  } else if (type !== ROLLING) at.unsupported(strategy, ['Recreate', ROLLING]);
  else if (rolling !== undefined) checkRollingDeployment(rolling, place);
}

function checkRollingDeployment(rolling: JsonObject, at: FieldReporter): void {
  const [unavailable, surge] = [getOwn(rolling, 'maxUnavailable'), getOwn(rolling, 'maxSurge')];
  checkCountOrPercent(unavailable, at.at('maxUnavailable'));
  checkCountOrPercent(surge, at.at('maxSurge'));
  if (countOrPercent(unavailable) === 0 && countOrPercent(surge) === 0)
    at.at('maxUnavailable').invalid(unavailable, 'may not be 0 when `maxSurge` is 0');
  checkAtMostHundredPercent(unavailable, at.at('maxUnavailable'));
}

/** Source: pkg/apis/apps/validation (ValidateReplicaSet). */
export const REPLICA_SET_RULES: KindRules = {
  validate: (set, at, old) => {
    const spec = objectAt(set, 'spec') ?? {};
    const place = at.at('spec');
    place.at('replicas').nonNegative(numberAt(spec, 'replicas'));
    place.at('minReadySeconds').nonNegative(numberAt(spec, 'minReadySeconds'));
    // The API server names a Deployment here, too.
    checkOwnSelector(spec, 'deployment', place);
    checkReplicaTemplate(spec, place);
    if (old !== undefined) checkFixedSelector(spec, old, place);
  },
};

/** Source: pkg/apis/apps/validation (ValidateDaemonSet). */
export const DAEMON_SET_RULES: KindRules = {
  validate: (set, at, old) => {
    const spec = objectAt(set, 'spec') ?? {};
    const place = at.at('spec');
    if (old !== undefined) checkFixedSelector(spec, old, place);
    const selector = objectAt(spec, 'selector');
    checkSelector(selector, place.at('selector'));
    if (isCompilable(selector)) checkTemplateLabels(spec, place);
    if (selector !== undefined && isEmptySelector(selector))
      place.at('selector').invalid(selector, 'empty selector is invalid for daemonset');
    checkPodTemplate(objectAt(spec, 'template') ?? {}, place.at('template'));
    checkAlwaysRunning(spec, 'DaemonSet', place);
    place.at('minReadySeconds').nonNegative(numberAt(spec, 'minReadySeconds'));
    checkDaemonStrategy(objectAt(spec, 'updateStrategy') ?? {}, place.at('updateStrategy'));
    place.at('revisionHistoryLimit').nonNegative(numberAt(spec, 'revisionHistoryLimit'));
  },
};

function checkDaemonStrategy(strategy: JsonObject, at: FieldReporter): void {
  const [type, rolling] = [textAt(strategy, 'type') || ROLLING, objectAt(strategy, 'rollingUpdate')];
  if (type === 'OnDelete') return;
  if (type !== ROLLING) {
    at.unsupported(strategy, [ROLLING, 'OnDelete']);
    return;
  }
  if (rolling === undefined) return;
  const place = at.at('rollingUpdate');
  const [unavailable, surge] = [getOwn(rolling, 'maxUnavailable'), getOwn(rolling, 'maxSurge')];
  checkCountOrPercent(unavailable, place.at('maxUnavailable'));
  checkCountOrPercent(surge, place.at('maxSurge'));
  checkAtMostHundredPercent(unavailable, place.at('maxUnavailable'));
  checkAtMostHundredPercent(surge, place.at('maxSurge'));
  const [hasUnavailable, hasSurge] = [countOrPercent(unavailable) !== 0, countOrPercent(surge) !== 0];
  if (hasUnavailable && hasSurge)
    place.at('maxSurge').invalid(surge, 'may not be set when maxUnavailable is non-zero');
  else if (!hasUnavailable && !hasSurge)
    place.at('maxUnavailable').required('cannot be 0 when maxSurge is 0');
}

/** Source: pkg/apis/apps/validation (ValidateStatefulSet). */
export const STATEFUL_SET_RULES: KindRules = {
  name: dnsLabel,
  validate: (set, at, old) => {
    const spec = objectAt(set, 'spec') ?? {};
    const place = at.at('spec');
    checkSetPolicies(spec, place);
    if (old === undefined)
      place.each(spec, 'volumeClaimTemplates', (claim, at) =>
        checkClaimSpec(objectAt(claim, 'spec') ?? {}, at.at('spec')),
      );
    place.at('replicas').nonNegative(numberAt(spec, 'replicas'));
    place.at('minReadySeconds').nonNegative(numberAt(spec, 'minReadySeconds'));
    place.at('ordinals.start').nonNegative(numberAt(objectAt(spec, 'ordinals'), 'start'));
    const service = textAt(spec, 'serviceName');
    if (old === undefined && service !== '') place.at('serviceName').validName(service, dnsLabel);
    checkOwnSelector(spec, 'statefulset', place);
    if (isCompilable(objectAt(spec, 'selector'))) checkSetTemplate(spec, place);
    else place.at('selector').invalid(getOwn(spec, 'selector'), '');
    checkAlwaysRunning(spec, 'StatefulSet', place);
    if (old !== undefined) checkSetChange(spec, objectAt(old, 'spec') ?? {}, place);
  },
};

const RETENTION = ['Retain', 'Delete'];

function checkSetPolicies(spec: JsonObject, at: FieldReporter): void {
  const management = textAt(spec, 'podManagementPolicy');
  if (management !== '' && management !== 'OrderedReady' && management !== 'Parallel')
    at.at('podManagementPolicy').invalid(management, "must be 'OrderedReady' or 'Parallel'");
  const strategy = objectAt(spec, 'updateStrategy') ?? {};
  const [type, rolling] = [textAt(strategy, 'type') || ROLLING, objectAt(strategy, 'rollingUpdate')];
  const place = at.at('updateStrategy');
  if (type === 'OnDelete') {
    if (rolling !== undefined)
      place.at('rollingUpdate').invalid(rolling, `only allowed for updateStrategy '${ROLLING}'`);
  } else if (type !== ROLLING) place.invalid(strategy, `must be '${ROLLING}' or 'OnDelete'`);
  else if (rolling !== undefined) checkRollingSet(rolling, place.at('rollingUpdate'));
  const retention = objectAt(spec, 'persistentVolumeClaimRetentionPolicy');
  for (const key of ['whenDeleted', 'whenScaled']) {
    const policy = textAt(retention, key);
    at.at('persistentVolumeClaimRetentionPolicy').at(key).oneOfIfSet(policy, RETENTION);
  }
}

/** `maxUnavailable` needs a feature gate that is off by default, so it is not checked. */
function checkRollingSet(rolling: JsonObject, at: FieldReporter): void {
  at.at('partition').nonNegative(numberAt(rolling, 'partition'));
}

/** Each volume claim template becomes a volume of the pods, with the name of the template. */
function checkSetTemplate(spec: JsonObject, at: FieldReporter): void {
  const template = objectAt(spec, 'template') ?? {};
  const claims = listAt(spec, 'volumeClaimTemplates')
    .filter(isObject)
    .map((claim) => textAt(objectAt(claim, 'metadata'), 'name'));
  const { hostname: _hostname, subdomain: _subdomain, ...pod } = objectAt(template, 'spec') ?? {};
  const own = new Set(claims);
  const volumes: JsonValue[] = [
    ...[...own].map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
    ...listAt(pod, 'volumes').filter((volume) => !isObject(volume) || !own.has(textAt(volume, 'name'))),
  ];
  checkTemplateLabels(spec, at);
  const place = at.at('template');
  checkPodTemplate({ ...template, spec: { ...pod, volumes } }, place);
  checkTemplateMetadata(template, place);
}

const SET_FORBIDDEN =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
const SET_FIXED = ['selector', 'serviceName', 'podManagementPolicy', 'volumeClaimTemplates'];

function checkSetChange(spec: JsonObject, old: JsonObject, at: FieldReporter): void {
  const changed = SET_FIXED.some((key) => !semanticEqual(fixedValue(spec, key), fixedValue(old, key)));
  if (changed) at.forbidden(SET_FORBIDDEN);
}

/** An immutable value with its defaults, which an update may leave out. */
function fixedValue(spec: JsonObject, key: string): JsonValue | undefined {
  const value = getOwn(spec, key);
  if (key === 'podManagementPolicy') return value ?? 'OrderedReady';
  if (key !== 'volumeClaimTemplates') return value;
  return listAt(spec, key).map((claim) => {
    if (!isObject(claim)) return claim;
    const { metadata, spec: claimSpec } = claim;
    const { creationTimestamp: _time, ...kept } = isObject(metadata) ? metadata : {};
    return {
      metadata: kept,
      spec: { volumeMode: 'Filesystem', ...(isObject(claimSpec) ? claimSpec : {}) },
    };
  });
}

/** Source: pkg/apis/apps/validation (ValidateControllerRevisionCreate). */
export const CONTROLLER_REVISION_RULES: KindRules = {
  metadataChecks: 4,
  validate: (revision, at, old) => {
    at.at('revision').nonNegative(numberAt(revision, 'revision'));
    if (old !== undefined) at.at('data').immutable(getOwn(revision, 'data'), getOwn(old, 'data'));
    else if ((getOwn(revision, 'data') ?? null) === null) at.at('data').required('data is mandatory');
  },
};

/** Source: pkg/apis/core/validation (ValidateReplicationController). */
export const REPLICATION_CONTROLLER_RULES: KindRules = {
  validate: (controller, at) => {
    const spec = objectAt(controller, 'spec') ?? {};
    const place = at.at('spec');
    place.at('minReadySeconds').nonNegative(numberAt(spec, 'minReadySeconds'));
    const selector = objectAt(spec, 'selector') ?? {};
    if (Object.keys(selector).length === 0) place.at('selector').required();
    place.at('replicas').nonNegative(numberAt(spec, 'replicas'));
    const template = objectAt(spec, 'template');
    if (template === undefined) {
      place.at('template').required();
      return;
    }
    checkTemplateLabels({ ...spec, selector: { matchLabels: selector } }, place);
    checkPodTemplate(template, place.at('template'));
    checkAlwaysRunning(spec, 'ReplicationController', place);
  },
};
