import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { isObject, listAt, objectAt } from '../../json/json-value.ts';
import type { Strategy } from './strategy.ts';

/** Services get the defaults people rely on. No address is allocated: nothing routes here. */
export const SERVICE_STRATEGY: Strategy = {
  fillIn: (object) => {
    const spec = objectAt(object, 'spec');
    if (spec === undefined) return object;
    const filled: JsonObject = { sessionAffinity: 'None', type: 'ClusterIP', ...spec };
    if (filled['type'] !== 'ExternalName') filled['internalTrafficPolicy'] ??= 'Cluster';
    if (Array.isArray(spec['ports'])) filled['ports'] = listAt(spec, 'ports').map(withTarget);
    return { ...object, spec: filled };
  },
  onCreate: (object) => ({ ...object, status: { loadBalancer: {} } }),
};

function withTarget(port: JsonValue): JsonValue {
  if (!isObject(port) || port['port'] === undefined) return port;
  return { protocol: 'TCP', targetPort: port['port'], ...port };
}
