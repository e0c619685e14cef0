import { describe, expect, it } from 'vitest';
import type { LooseJson } from '../../../../packages/embedded-hub/test/loose-json.ts';
import { PipelineStore } from '../../../../packages/embedded-hub/test/write/pipeline-store.ts';

const MERGE = 'application/merge-patch+json';
const APPS = '/apis/apps/v1/namespaces/ns';
const JOBS = '/apis/batch/v1/namespaces/ns/jobs';
const PODS = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } };
const WORKLOAD = { metadata: { name: 'w' }, spec: { selector: { matchLabels: { a: 'b' } }, template: PODS } };
const job = (spec: object = {}): object => ({
  metadata: { name: 'w' },
  spec: {
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i:1' }] } },
    ...spec,
  },
});

function made(path: string, body: object): { readonly store: PipelineStore; readonly object: LooseJson } {
  const store = new PipelineStore();
  const { status, body: object } = store.send('POST', path, body);
  expect(status, JSON.stringify(object)).toBe(201);
  return { store, object: object as LooseJson };
}

describe('the numbers in a status', () => {
  it.each([
    { kind: 'deployments', fresh: {} },
    { kind: 'replicasets', fresh: { replicas: 0 } },
    { kind: 'statefulsets', fresh: { replicas: 0, availableReplicas: 0 } },
    {
      kind: 'daemonsets',
      fresh: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
    },
  ])('of new $kind are the ones that Kubernetes always writes', ({ kind, fresh }) => {
    const { object } = made(`${APPS}/${kind}`, WORKLOAD);
    expect(object.status).toEqual(fresh);
  });

  it.each([
    {
      path: `${APPS}/deployments`,
      body: WORKLOAD,
      sent: { replicas: 2, readyReplicas: 0, availableReplicas: 0, collisionCount: 0 },
      kept: { replicas: 2, collisionCount: 0 },
    },
    {
      path: `${APPS}/statefulsets`,
      body: WORKLOAD,
      sent: { replicas: 1, readyReplicas: 0, currentReplicas: 1 },
      kept: { replicas: 1, availableReplicas: 0, currentReplicas: 1 },
    },
    { path: JOBS, body: job(), sent: { active: 0, ready: 0, failed: 1 }, kept: { ready: 0, failed: 1 } },
  ])('that are 0 are left out of $path where Kubernetes does', ({ path, body, sent, kept }) => {
    const { store } = made(path, body);
    const { body: object } = store.send('PATCH', `${path}/w/status`, { status: sent }, MERGE);
    expect((object as LooseJson).status).toEqual(kept);
  });
});

describe('a Job', () => {
  it.each([
    {
      name: 'another image',
      change: { template: { spec: { containers: [{ name: 'c', image: 'i:2' }] } } },
      message: 'spec.template: Invalid value',
    },
    { name: 'other completions', change: { completions: 3 }, message: 'spec.completions: Invalid value: 3' },
    {
      name: 'another mode',
      change: { completionMode: 'Indexed', completions: 1 },
      message: 'spec.completionMode: Invalid value',
    },
    {
      name: 'another selector',
      change: { selector: { matchLabels: { a: 'c' } } },
      message: 'spec.selector: Invalid value',
    },
  ])('refuses $name', ({ change, message }) => {
    const { store } = made(JOBS, job());
    const answer = store.send('PATCH', `${JOBS}/w`, { spec: change }, MERGE);
    expect(answer.status).toBe(422);
    expect(answer.body['message']).toContain(message);
    expect(answer.body['message']).toContain('field is immutable');
  });

  it('refuses to be replaced without its generated selector', () => {
    const { store } = made(JOBS, job());
    const answer = store.send('PUT', `${JOBS}/w`, job({ parallelism: 3, completions: 1 }));
    expect(answer.status).toBe(422);
    expect(answer.body['message']).toContain('spec.selector: Required value');
  });

  it.each([
    { name: 'parallelism', of: {}, change: { parallelism: 3 } },
    { name: 'being suspended', of: {}, change: { suspend: true } },
    {
      name: 'completions together with parallelism when it is Indexed',
      of: { completionMode: 'Indexed', completions: 2, parallelism: 2 },
      change: { completions: 4, parallelism: 4 },
    },
    {
      name: 'where its pods may run before it has started',
      of: { suspend: true },
      change: { template: { spec: { nodeSelector: { zone: 'a' } } } },
    },
  ])('lets $name change', ({ of, change }) => {
    const { store } = made(JOBS, job(of));
    const answer = store.send('PATCH', `${JOBS}/w`, { spec: change }, MERGE);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect((answer.body as LooseJson).spec).toMatchObject(change);
  });

  it('refuses other places for its pods once it has started', () => {
    const { store } = made(JOBS, job({ suspend: true }));
    const status = { startTime: '2026-01-01T00:00:00Z' };
    store.send('PATCH', `${JOBS}/w/status`, { status }, MERGE);
    const change = { spec: { template: { spec: { nodeSelector: { zone: 'a' } } } } };
    expect(store.send('PATCH', `${JOBS}/w`, change, MERGE).status).toBe(422);
  });
});

describe('classes', () => {
  const PRIORITY = '/apis/scheduling.k8s.io/v1/priorityclasses';
  const STORAGE = '/apis/storage.k8s.io/v1/storageclasses';

  it.each([
    {
      path: PRIORITY,
      body: { metadata: { name: 'c' }, value: 1 },
      change: { value: 2 },
      message: 'value: Forbidden: may not be changed in an update.',
    },
    {
      path: PRIORITY,
      body: { metadata: { name: 'c' }, value: 1 },
      change: { preemptionPolicy: 'Never' },
      message: 'preemptionPolicy: Invalid value: "Never": field is immutable',
    },
    {
      path: STORAGE,
      body: { metadata: { name: 'c' }, provisioner: 'a.example.com' },
      change: { provisioner: 'b.example.com' },
      message: 'provisioner: Forbidden: updates to provisioner are forbidden.',
    },
    {
      path: STORAGE,
      body: { metadata: { name: 'c' }, provisioner: 'a.example.com' },
      change: { reclaimPolicy: 'Retain' },
      message: 'reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.',
    },
  ])('of $path refuse $change', ({ path, body, change, message }) => {
    const { store } = made(path, body);
    const answer = store.send('PATCH', `${path}/c`, change, MERGE);
    expect(answer.status).toBe(422);
    expect(answer.body['message']).toContain(message);
    expect(store.send('PATCH', `${path}/c`, { metadata: { labels: { a: 'b' } } }, MERGE).status).toBe(200);
  });
});
