import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { deepEqual, getOwn, isObject, listAt, objectAt, textAt } from '../../json/json-value.ts';
import { withoutOldType } from './service-type-change.ts';
import type { Strategy } from './strategy.ts';

/** Services get the defaults people rely on. No address is allocated: nothing routes here. */
export const SERVICE_STRATEGY: Strategy = {
  fillIn: (object, old) => {
    const spec = objectAt(object, 'spec') ?? {};
    const filled: JsonObject = {
      sessionAffinity: 'None',
      ...spec,
      type: textAt(spec, 'type') || 'ClusterIP',
    };
    if (filled['type'] !== 'ExternalName') filled['internalTrafficPolicy'] ??= 'Cluster';
    fillInAddresses(filled, objectAt(old, 'spec'));
    if (Array.isArray(spec['ports'])) filled['ports'] = listAt(spec, 'ports').map(withTarget);
    const service = { ...object, spec: filled };
    return old === undefined ? service : withoutOldType(service, old);
  },
  onCreate: (object) => ({ ...object, status: { loadBalancer: {} } }),
};

function withTarget(port: JsonValue): JsonValue {
  if (!isObject(port) || port['port'] === undefined) return port;
  return { protocol: 'TCP', targetPort: port['port'], ...port };
}

/**
 * `clusterIP` and `clusterIPs` say the same, and an update that leaves them out keeps them.
 * Source: pkg/registry/core/service/storage (normalizeClusterIPs, patchAllocatedValues).
 */
function fillInAddresses(spec: JsonObject, old: JsonObject | undefined): void {
  const before = old === undefined || textAt(old, 'type') === 'ExternalName' ? undefined : old;
  const kept = textAt(before, 'clusterIP');
  const sent = textAt(spec, 'clusterIP');
  const unchanged = deepEqual(getOwn(spec, 'clusterIPs'), getOwn(before ?? {}, 'clusterIPs'));
  if (kept !== '' && sent !== kept && unchanged) delete spec['clusterIPs'];
  const allocates = spec['type'] !== 'ExternalName';
  if (allocates && sent === '' && kept !== '' && listAt(spec, 'clusterIPs').length === 0) {
    spec['clusterIP'] = kept;
    spec['clusterIPs'] = [...listAt(before, 'clusterIPs')];
  } else if (sent !== '' && listAt(spec, 'clusterIPs').length === 0) spec['clusterIPs'] = [sent];
}
