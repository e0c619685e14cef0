import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { isObject, listAt, objectAt, textAt } from '../../json/json-value.ts';

/** Defaults of a pod's spec, as the API server fills them in. */
export function withPodDefaults(spec: JsonObject, restartPolicy = 'Always'): JsonObject {
  const result: JsonObject = {
    dnsPolicy: 'ClusterFirst',
    restartPolicy,
    schedulerName: 'default-scheduler',
    securityContext: {},
    terminationGracePeriodSeconds: 30,
    ...spec,
  };
  for (const field of ['containers', 'initContainers']) {
    if (Array.isArray(spec[field])) result[field] = listAt(spec, field).map(withContainerDefaults);
  }
  if (Array.isArray(spec['volumes'])) result['volumes'] = listAt(spec, 'volumes').map(withVolumeDefaults);
  const account = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount');
  if (account !== '') Object.assign(result, { serviceAccountName: account, serviceAccount: account });
  return result;
}

/** The pod template under `spec.template` of a workload. */
export function withTemplateDefaults(spec: JsonObject, restartPolicy?: string): JsonObject {
  const template = objectAt(spec, 'template');
  const podSpec = objectAt(template, 'spec');
  if (template === undefined || podSpec === undefined) return spec;
  return { ...spec, template: { ...template, spec: withPodDefaults(podSpec, restartPolicy) } };
}

function withContainerDefaults(container: JsonValue): JsonValue {
  if (!isObject(container)) return container;
  const result: JsonObject = {
    imagePullPolicy: pullPolicy(textAt(container, 'image')),
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    ...container,
  };
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const found = objectAt(container, probe);
    if (found !== undefined) result[probe] = withProbeDefaults(found);
  }
  if (Array.isArray(container['env'])) result['env'] = listAt(container, 'env').map(withFieldVersion);
  return result;
}

/** Images without a tag, or with `latest`, are always pulled. */
function pullPolicy(image: string): string {
  const last = image.slice(image.lastIndexOf('/') + 1);
  if (last.includes('@')) return 'IfNotPresent';
  const tag = last.includes(':') ? last.slice(last.indexOf(':') + 1) : 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

function withProbeDefaults(probe: JsonObject): JsonObject {
  const get = objectAt(probe, 'httpGet');
  const result: JsonObject = {
    failureThreshold: 3,
    periodSeconds: 10,
    successThreshold: 1,
    timeoutSeconds: 1,
    ...probe,
  };
  if (get !== undefined) result['httpGet'] = { path: '/', scheme: 'HTTP', ...get };
  return result;
}

function withFieldVersion(variable: JsonValue): JsonValue {
  if (!isObject(variable)) return variable;
  const source = objectAt(variable, 'valueFrom');
  const field = objectAt(source, 'fieldRef');
  if (source === undefined || field === undefined) return variable;
  return { ...variable, valueFrom: { ...source, fieldRef: { apiVersion: 'v1', ...field } } };
}

const MODES = ['configMap', 'secret', 'downwardAPI', 'projected'];

function withVolumeDefaults(volume: JsonValue): JsonValue {
  if (!isObject(volume)) return volume;
  const result: JsonObject = { ...volume };
  for (const source of MODES) {
    const found = objectAt(volume, source);
    if (found !== undefined) result[source] = { defaultMode: 420, ...found };
  }
  return result;
}
