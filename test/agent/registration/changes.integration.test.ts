import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  apiVersionOf,
  CLUSTER_CLAIM,
  CLUSTER_PROPERTY,
  CUSTOM_RESOURCE_DEFINITION,
  EVENT,
  type KindInfo,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { startRecordingProxies } from '../../fakes/recording-proxies.ts';
import { SteeredClock } from '../../fakes/steered-clock.ts';
import { RegistrationWorld } from './registration-world.ts';

const AVAILABLE = 'ManagedClusterConditionAvailable';

describe('what changes under an agent that has joined', () => {
  let world: RegistrationWorld;
  let clock: SteeredClock;
  const open: (() => Promise<void>)[] = [];
  afterEach(async () => {
    await world.close();
    for (const close of open.splice(0)) await close();
  });

  async function start(): Promise<void> {
    clock = new SteeredClock();
    world = await RegistrationWorld.start(['cluster1'], clock);
  }
  async function joined(): Promise<void> {
    await expect.poll(() => world.hub.requests('cluster1')).toHaveLength(1);
    await world.hub.decide('cluster1');
    await world.hub.accept('cluster1');
    await expect.poll(available).toBe('True');
  }
  const available = (): Promise<string | undefined> => world.hub.condition('cluster1', AVAILABLE);
  /** Each look comes a little later: the agent waits for the next of its own. */
  const later =
    <T>(ms: number, look: () => T) =>
    (): T => {
      clock.skip(ms);
      return look();
    };
  const events = async (): Promise<readonly string[]> => {
    const { items } = await world.hub.api.list(EVENT, { namespace: 'cluster1' });
    return items.map((event) => {
      const { type, reason, reportingController } = event as KubeObject & Record<string, unknown>;
      const { kind, name } = event['regarding'] as { readonly kind: string; readonly name: string };
      return [type, reason, reportingController, kind, name].map(String).join(' ');
    });
  };

  it('an outage of its API server: not available, then available again, with an event each', async () => {
    await start();
    const member = world.member();
    const probe = member.probe.bind(member);
    let isDown = false;
    const asked: string[] = [];
    member.probe = async (path) => {
      asked.push(path);
      return isDown ? { statusCode: 500, text: '[-]etcd failed' } : probe(path);
    };
    world.run({ cluster: member });
    await joined();
    expect(asked).toContain('/livez');
    isDown = true;
    await expect.poll(later(5_000, available)).toBe('False');
    const cluster = await world.hub.cluster('cluster1');
    expect(cluster?.status?.conditions?.find(({ type }) => type === AVAILABLE)?.message).toContain(
      'status code: 500, [-]etcd failed',
    );
    // The agent itself goes on: its lease says so.
    const lease = await world.hub.lease('cluster1');
    await expect.poll(later(15_000, () => world.hub.lease('cluster1'))).not.toBe(lease);
    isDown = false;
    await expect.poll(later(5_000, available)).toBe('True');
    const told = 'berth-agent ManagedCluster cluster1';
    await expect
      .poll(events)
      .toEqual(expect.arrayContaining([`Warning Unavailable ${told}`, `Normal Available ${told}`]));
  });

  it('one failure between two good answers is not reported', async () => {
    await start();
    const member = world.member();
    const probe = member.probe.bind(member);
    let failures = 0;
    member.probe = async (path) => {
      if (path !== '/livez' || failures === 0) return probe(path);
      failures -= 1;
      return { statusCode: 503, text: '' };
    };
    world.run({ cluster: member });
    await joined();
    failures = 1;
    await expect.poll(later(5_000, () => failures)).toBe(0);
    await expect.poll(later(5_000, () => world.hub.lease('cluster1'))).toBeDefined();
    expect(await available()).toBe('True');
    expect((await events()).filter((event) => event.includes('Unavailable'))).toEqual([]);
  });

  it('properties of the cluster: reported, and before a claim of the same name', async () => {
    await start();
    const member = world.member();
    const make = (kind: KindInfo, name: string, value: string): Promise<KubeObject> =>
      member.create(kind, {
        apiVersion: apiVersionOf(kind),
        kind: kind.kind,
        metadata: { name },
        spec: { value },
      });
    await make(CLUSTER_CLAIM, 'zone', 'by claim');
    world.run();
    await joined();
    const claims = async () => (await world.hub.cluster('cluster1'))?.status?.clusterClaims;
    await expect.poll(claims).toEqual([{ name: 'zone', value: 'by claim' }]);
    // The definition comes later: the agent finds it.
    await member.create(CUSTOM_RESOURCE_DEFINITION, definitionOf(CLUSTER_PROPERTY));
    await expect
      .poll(() => make(CLUSTER_PROPERTY, 'zone', 'by property').then(() => 'ok', String))
      .toBe('ok');
    await make(CLUSTER_PROPERTY, 'cluster.clusterset.k8s.io', 'mine');
    await expect.poll(later(60_000, claims)).toEqual([
      { name: 'cluster.clusterset.k8s.io', value: 'mine' },
      { name: 'zone', value: 'by property' },
    ]);
    await member.delete(CLUSTER_PROPERTY, { namespace: '', name: 'zone' });
    await expect.poll(later(5_000, claims)).toContainEqual({ name: 'zone', value: 'by claim' });
  });

  const hubKubeconfig = (): string => readFileSync(join(world.folder(), 'kubeconfig'), 'utf8');

  it('another authority in the bootstrap kubeconfig: it registers again, and trusts that one', async () => {
    await start();
    world.run();
    await joined();
    const other = createAuthority('next authority of the hub', clock.now()).certPem;
    let bundle = '';
    await world.writeBootstrap((text) =>
      text.replace(/certificate-authority-data: (.*)/, (_line, data: string) => {
        bundle = Buffer.from(Buffer.from(data, 'base64').toString() + other).toString('base64');
        return `certificate-authority-data: ${bundle}`;
      }),
    );
    await expect.poll(later(30_000, () => world.hub.requests('cluster1'))).toHaveLength(2);
    expect(hubKubeconfig()).not.toContain(bundle);
    await world.hub.decide('cluster1');
    await expect.poll(later(1_000, hubKubeconfig)).toContain(bundle);
    const lease = await world.hub.lease('cluster1');
    await expect.poll(later(15_000, () => world.hub.lease('cluster1'))).not.toBe(lease);
    expect(await available()).toBe('True');
    expect(await world.hub.requests('cluster1')).toHaveLength(2);
  });

  it('a proxy in the bootstrap kubeconfig: it registers again, through it', async () => {
    await start();
    const authority = new CertificateAuthority(createAuthority('proxy', Date.now()));
    const pair = await authority.issueServing(['127.0.0.1'], Date.now(), 86_400_000);
    const proxies = await startRecordingProxies(pair);
    open.push(() => Promise.resolve(proxies.close()));
    world.run();
    await joined();
    expect(proxies.taken()).toEqual([]);
    const proxyUrl = `http://127.0.0.1:${proxies.httpPort}`;
    await world.writeBootstrap((text) => text.replace(/( *)server: .*/, `$&\n$1proxy-url: ${proxyUrl}`));
    await expect.poll(later(30_000, () => world.hub.requests('cluster1'))).toHaveLength(2);
    await world.hub.decide('cluster1');
    await expect.poll(later(1_000, hubKubeconfig)).toContain(proxyUrl);
    const lease = await world.hub.lease('cluster1');
    await expect.poll(later(15_000, () => world.hub.lease('cluster1'))).not.toBe(lease);
    const target = new URL(world.hubUrl).host;
    expect(new Set(proxies.taken().map(({ asked }) => asked))).toEqual(new Set([`CONNECT ${target}`]));
  });
});

function definitionOf({ group, version, kind, plural }: KindInfo): KubeObject {
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  };
  return {
    apiVersion: apiVersionOf(CUSTOM_RESOURCE_DEFINITION),
    kind: CUSTOM_RESOURCE_DEFINITION.kind,
    metadata: {
      name: `${plural}.${group}`,
      // The hub asks for it: the group is one of Kubernetes'.
      annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/enhancements/pull/1111' },
    },
    spec: {
      group,
      scope: 'Cluster',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  };
}
