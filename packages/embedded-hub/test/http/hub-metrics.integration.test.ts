import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HubMetrics } from '../../src/http/hub-metrics.ts';
import type { TestHub } from '../hub-harness.ts';
import { startTestHub } from '../hub-harness.ts';

const list = {
  kind: 'resource',
  verb: 'list',
  method: 'GET',
  path: '/api/v1/pods',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: '',
  name: '',
  rest: '',
} as const;

describe('the text of the metrics', () => {
  it('has cumulative buckets, a sum and a count, of requests before and after the client is loaded', async () => {
    const metrics = new HubMetrics({
      clusters: () => [{ name: '', objects: 3, resourceVersion: 7, logBytes: 11 }],
      levels: () => [
        {
          name: 'workload',
          executing: 2,
          waiting: 5,
          bodyBytes: 64,
          watches: 4,
          rejected: new Map([['queue-full', 9]]),
        },
      ],
      connections: () => ({ count: 6, unidentified: 1, refused: 8 }),
    });
    for (const durationMs of [0.5, 4, 4]) metrics.observe(list, { code: 200, durationMs, allowed: true });
    await metrics.render();
    metrics.observe(list, { code: 200, durationMs: 60_000, allowed: true });
    metrics.observe({ ...list, verb: 'watch' }, { code: 200, durationMs: 1e9, allowed: true });
    const { text } = await metrics.render();
    expect(text.split('\n')).toEqual(
      expect.arrayContaining([
        '# TYPE apiserver_request_total counter',
        'apiserver_request_total{verb="list",group="",resource="pods",subresource="",code="200"} 4',
        'apiserver_request_total{verb="watch",group="",resource="pods",subresource="",code="200"} 1',
        '# TYPE apiserver_request_duration_seconds histogram',
        'apiserver_request_duration_seconds_bucket{le="0.001",verb="list"} 1',
        'apiserver_request_duration_seconds_bucket{le="0.005",verb="list"} 3',
        'apiserver_request_duration_seconds_bucket{le="10",verb="list"} 3',
        'apiserver_request_duration_seconds_bucket{le="+Inf",verb="list"} 4',
        'apiserver_request_duration_seconds_count{verb="list"} 4',
        'berth_hub_objects{cluster="hub"} 3',
        'berth_hub_resource_version{cluster="hub"} 7',
        'berth_hub_log_bytes{cluster="hub"} 11',
        'apiserver_flowcontrol_current_executing_seats{priority_level="workload"} 2',
        'apiserver_flowcontrol_current_inqueue_requests{priority_level="workload"} 5',
        'apiserver_flowcontrol_rejected_requests_total{priority_level="workload",reason="queue-full"} 9',
        'berth_hub_body_bytes{priority_level="workload"} 64',
        'berth_hub_watches{priority_level="workload"} 4',
        'berth_hub_connections 6',
        'berth_hub_unrecognised_connections 1',
        'berth_hub_dropped_connections_total 8',
      ]),
    );
    expect(text).not.toMatch(/duration_seconds_bucket\{[^}]*verb="watch"/);
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
    expect(text.endsWith('\n')).toBe(true);
  });
});

describe('what becomes a label', () => {
  let hub: TestHub;
  beforeAll(async () => {
    hub = await startTestHub();
  });
  afterAll(() => hub.stop());

  it('is what is served to those who may see it, not what strangers ask for', async () => {
    await hub.call('GET', '/apis/invented.example.com/v1/anonymous', { token: null });
    await hub.call('GET', '/apis/invented.example.com/v1/absent');
    const headers = { 'impersonate-user': 'nobody' };
    expect((await hub.call('GET', '/apis/invented.example.com/v1/forbidden', { headers })).status).toBe(403);
    await hub.call('GET', '/api/v1/configmaps');
    const { text, headers: answered } = await hub.call('GET', '/metrics');
    expect(answered['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toContain(
      'apiserver_request_total{verb="list",group="",resource="configmaps",subresource="",code="200"} 1',
    );
    for (const code of [401, 403, 404])
      expect(text).toContain(
        `apiserver_request_total{verb="list",group="",resource="",subresource="",code="${String(code)}"} 1`,
      );
    expect(text).not.toContain('invented');
  });
});
