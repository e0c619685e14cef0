import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, isObject, listAt, objectAt, textAt, withoutKey } from '../../json/json-value.ts';
import type { Strategy } from './strategy.ts';

const CLAIM_PROTECTION = 'kubernetes.io/pvc-protection';
const PHASE_TIME = 'lastPhaseTransitionTime';
const VOLUME_PROTECTION = 'kubernetes.io/pv-protection';

/** Source: pkg/apis/core/v1 (SetDefaults_PersistentVolumeClaimSpec). */
export function withClaimDefaults(spec: JsonObject): JsonObject {
  return { volumeMode: 'Filesystem', ...spec };
}

/** Source: pkg/apis/core/v1 (SetDefaults_PersistentVolumeClaim), pkg/registry/core/persistentvolumeclaim. */
export const CLAIM_STRATEGY: Strategy = {
  fillIn: (claim, old) => {
    const filled = { ...claim, spec: withClaimDefaults(objectAt(claim, 'spec') ?? {}) };
    return old === undefined ? filled : withPhase(filled);
  },
  onCreate: (claim) => withPhase(withSameSources(protectedBy(claim, CLAIM_PROTECTION))),
  onUpdate: (claim, _old, subresource) => (subresource === '' ? withSameSources(claim) : claim),
  onDelete: (claim) => unprotected(claim, CLAIM_PROTECTION),
};

/** Source: pkg/apis/core/v1 (SetDefaults_PersistentVolume), pkg/registry/core/persistentvolume. */
export const VOLUME_STRATEGY: Strategy = {
  fillIn: (volume, old) => {
    const spec: JsonObject = {
      persistentVolumeReclaimPolicy: 'Retain',
      volumeMode: 'Filesystem',
      ...objectAt(volume, 'spec'),
    };
    const host = objectAt(spec, 'hostPath');
    if (host !== undefined) spec['hostPath'] = { type: '', ...host };
    const filled = { ...volume, spec };
    return old === undefined ? filled : withPhase(filled);
  },
  onCreate: (volume, now) => ({
    ...protectedBy(volume, VOLUME_PROTECTION),
    status: { phase: 'Pending', lastPhaseTransitionTime: now },
  }),
  onUpdate: (volume, old, subresource, now) =>
    subresource === 'status' ? withPhaseTime(volume, old, now) : volume,
  onDelete: (volume) => unprotected(volume, VOLUME_PROTECTION),
};

/** Sets the time of the last phase change, unless the writer did. */
function withPhaseTime(volume: JsonObject, old: JsonObject, now: string): JsonObject {
  const [status, before] = [objectAt(volume, 'status') ?? {}, objectAt(old, 'status') ?? {}];
  const [sent, known] = [textAt(status, PHASE_TIME), textAt(before, PHASE_TIME)];
  const changed = textAt(status, 'phase') !== textAt(before, 'phase');
  const time = sent !== '' && sent !== known ? sent : changed ? now : known;
  return time === '' ? volume : { ...volume, status: { ...status, [PHASE_TIME]: time } };
}

function withPhase(object: JsonObject): JsonObject {
  const status = objectAt(object, 'status') ?? {};
  return textAt(status, 'phase') === '' ? { ...object, status: { ...status, phase: 'Pending' } } : object;
}

/**
 * `dataSource` and `dataSourceRef` are kept equal; `dataSource` supports two kinds, and others are
 * dropped. Source: pkg/api/persistentvolumeclaim (EnforceDataSourceBackwardsCompatibility,
 * NormalizeDataSources).
 */
function withSameSources(claim: JsonObject): JsonObject {
  const spec = objectAt(claim, 'spec') ?? {};
  const [source, reference] = [objectAt(spec, 'dataSource'), objectAt(spec, 'dataSourceRef')];
  if (reference === undefined && source !== undefined && !isKnownSource(source))
    return { ...claim, spec: withoutKey(spec, 'dataSource') };
  if (textAt(reference, 'namespace') !== '') return claim;
  if (source !== undefined && reference === undefined)
    return { ...claim, spec: { ...spec, dataSourceRef: source } };
  if (reference === undefined || source !== undefined) return claim;
  const { namespace: _namespace, ...named } = reference;
  return { ...claim, spec: { ...spec, dataSource: { apiGroup: null, ...named } } };
}

function isKnownSource(source: JsonObject): boolean {
  const kind = [textAt(source, 'apiGroup'), textAt(source, 'kind')].join('/');
  return kind === '/PersistentVolumeClaim' || kind === 'snapshot.storage.k8s.io/VolumeSnapshot';
}

/** Source: plugin/pkg/admission/storage/storageobjectinuseprotection. */
function protectedBy(object: JsonObject, finalizer: string): JsonObject {
  const metadata = objectAt(object, 'metadata') ?? {};
  const finalizers = listAt(metadata, 'finalizers');
  if (finalizers.includes(finalizer)) return object;
  return { ...object, metadata: { ...metadata, finalizers: [...finalizers, finalizer] } };
}

/**
 * Upstream a controller removes the finalizer when no pod uses the object. Here no pod runs, so it
 * is removed immediately.
 */
function unprotected(object: JsonObject, finalizer: string): JsonObject {
  const { finalizers: _all, ...metadata } = objectAt(object, 'metadata') ?? {};
  const others = listAt(objectAt(object, 'metadata'), 'finalizers').filter((one) => one !== finalizer);
  return { ...object, metadata: others.length === 0 ? metadata : { ...metadata, finalizers: others } };
}

type Quantities = JsonObject;

/**
 * The default limit is `max`, and the default request is the default limit. Source:
 * pkg/apis/core/v1 (SetDefaults_LimitRangeItem).
 */
export const LIMIT_RANGE_STRATEGY: Strategy = {
  fillIn: (range) => {
    const spec = objectAt(range, 'spec') ?? {};
    if (!Array.isArray(getOwn(spec, 'limits'))) return range;
    const limits = listAt(spec, 'limits').map((item) => (isObject(item) ? withLimitDefaults(item) : item));
    return { ...range, spec: { ...spec, limits } };
  },
};

function withLimitDefaults(item: JsonObject): JsonObject {
  if (textAt(item, 'type') !== 'Container') return item;
  const limits: Quantities = { ...objectAt(item, 'max'), ...objectAt(item, 'default') };
  const requests: Quantities = { ...objectAt(item, 'min'), ...limits, ...objectAt(item, 'defaultRequest') };
  const result: JsonObject = { ...item };
  if (Object.keys(limits).length > 0) result['default'] = limits;
  if (Object.keys(requests).length > 0) result['defaultRequest'] = requests;
  return result;
}
