import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { type Measure, provideScores } from '../../src/scores/provide-scores.ts';
import { ADDON_PLACEMENT_SCORE } from '@berth/kube/model/kinds';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const METRICS = '/apis/metrics.k8s.io/v1beta1';

/**
 * The API of a cluster as its documentation has it: lists and watches of nodes and pods, and what metrics-server serves through the
 * aggregation layer. Two nodes with 56 CPUs and 535 GiB together; pods request 6 CPUs of them.
 */
class ClusterServer {
  readonly asked: string[] = [];
  /** Answers what is below the path of metrics.k8s.io. */
  metrics: (path: string, response: ServerResponse) => void = (_path, response) => notFound(response);
  readonly #server: Server;

  constructor() {
    this.#server = createServer(({ url = '' }, response) => {
      const { pathname: path, searchParams } = new URL(url, 'http://x');
      if (path.startsWith(METRICS)) {
        this.asked.push(path);
        this.metrics(path, response);
      } else if (path !== '/api/v1/nodes' && path !== '/api/v1/pods') notFound(response);
      else if (searchParams.get('watch') !== null && searchParams.get('watch') !== 'false')
        // Nothing ever changes.
        response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
      else if (path === '/api/v1/nodes')
        json(response, list('NodeList', [node('n1', '50', '500Gi'), node('n2', '6', '35Gi')]));
      else json(response, list('PodList', [POD]));
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

const POD = {
  metadata: { namespace: 'a', name: 'p', uid: 'p', resourceVersion: '1' },
  spec: { containers: [{ name: 'c', resources: { requests: { cpu: '6' } } }] },
  status: { phase: 'Running' },
};

function node(name: string, cpu: string, memory: string): object {
  return { metadata: { name, uid: name, resourceVersion: '1' }, status: { allocatable: { cpu, memory } } };
}

function list(kind: string, items: readonly object[], apiVersion = 'v1'): object {
  return { apiVersion, kind, metadata: { resourceVersion: '1' }, items };
}

function json(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function notFound(response: ServerResponse): void {
  json(response, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 }, 404);
}

/** metrics-server: its discovery, and the usage of nodes. */
function serving(items: () => readonly object[]): ClusterServer['metrics'] {
  return (path, response) => {
    if (path === METRICS)
      json(response, {
        kind: 'APIResourceList',
        apiVersion: 'v1',
        groupVersion: 'metrics.k8s.io/v1beta1',
        resources: [
          { name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs: ['get', 'list'] },
          { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] },
        ],
      });
    else json(response, list('NodeMetricsList', items(), 'metrics.k8s.io/v1beta1'));
  };
}

function usage(name: string, cpu: string, agoMs = 0): object {
  const timestamp = new Date(Date.now() - agoMs).toISOString().replace(/\.\d+Z$/, 'Z');
  return { metadata: { name }, timestamp, window: '10.062s', usage: { cpu, memory: '0' } };
}

describe('scores of a cluster by its API', () => {
  let server: ClusterServer;
  let hub: FakeKubeApi;
  let log: SilentLogger;
  let stop: AbortController;
  let running: Promise<void> | undefined;
  let api: HttpKubeApi | undefined;

  beforeEach(() => {
    [server, hub, log, stop] = [
      new ClusterServer(),
      new FakeKubeApi(),
      new SilentLogger(),
      new AbortController(),
    ];
  });
  afterEach(async () => {
    stop.abort();
    api?.close();
    await running;
    await server.close();
  });

  const provide = async (measure: Measure): Promise<void> => {
    const url = await server.listen();
    const config = loadKubeConfig({
      text: JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'c', cluster: { server: url } }],
        users: [{ name: 'u', user: {} }],
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'c',
      }),
    });
    // A server that never answers is given up soon.
    api = new HttpKubeApi({ config, clock: systemClock, requestTimeoutMs: 500 });
    running = provideScores(
      {
        ...{ hub, cluster: api, clusterName: 'c1', scoreName: 'usage', measure, log },
        ...{ refreshMs: 50, validMs: 300_000, clock: systemClock, random: () => 0 },
      },
      stop.signal,
    );
  };
  const values = async (): Promise<readonly number[] | undefined> => {
    const found = await hub.get(ADDON_PLACEMENT_SCORE, { namespace: 'c1', name: 'usage' });
    const status = found?.['status'] as { scores: readonly { value: number }[] } | undefined;
    return status?.scores.map(({ value }) => value);
  };
  const asksAgain = async (): Promise<void> => {
    const before = server.asked.length;
    await expect.poll(() => server.asked.length).toBeGreaterThan(before + 1);
  };

  it('are what pods do not request', async () => {
    await provide('requests');
    await expect.poll(values).toEqual([0, 4]);
    expect(server.asked).toEqual([]);
  });

  it.each<Measure>(['metrics', 'auto'])('are what nodes do not use: %s, and follow it', async (measure) => {
    let used = '25500000000n';
    server.metrics = serving(() => [usage('n1', used), usage('n2', '500m')]);
    await provide(measure);
    await expect.poll(values).toEqual([-40, 4]);
    used = '5500m';
    await expect.poll(values).toEqual([0, 4]);
  });

  it('are what pods do not request where there is no metrics-server, with auto', async () => {
    await provide('auto');
    await expect.poll(values).toEqual([0, 4]);
  });

  it.each<{ name: string; metrics: ClusterServer['metrics']; measure: Measure }>([
    {
      name: 'is not there, and nothing else counts',
      metrics: (_path, response) => notFound(response),
      measure: 'metrics',
    },
    {
      name: 'is down',
      metrics: (_path, response) => json(response, { kind: 'Status', status: 'Failure', code: 503 }, 503),
      measure: 'auto',
    },
    { name: 'never answers', metrics: () => undefined, measure: 'auto' },
    { name: 'hangs up', metrics: (_path, response) => void response.destroy(), measure: 'auto' },
    { name: 'knows one of two nodes', metrics: serving(() => [usage('n1', '1')]), measure: 'auto' },
    {
      name: 'tells of yesterday',
      metrics: serving(() => [usage('n1', '1', 86_400_000), usage('n2', '1')]),
      measure: 'auto',
    },
    {
      name: 'tells nonsense',
      metrics: serving(() => [usage('n1', 'a lot'), usage('n2', '1')]),
      measure: 'auto',
    },
    { name: 'has an empty list', metrics: serving(() => []), measure: 'auto' },
  ])('are not written while metrics-server $name; then they are', async ({ metrics, measure }) => {
    server.metrics = metrics;
    await provide(measure);
    await asksAgain();
    expect(await values()).toBeUndefined();
    server.metrics = serving(() => [usage('n1', '5500m'), usage('n2', '500m')]);
    await expect.poll(values).toEqual([0, 4]);
  });
});
