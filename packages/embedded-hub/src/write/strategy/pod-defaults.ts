import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { isObject, listAt, objectAt, textAt } from '../../json/json-value.ts';
import { withClaimDefaults } from './storage-strategies.ts';

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
  // An empty text counts as missing.
  if (result['dnsPolicy'] === '') result['dnsPolicy'] = 'ClusterFirst';
  if (result['restartPolicy'] === '') result['restartPolicy'] = restartPolicy;
  if (result['schedulerName'] === '') result['schedulerName'] = 'default-scheduler';
  for (const field of ['containers', 'initContainers', 'ephemeralContainers']) {
    if (Array.isArray(spec[field])) result[field] = listAt(spec, field).map(withContainerDefaults);
  }
  if (Array.isArray(spec['volumes'])) result['volumes'] = listAt(spec, 'volumes').map(withVolumeDefaults);
  const account = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount');
  if (account !== '') Object.assign(result, { serviceAccountName: account, serviceAccount: account });
  return result;
}

/** Defaults of pods that templates of pods do not get. Source: pkg/apis/core/v1 (SetDefaults_Pod). */
export function withOwnPodDefaults(spec: JsonObject): JsonObject {
  const onHost = spec['hostNetwork'] === true;
  const result: JsonObject = { enableServiceLinks: true, ...spec };
  for (const field of ['containers', 'initContainers']) {
    if (!Array.isArray(spec[field])) continue;
    result[field] = listAt(spec, field).map((container) => {
      if (!isObject(container)) return container;
      const requested = withRequests(container);
      return onHost ? withHostPorts(requested) : requested;
    });
  }
  return result;
}

/** The default request of a container is its limit. */
function withRequests(container: JsonObject): JsonObject {
  const resources = objectAt(container, 'resources');
  const limits = objectAt(resources, 'limits');
  if (limits === undefined) return container;
  const requests = { ...limits, ...objectAt(resources, 'requests') };
  return { ...container, resources: { ...resources, requests } };
}

function withHostPorts(container: JsonObject): JsonObject {
  if (!Array.isArray(container['ports'])) return container;
  const ports = listAt(container, 'ports').map((port) =>
    isObject(port) && (port['hostPort'] ?? 0) === 0 && typeof port['containerPort'] === 'number'
      ? { ...port, hostPort: port['containerPort'] }
      : port,
  );
  return { ...container, ports };
}

/** The pod template under `spec.template` of a workload. */
export function withTemplateDefaults(spec: JsonObject, restartPolicy?: string): JsonObject {
  const template = objectAt(spec, 'template');
  const podSpec = objectAt(template, 'spec');
  if (template === undefined || podSpec === undefined) return spec;
  return { ...spec, template: { ...template, spec: withPodDefaults(podSpec, restartPolicy) } };
}

/** Labels of the pod template in a workload's spec. */
export function templateLabels(spec: JsonObject | undefined): JsonObject | undefined {
  return objectAt(objectAt(objectAt(spec, 'template'), 'metadata'), 'labels');
}

/** A workload without labels gets those of its template. */
export function withLabelsOfTemplate(object: JsonObject): JsonObject {
  const labels = templateLabels(objectAt(object, 'spec'));
  const metadata = objectAt(object, 'metadata') ?? {};
  const labelled = Object.keys(objectAt(metadata, 'labels') ?? {}).length > 0;
  return labels === undefined || labelled ? object : { ...object, metadata: { ...metadata, labels } };
}

const LOG_PATH = '/dev/termination-log';

function withContainerDefaults(container: JsonValue): JsonValue {
  if (!isObject(container)) return container;
  const pull = pullPolicy(textAt(container, 'image'));
  const result: JsonObject = {
    imagePullPolicy: pull,
    resources: {},
    terminationMessagePath: LOG_PATH,
    terminationMessagePolicy: 'File',
    ...container,
  };
  if (result['imagePullPolicy'] === '') result['imagePullPolicy'] = pull;
  if (result['terminationMessagePath'] === '') result['terminationMessagePath'] = LOG_PATH;
  if (result['terminationMessagePolicy'] === '') result['terminationMessagePolicy'] = 'File';
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const found = objectAt(container, probe);
    if (found !== undefined) result[probe] = withProbeDefaults(found);
  }
  const lifecycle = objectAt(container, 'lifecycle');
  if (lifecycle !== undefined) result['lifecycle'] = withLifecycleDefaults(lifecycle);
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
  return withRequestDefaults({
    failureThreshold: 3,
    periodSeconds: 10,
    successThreshold: 1,
    timeoutSeconds: 1,
    ...probe,
  });
}

function withRequestDefaults(handler: JsonObject): JsonObject {
  const get = objectAt(handler, 'httpGet');
  return get === undefined ? handler : { ...handler, httpGet: { path: '/', scheme: 'HTTP', ...get } };
}

function withLifecycleDefaults(lifecycle: JsonObject): JsonObject {
  const result: JsonObject = { ...lifecycle };
  for (const moment of ['postStart', 'preStop']) {
    const handler = objectAt(lifecycle, moment);
    if (handler !== undefined) result[moment] = withRequestDefaults(handler);
  }
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

/** Source: pkg/apis/core/v1 (SetDefaults_Volume and those of its sources). */
function withVolumeDefaults(volume: JsonValue): JsonValue {
  if (!isObject(volume)) return volume;
  const result: JsonObject = { ...volume };
  for (const source of MODES) {
    const found = objectAt(volume, source);
    if (found !== undefined) result[source] = { defaultMode: 420, ...found };
  }
  const [labels, projected, host, image, claim] = [
    objectAt(result, 'downwardAPI'),
    objectAt(result, 'projected'),
    objectAt(volume, 'hostPath'),
    objectAt(volume, 'image'),
    objectAt(objectAt(volume, 'ephemeral'), 'volumeClaimTemplate'),
  ];
  if (labels !== undefined) result['downwardAPI'] = withFieldVersions(labels);
  if (Array.isArray(projected?.['sources']))
    result['projected'] = { ...projected, sources: listAt(projected, 'sources').map(withSourceDefaults) };
  if (host !== undefined) result['hostPath'] = { type: '', ...host };
  if (image !== undefined) result['image'] = { pullPolicy: pullPolicy(textAt(image, 'reference')), ...image };
  if (claim !== undefined)
    result['ephemeral'] = {
      ...objectAt(volume, 'ephemeral'),
      volumeClaimTemplate: { ...claim, spec: withClaimDefaults(objectAt(claim, 'spec') ?? {}) },
    };
  const hasSource = Object.entries(volume).some(([key, value]) => key !== 'name' && isObject(value));
  if (!hasSource) result['emptyDir'] = {};
  return result;
}

function withSourceDefaults(source: JsonValue): JsonValue {
  if (!isObject(source)) return source;
  const token = objectAt(source, 'serviceAccountToken');
  const labels = objectAt(source, 'downwardAPI');
  return {
    ...source,
    ...(token !== undefined && { serviceAccountToken: { expirationSeconds: 3600, ...token } }),
    ...(labels !== undefined && { downwardAPI: withFieldVersions(labels) }),
  };
}

function withFieldVersions(labels: JsonObject): JsonObject {
  if (!Array.isArray(labels['items'])) return labels;
  const items = labels['items'].map((item) => {
    const field = isObject(item) ? objectAt(item, 'fieldRef') : undefined;
    return isObject(item) && field !== undefined
      ? { ...item, fieldRef: { apiVersion: 'v1', ...field } }
      : item;
  });
  return { ...labels, items };
}
