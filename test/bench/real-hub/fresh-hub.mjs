import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { systemClock } from '../../../.cache/modules/packages/runtime/src/clock/system-clock.js';
import { loadKubeConfig } from '../../../.cache/modules/packages/kube/src/config/load-kube-config.js';
import { HttpKubeApi } from '../../../.cache/modules/packages/kube/src/http-kube-api.js';
import { NAMESPACE } from '../../../.cache/modules/packages/kube/src/model/kinds.js';
import { startControlPlane } from '../../interop/peers/control-plane.ts';
import { ocmCrds } from '../../../.cache/modules/packages/ocm/src/definition/ocm-crds.js';
import { findProcess, processorTimeMs } from './processor-time.mjs';

const IN_FLIGHT = 32;
/** OCM's programs look for events and leases here. */
const OCM_NAMESPACES = ['open-cluster-management-hub', 'open-cluster-management-agent'];

/** etcd and kube-apiserver that have just started, with OCM's definitions, and the client that drives a contest. */
export async function startFreshHub() {
  const plane = await startControlPlane();
  const api = new HttpKubeApi({ config: loadKubeConfig({ file: plane.kubeconfig }), clock: systemClock, maxRequests: IN_FLIGHT, userAgent: 'bench' });
  const hub = new FreshHub(plane, api);
  try {
    await hub.install();
  } catch (error) {
    await hub.close();
    throw error;
  }
  return hub;
}

class FreshHub {
  /** Writes that the driver itself made. */
  driven = 0;
  #limit = pLimit(IN_FLIGHT);

  constructor(plane, api) {
    this.api = api;
    this.plane = plane;
    this.kubeconfig = plane.kubeconfig;
    this.server = findProcess('kube-apiserver', `--secure-port=${new URL(plane.url).port}`);
    this.etcd = findProcess('etcd', `--data-dir=${join(dirname(plane.kubeconfig), 'etcd')}`);
  }

  async install() {
    const call = async (method, path, body) => (await this.plane.client.call(method, path, body)).status;
    for (const crd of ocmCrds()) await call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
    for (const { spec } of ocmCrds())
      for (const { name } of spec.versions)
        while ((await call('GET', `/apis/${spec.group}/${name}/${spec.names.plural}`)) !== 200) await sleep(100);
    for (const name of OCM_NAMESPACES) await this.create(NAMESPACE, [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }]);
  }

  async close() {
    this.api.close();
    await this.plane.stop();
  }

  /** All of them, 32 at a time. */
  async create(kind, objects) {
    await Promise.all(objects.map((object) => this.#limit(() => this.api.create(kind, object, { metadataOnly: true }))));
    this.driven += objects.length;
  }

  async patch(kind, key, patch) {
    await this.api.mergePatch(kind, key, patch, { metadataOnly: true });
    this.driven += 1;
  }

  /** Milliseconds of processor time so far. @param contestant the id of its process */
  processorTimes(contestant) {
    return { contestant: processorTimeMs(contestant), server: processorTimeMs(this.server), etcd: processorTimeMs(this.etcd) };
  }

  /** Writes that the server has accepted, from everybody but the driver and without leases: `{ 'POST placements': 1000, … }`. */
  async writes() {
    const { body } = await this.plane.client.call('GET', '/metrics');
    const counts = {};
    for (const line of body.split('\n')) {
      if (!line.startsWith('apiserver_request_total{') || !/code="2/.test(line)) continue;
      const label = (name) => new RegExp(`[{,]${name}="([^"]*)"`).exec(line)[1];
      if (!WRITES.has(label('verb')) || label('resource') === 'leases') continue;
      const what = [label('verb'), label('resource'), label('subresource')].filter((part) => part !== '').join(' ');
      counts[what] = (counts[what] ?? 0) + Number(line.slice(line.lastIndexOf(' ') + 1));
    }
    return counts;
  }
}

const WRITES = new Set(['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE']);
