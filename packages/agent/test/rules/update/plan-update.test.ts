import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { objectToCreate, planUpdate } from '../../../src/rules/update/plan-update.ts';

const OWNER = {
  apiVersion: 'work.open-cluster-management.io/v1',
  kind: 'AppliedManifestWork',
  name: 'hash-web',
  uid: 'uid-1',
};
const OWNED = { reference: OWNER, owned: true };
const digest = (text: string): string => `digest-${text.length}`;

function object(apiVersion: string, kind: string, content: object, metadata: object = {}): KubeObject {
  return { apiVersion, kind, metadata: { name: 'x', namespace: 'default', ...metadata }, ...content };
}

const live = (apiVersion: string, kind: string, content: object, metadata: object = {}): KubeObject =>
  object(apiVersion, kind, content, {
    uid: 'u',
    resourceVersion: '7',
    ownerReferences: [OWNER],
    ...metadata,
  });

const RULES = 'rbac.authorization.k8s.io/v1';

describe('content by kind', () => {
  it.each([
    {
      name: 'a ConfigMap loses keys that left',
      live: live('v1', 'ConfigMap', { data: { x: '1', y: '1' } }),
      manifest: object('v1', 'ConfigMap', { data: { x: '2' } }),
      want: { data: { x: '2' } },
    },
    {
      name: 'a ConfigMap keeps an injected bundle',
      live: live(
        'v1',
        'ConfigMap',
        { data: { 'ca-bundle.crt': 'i', y: '1' } },
        {
          labels: { 'config.openshift.io/inject-trusted-cabundle': 'true' },
        },
      ),
      manifest: object(
        'v1',
        'ConfigMap',
        { data: { x: '2' } },
        {
          labels: { 'config.openshift.io/inject-trusted-cabundle': 'true' },
        },
      ),
      want: { data: { x: '2', 'ca-bundle.crt': 'i' } },
    },
    {
      name: 'a ServiceAccount keeps everything but metadata',
      live: live('v1', 'ServiceAccount', { imagePullSecrets: [{ name: 'one' }] }),
      manifest: object(
        'v1',
        'ServiceAccount',
        { imagePullSecrets: [{ name: 'two' }] },
        { labels: { l: '1' } },
      ),
      want: { imagePullSecrets: [{ name: 'one' }] },
    },
    {
      name: 'an aggregated ClusterRole keeps its live rules',
      live: live(RULES, 'ClusterRole', { aggregationRule: { a: 1 }, rules: [{ verbs: ['get'] }] }),
      manifest: object(RULES, 'ClusterRole', { aggregationRule: { a: 2 }, rules: [] }),
      want: { aggregationRule: { a: 2 }, rules: [{ verbs: ['get'] }] },
    },
    {
      name: 'a Service keeps the addresses it was given',
      live: live('v1', 'Service', { spec: { clusterIP: '10.0.0.1', ports: [{ port: 80 }] } }),
      manifest: object('v1', 'Service', { spec: { ports: [{ port: 81 }] } }),
      want: { spec: { clusterIP: '10.0.0.1', ports: [{ port: 81 }] } },
    },
    {
      name: 'a webhook keeps an injected bundle',
      live: live('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', {
        webhooks: [{ name: 'a', clientConfig: { url: 'u', caBundle: 'i' } }],
      }),
      manifest: object('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', {
        webhooks: [{ name: 'a', clientConfig: { url: 'v' } }],
      }),
      want: { webhooks: [{ name: 'a', clientConfig: { url: 'v', caBundle: 'i' } }] },
    },
    {
      name: 'any other kind becomes the manifest',
      live: live('apps/v1', 'Deployment', { spec: { replicas: 4, paused: true } }),
      manifest: object('apps/v1', 'Deployment', { spec: { replicas: 2 } }),
      want: { spec: { replicas: 2 } },
    },
    {
      name: 'a kind of the same name in another group has no special rule',
      live: live('example.com/v1', 'ConfigMap', { data: { x: '1' }, other: 1 }),
      manifest: object('example.com/v1', 'ConfigMap', { data: { x: '2' } }),
      want: { data: { x: '2' } },
    },
  ])('$name', ({ live: before, manifest, want }) => {
    const plan = planUpdate(before, manifest, OWNED, digest);
    expect(plan.action).toBe('update');
    if (plan.action !== 'update') return;
    const { metadata: _metadata, apiVersion: _version, kind: _kind, ...content } = plan.object;
    expect(content).toEqual(want);
    expect(plan.object.metadata.resourceVersion).toBe('7');
  });

  it.each([
    { name: 'the type', before: { type: 'Opaque' }, wanted: { type: 'kubernetes.io/tls' } },
    { name: 'the type, given up', before: { type: 'kubernetes.io/tls' }, wanted: {} },
  ])('a Secret that changes $name is made again', ({ before, wanted }) => {
    const plan = planUpdate(live('v1', 'Secret', before), object('v1', 'Secret', wanted), OWNED, digest);
    expect(plan.action).toBe('recreate');
  });

  it('stringData is folded into data, a key in both is refused', () => {
    const manifest = object('v1', 'Secret', { stringData: { user: 'ü' } });
    const plan = planUpdate(live('v1', 'Secret', { type: 'Opaque' }), manifest, OWNED, digest);
    expect(plan).toMatchObject({ action: 'update', object: { data: { user: 'w7w=' } } });
    const clash = object('v1', 'Secret', { data: { user: 'eA==' }, stringData: { user: 'x' } });
    expect(() => planUpdate(live('v1', 'Secret', {}), clash, OWNED, digest)).toThrow(
      'is in data and in stringData',
    );
  });
});

describe('metadata', () => {
  const plan = (before: object, manifest: object, owned = true): KubeObject | 'none' => {
    const result = planUpdate(
      live('v1', 'ConfigMap', { data: {} }, before),
      object('v1', 'ConfigMap', { data: {} }, manifest),
      { reference: OWNER, owned },
      digest,
    );
    return result.action === 'none' ? 'none' : result.object;
  };

  it('labels and annotations are merged, the manifest wins', () => {
    const got = plan({ labels: { a: '1', b: '1' } }, { labels: { a: '2' }, annotations: { n: '1' } });
    expect(got).toMatchObject({ metadata: { labels: { a: '2', b: '1' }, annotations: { n: '1' } } });
  });

  it('live finalizers stay, those of the manifest count at creation only', () => {
    const got = plan({ finalizers: ['theirs'] }, { finalizers: ['ours'], labels: { a: '1' } });
    expect(got).toMatchObject({ metadata: { finalizers: ['theirs'] } });
    const manifest = object(
      'v1',
      'ConfigMap',
      {},
      { finalizers: ['ours'], ownerReferences: [{ name: 'no' }] },
    );
    expect(objectToCreate(manifest, OWNED, digest).metadata).toMatchObject({
      finalizers: ['ours'],
      ownerReferences: [OWNER],
    });
  });

  it('nothing to do is no write', () => {
    expect(plan({ labels: { a: '1' } }, { labels: { a: '1' } })).toBe('none');
    expect(plan({}, {}, false)).not.toBe('none');
    expect(plan({ ownerReferences: [] }, {}, false)).toBe('none');
  });

  it('an owner of old uid is brought up to date, others stay', () => {
    const other = { ...OWNER, name: 'hash-other' };
    const got = plan({ ownerReferences: [{ ...OWNER, uid: 'old' }, other] }, {});
    expect(got).toMatchObject({ metadata: { ownerReferences: [OWNER, other] } });
  });
});
