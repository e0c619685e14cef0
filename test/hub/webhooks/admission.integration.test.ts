import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hubAdmission } from '../../../src/controllers/admission/hub-admission.ts';
import type { Hook, HookServer } from '../../fakes/hook-server.ts';
import { startHookServer } from '../../fakes/hook-server.ts';
import { SteeredClock } from '../../fakes/steered-clock.ts';
import type { TestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../../packages/embedded-hub/test/hub-harness.ts';
import type { LooseJson } from '../../../packages/embedded-hub/test/loose-json.ts';

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const MAPS = '/api/v1/namespaces/default/configmaps';
const MERGE = 'application/merge-patch+json';

const answer =
  (response: LooseJson): Hook =>
  ({ apiVersion, kind, request }) => ({
    review: { apiVersion, kind, response: { uid: request.uid, allowed: true, ...response } },
  });

const patch = (operations: LooseJson): Hook =>
  answer({ patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') });

const map = (name: string): LooseJson => ({ metadata: { name }, data: { a: 'b' } });

describe('admission webhooks', () => {
  let hub: TestHub;
  let hook: HookServer;
  let clock: SteeredClock;

  beforeEach(async () => {
    clock = new SteeredClock();
    hook = await startHookServer();
    hub = await startTestHub({ clock, audit: 'writes', admission: hubAdmission({ ocm: false }) });
    hook.answers(answer({}));
  });
  afterEach(async () => {
    await hub.stop();
    await hook.close();
  });

  const configure = async (kind: 'Mutating' | 'Validating', over: LooseJson = {}): Promise<void> => {
    const webhook = {
      name: 'one.hooks.example.com',
      clientConfig: { url: `${hook.url}/x`, caBundle: hook.caBundle },
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
      ...over,
    };
    const path = `${GROUP}/${kind.toLowerCase()}webhookconfigurations`;
    const { status, text } = await hub.call('POST', path, {
      body: { metadata: { name: 'hooks' }, webhooks: [webhook] },
    });
    expect(status, text).toBe(201);
  };

  it('count at once, and no more when their configuration is gone', async () => {
    await configure('Validating');
    hook.answers(answer({ allowed: false }));
    expect((await hub.call('POST', MAPS, { body: map('one') })).status).toBe(400);
    await hub.call('DELETE', `${GROUP}/validatingwebhookconfigurations/hooks`);
    expect((await hub.call('POST', MAPS, { body: map('one') })).status).toBe(201);
  });

  it('are asked again when they closed the connection that was idle', async () => {
    await configure('Validating');
    hook.closesIdle();
    for (const name of ['one', 'two', 'three'])
      expect((await hub.call('POST', MAPS, { body: map(name) })).status).toBe(201);
  });

  it('that hang keep nobody else waiting, and are given up when their time is over', async () => {
    await configure('Validating', { timeoutSeconds: 5 });
    const asked = new Set<string>();
    hook.answers(({ request }) => {
      if (String(request.name).startsWith('map-')) asked.add(request.name);
      return { hangs: true };
    });
    const waiting = Array.from({ length: 20 }, (_, index) =>
      hub.call('POST', MAPS, { body: map(`map-${String(index)}`) }),
    );
    await expect.poll(() => asked.size).toBe(20);
    expect((await hub.call('GET', MAPS)).status).toBe(200);
    const secret = { body: { metadata: { name: 's' } } };
    expect((await hub.call('POST', '/api/v1/namespaces/default/secrets', secret)).status).toBe(201);
    clock.skip(6_000);
    for (const { status, body } of await Promise.all(waiting)) {
      expect(status).toBe(500);
      expect(body.message).toMatch(
        /failed calling webhook "one.hooks.example.com": failed to call webhook: .*deadline exceeded/,
      );
    }
  });

  it('see each write once, and again only what somebody else changed meanwhile', async () => {
    await hub.call('POST', MAPS, { body: map('one') });
    await configure('Mutating');
    const type = MERGE;
    await hub.call('PATCH', `${MAPS}/one`, { type, body: { data: { c: 'd' } } });
    const ofOne = hook.taken().filter(({ review }) => review.request.name === 'one');
    expect(ofOne).toHaveLength(1);
    let overtaken: Promise<unknown> | undefined;
    hook.answers((review, path) => {
      overtaken ??= hub.call('PATCH', `${MAPS}/one`, { type, body: { data: { other: 'x' } } });
      return patch([{ op: 'add', path: '/metadata/labels', value: { seen: 'yes' } }])(review, path);
    });
    const mine = await hub.call('PATCH', `${MAPS}/one`, { type, body: { data: { e: 'f' } } });
    await overtaken;
    expect(mine.status).toBe(200);
    const { data, metadata } = (await hub.call('GET', `${MAPS}/one`)).body;
    expect([data, metadata.labels]).toEqual([{ a: 'b', c: 'd', e: 'f', other: 'x' }, { seen: 'yes' }]);
  });

  it('see a Scale where replicas are scaled', async () => {
    const path = '/apis/apps/v1/namespaces/default/deployments';
    const spec = {
      replicas: 1,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    };
    await hub.call('POST', path, { body: { metadata: { name: 'd' }, spec } });
    await configure('Mutating', {
      rules: [
        {
          operations: ['UPDATE'],
          apiGroups: ['apps'],
          apiVersions: ['v1'],
          resources: ['deployments/scale'],
        },
      ],
    });
    hook.answers(patch([{ op: 'replace', path: '/spec/replicas', value: 3 }]));
    const scaled = await hub.call('PATCH', `${path}/d/scale`, {
      type: MERGE,
      body: { spec: { replicas: 9 } },
    });
    expect(scaled.body.spec.replicas).toBe(3);
    expect(hook.taken()[0]?.review.request).toMatchObject({
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      subResource: 'scale',
      object: { kind: 'Scale', spec: { replicas: 9 } },
      oldObject: { kind: 'Scale', spec: { replicas: 1 } },
    });
  });

  it('leave a trace in the audit log', async () => {
    await configure('Mutating');
    hook.answers(answer({ auditAnnotations: { why: 'because\u202e' } }));
    await hub.call('POST', MAPS, { body: map('one') });
    const lines = (): string[] => readFileSync(join(hub.dataDir, 'audit.log'), 'utf8').split('\n');
    const find = (): string => lines().find((one) => one.includes(`"requestURI":"${MAPS}"`)) ?? '';
    await expect.poll(find).not.toBe('');
    const line = find();
    expect(JSON.parse(line).annotations).toEqual({
      'one.hooks.example.com/why': 'because\u202e',
      'mutation.webhook.admission.k8s.io/round_0_index_0': JSON.stringify({
        configuration: 'hooks',
        webhook: 'one.hooks.example.com',
        mutated: false,
      }),
    });
    expect(line).not.toContain('\u202e');
  });

  it('do not keep a hub from starting, or from being repaired', async () => {
    const everything = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
    await configure('Validating', { rules: [everything], clientConfig: { url: 'https://127.0.0.1:1/x' } });
    await hub.restart();
    expect((await hub.call('POST', MAPS, { body: map('one') })).status).toBe(500);
    expect((await hub.call('DELETE', `${GROUP}/validatingwebhookconfigurations/hooks`)).status).toBe(200);
    expect((await hub.call('POST', MAPS, { body: map('one') })).status).toBe(201);
  });

  it("check clusters instead of the hub's own rules where these are switched off", async () => {
    const path = '/apis/cluster.open-cluster-management.io/v1/managedclusters';
    const named = { apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster' };
    const body = {
      ...named,
      metadata: { name: 'c1' },
      spec: { managedClusterClientConfigs: [{ url: 'no url' }] },
    };
    expect((await hub.call('POST', path, { body })).status).toBe(201);
    await hub.call('DELETE', `${path}/c1`);
    const rule = {
      operations: ['CREATE'],
      apiGroups: ['cluster.open-cluster-management.io'],
      apiVersions: ['v1'],
      resources: ['*'],
    };
    await configure('Validating', { rules: [rule] });
    hook.answers(answer({ allowed: false, status: { message: 'no such url' } }));
    expect((await hub.call('POST', path, { body })).body.message).toContain('no such url');
  });
});
