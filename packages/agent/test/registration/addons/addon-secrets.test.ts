import { X509Certificate } from 'node:crypto';
import { KubeConfig } from '@berth/kube/config/kube-config';
import { parseKubeconfig } from '@berth/kube/config/parse-kubeconfig';
import { CERTIFICATE_REQUEST, MANAGED_CLUSTER_ADDON, SECRET } from '@berth/kube/model/kinds';
import { readCertificateRequest } from '@berth/kube/x509/certificate-request';
import { readSubject } from '@berth/kube/x509/certificate-subject';
import { beforeEach, describe, expect, it } from 'vitest';
import { AddonWorld, CLUSTER, ENTRY, HOUR_MS, hubClient, INSTALL_NAMESPACE } from './addon-harness.ts';

const SECRET_NAME = 'helloworld-hub-kubeconfig';
const ROTATED = 'ClusterCertificateRotated';
const SIGNER = 'example.com/agents';
const MARK = 'addon.open-cluster-management.io/hosting-cluster-name';

let world: AddonWorld;
beforeEach(() => {
  world = new AddonWorld();
});

async function registered(registrations = [hubClient()]): Promise<void> {
  await world.start();
  await world.addAddon('helloworld', { registrations });
  await world.sign();
}

const certificate = async (name = SECRET_NAME): Promise<X509Certificate> =>
  new X509Certificate((await world.files(name))?.['tls.crt'] ?? '');
const serial = async (): Promise<string> => (await certificate()).serialNumber;

describe('the certificate of an add-on (driver csr)', () => {
  it('is requested with the name, labels, signer, usages, subject and alternative name of OCM', async () => {
    await world.start();
    await world.addAddon('helloworld', { registrations: [hubClient()] });
    const [request, ...others] = await world.requests();
    expect(others).toEqual([]);
    expect(request).toMatchObject({
      metadata: {
        name: expect.stringMatching(/^addon-edge-1-helloworld-/),
        labels: {
          'open-cluster-management.io/cluster-name': CLUSTER,
          'open-cluster-management.io/addon-name': 'helloworld',
        },
      },
      spec: {
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['digital signature', 'key encipherment', 'client auth'],
      },
    });
    const pem = Buffer.from((request?.['spec'] as { request: string }).request, 'base64').toString();
    const read = readCertificateRequest(pem);
    expect(read).toMatchObject({ kind: 'request', hasAttributes: true });
    const { user: commonName, groups: organizations } = hubClient().subject ?? {};
    expect(read.kind === 'request' && readSubject(read.subjectDer)).toEqual({
      kind: 'subject',
      subject: { commonName, organizations },
    });
    const der = Buffer.from(pem.replaceAll(/-----.*-----|\s/g, ''), 'base64').toString('latin1');
    expect(der).toContain('helloworld.addon.open-cluster-management.io');
  });

  it('comes into a Secret with its key and a kubeconfig that has the proxy of the cluster', async () => {
    await registered();
    const files = await world.files(SECRET_NAME);
    expect(Object.keys(files ?? {}).sort()).toEqual(['cluster-name', 'kubeconfig', 'tls.crt', 'tls.key']);
    expect(files?.['cluster-name']).toBe(CLUSTER);
    const config = new KubeConfig(parseKubeconfig(files?.['kubeconfig'] ?? '', '/secret'), {});
    expect(config.getCurrentCluster()).toMatchObject(ENTRY);
    expect(config.getCurrentUser()).toMatchObject({
      certFile: '/secret/tls.crt',
      keyFile: '/secret/tls.key',
    });
    expect((await certificate()).subject).toContain('agent:helloworld-agent');
    expect(await world.condition('helloworld', ROTATED)).toMatch(
      /^True ClientCertificateUpdated: client certificate rotated starting from 202\d-\S+ \S+ \+0000 UTC to /,
    );
    expect((await world.addon('helloworld'))?.status?.kubeClientDriver).toBe('csr');
  });

  it('has a key that the hub never sees', async () => {
    await registered();
    const key = (await world.files(SECRET_NAME))?.['tls.key'] ?? '';
    expect(key).toContain('PRIVATE KEY');
    for (const kind of [SECRET, CERTIFICATE_REQUEST])
      expect(JSON.stringify(world.hub.peek(kind))).not.toContain(Buffer.from(key).toString('base64'));
  });

  it('is renewed when 20 to 25 % of its life are left, with another key', async () => {
    await registered();
    const [before, key] = [await serial(), (await world.files(SECRET_NAME))?.['tls.key']];
    await world.settle(0.7 * HOUR_MS);
    expect(await world.requests()).toHaveLength(1);
    await world.settle(0.1 * HOUR_MS);
    expect(await world.requests()).toHaveLength(2);
    await world.sign();
    expect(await serial()).not.toBe(before);
    expect((await world.files(SECRET_NAME))?.['tls.key']).not.toBe(key);
  });

  it('stays in place while its renewal waits for approval', async () => {
    await registered();
    const before = await serial();
    const said = await world.condition('helloworld', ROTATED);
    await world.settle(0.9 * HOUR_MS);
    expect(await serial()).toBe(before);
    expect(await world.condition('helloworld', ROTATED)).toBe(said);
  });

  it.each([
    ['its user', [hubClient('helloworld', { user: 'other' })]],
    ['its groups', [hubClient('helloworld', { groups: ['a', 'b'] })]],
  ])('is requested again when the registration changes: %s', async (_what, registrations) => {
    await registered();
    const before = await serial();
    await world.setStatus('helloworld', { registrations });
    // The add-on keeps its access until it has the new one.
    expect(await serial()).toBe(before);
    await world.sign();
    expect(await serial()).not.toBe(before);
    expect(await world.requests()).toHaveLength(2);
  });

  it('moves with the install namespace', async () => {
    await registered();
    await world.setStatus('helloworld', { namespace: 'elsewhere' });
    await world.sign();
    expect(await world.files(SECRET_NAME)).toBeUndefined();
    expect(await world.files(SECRET_NAME, { namespace: 'elsewhere' })).toBeDefined();
  });

  it('is requested again when its Secret is deleted or spoilt', async () => {
    await registered();
    const key = { namespace: INSTALL_NAMESPACE, name: SECRET_NAME };
    await world.cluster.delete(SECRET, key);
    await world.settle();
    await world.sign();
    expect(await world.files(SECRET_NAME)).toBeDefined();
    await world.cluster.mergePatch(SECRET, key, { data: { 'tls.crt': 'eA==' } });
    await world.settle();
    await world.sign();
    expect((await certificate()).subject).toContain('helloworld');
    expect(await world.requests()).toHaveLength(3);
  });

  it('is requested again when its kubeconfig leads elsewhere', async () => {
    await registered();
    const text = (await world.files(SECRET_NAME))?.['kubeconfig']?.replace('proxy:3128', 'other:1') ?? '';
    const data = { kubeconfig: Buffer.from(text).toString('base64') };
    await world.cluster.mergePatch(SECRET, { namespace: INSTALL_NAMESPACE, name: SECRET_NAME }, { data });
    await world.settle();
    await world.sign();
    expect((await world.files(SECRET_NAME))?.['kubeconfig']).toContain('proxy:3128');
  });

  it('waits for a namespace that comes late, without a second request', async () => {
    world.cluster.missing.add(INSTALL_NAMESPACE);
    await registered();
    await world.settle(60_000);
    expect(await world.files(SECRET_NAME)).toBeUndefined();
    expect(await world.condition('helloworld', ROTATED)).toBeUndefined();
    world.cluster.missing.clear();
    await world.settle(10_000);
    expect(await world.files(SECRET_NAME)).toBeDefined();
    expect(await world.requests()).toHaveLength(1);
  });

  it('is not requested while the add-on has ten requests, and is afterwards', async () => {
    await world.start();
    const labels = {
      'open-cluster-management.io/cluster-name': CLUSTER,
      'open-cluster-management.io/addon-name': 'helloworld',
    };
    for (let count = 0; count < 10; count++)
      await world.hub.create(CERTIFICATE_REQUEST, {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name: `old-${count}`, labels },
        spec: { request: `${count}` },
        status: {},
      });
    await world.addAddon('helloworld', { registrations: [hubClient()] });
    expect(await world.requests()).toHaveLength(10);
    expect(await world.condition('helloworld', ROTATED)).toBe(
      'False ClientCertificateUpdateFailed: Stop creating csr since there are too many csr created already on hub',
    );
    await world.hub.delete(CERTIFICATE_REQUEST, { namespace: '', name: 'old-0' });
    await world.settle();
    expect((await world.requests()).map(({ metadata }) => metadata.name)).toContainEqual(
      expect.stringMatching(/^addon-/),
    );
  });

  it('is requested again some time after a refusal, and the add-on says why', async () => {
    await world.start();
    await world.addAddon('helloworld', { registrations: [hubClient()] });
    await world.decide({ conditions: [{ type: 'Denied', reason: 'No', message: 'not here' }] });
    expect(await world.condition('helloworld', ROTATED)).toBe(
      'False ClientCertificateUpdateFailed: the certificate request was refused: Denied (No: not here)',
    );
    expect(await world.requests()).toHaveLength(1);
    await world.settle(20_000);
    expect(await world.requests()).toHaveLength(2);
    await world.sign();
    expect(await world.condition('helloworld', ROTATED)).toMatch(/^True/);
  });

  it('that has expired when it arrives is not stored, and asked for seldom', async () => {
    await world.start();
    await world.addAddon('helloworld', { registrations: [hubClient()] });
    await world.sign(1);
    expect(await world.files(SECRET_NAME)).toBeUndefined();
    expect(await world.condition('helloworld', ROTATED)).toContain('check the clock of this machine');
    await world.settle(120_000);
    expect((await world.requests()).length).toBeLessThanOrEqual(3);
  });

  it('goes with the add-on, and not before', async () => {
    await world.start();
    await world.addAddon(
      'helloworld',
      { registrations: [hubClient()] },
      { finalizers: ['example.com/wait'] },
    );
    await world.sign();
    await world.deleteAddon('helloworld');
    expect(await world.files(SECRET_NAME)).toBeDefined();
    const key = { namespace: CLUSTER, name: 'helloworld' };
    await world.hub.mergePatch(MANAGED_CLUSTER_ADDON, key, { metadata: { finalizers: [] } });
    await world.settle();
    expect(await world.files(SECRET_NAME)).toBeUndefined();
  });
});

describe('an agent that starts again', () => {
  it('writes nothing when nothing changed', async () => {
    await registered();
    await world.renewLease('helloworld');
    await world.stop();
    const before = [world.hub, world.cluster, world.hosting].map(({ writes }) => writes.length);
    await world.start();
    expect([world.hub, world.cluster, world.hosting].map(({ writes }) => writes.length)).toEqual(before);
  });

  it('goes on with an open request', async () => {
    await world.start();
    await world.addAddon('helloworld', { registrations: [hubClient()] });
    await world.stop();
    await world.sign();
    await world.start();
    expect(await world.requests()).toHaveLength(1);
    expect(await world.files(SECRET_NAME)).toBeDefined();
  });

  it('removes the Secret of an add-on that went meanwhile', async () => {
    await registered();
    await world.stop();
    await world.deleteAddon('helloworld');
    await world.start();
    expect(await world.files(SECRET_NAME)).toBeUndefined();
  });

  it('removes nothing while the hub cannot say which add-ons there are', async () => {
    await registered();
    await world.stop();
    const list = world.hub.list.bind(world.hub);
    world.hub.list = async (kind, options) => {
      if (kind.kind === 'ManagedClusterAddOn') throw new Error('down');
      return list(kind, options);
    };
    await world.start();
    await world.settle(120_000);
    expect(await world.files(SECRET_NAME)).toBeDefined();
  });

  it('at another hub leaves the Secrets of the first', async () => {
    await registered();
    await world.stop();
    const other = new AddonWorld();
    Object.defineProperty(other.hub, 'server', { value: 'https://other.invalid' });
    await world.start({}, (api) => (api === world.hub ? other.hub : api));
    expect(await world.files(SECRET_NAME)).toBeDefined();
  });

  it('takes over what OCM’s agent made, without a request', async () => {
    await registered();
    const found = await world.cluster.get(SECRET, { namespace: INSTALL_NAMESPACE, name: SECRET_NAME });
    const { 'cluster-name': _name, ...older } = found?.['data'] as Record<string, string>;
    await world.stop();
    const next = new AddonWorld();
    await next.cluster.create(SECRET, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: INSTALL_NAMESPACE, name: SECRET_NAME },
      data: older,
    });
    await next.start();
    await next.addAddon('helloworld', { registrations: [hubClient()] });
    expect(await next.requests()).toEqual([]);
    expect((await next.files(SECRET_NAME))?.['cluster-name']).toBe(CLUSTER);
    await next.deleteAddon('helloworld');
    expect(await next.files(SECRET_NAME)).toBeUndefined();
  });
});

describe('several registrations', () => {
  const both = [hubClient(), { signerName: SIGNER, subject: { user: 'u', organizationUnit: [] } }];

  it('have a Secret each; that of another signer has no kubeconfig', async () => {
    await registered(both);
    expect(await world.files(SECRET_NAME)).toHaveProperty('kubeconfig');
    const files = await world.files('helloworld-example.com-agents-client-cert');
    expect(Object.keys(files ?? {}).sort()).toEqual(['cluster-name', 'tls.crt', 'tls.key']);
    const signers = (await world.requests()).map(({ spec }) => (spec as { signerName: string }).signerName);
    expect(signers.sort()).toEqual([SIGNER, hubClient().signerName].sort());
  });

  it('ask for the units of another signer', async () => {
    await world.start();
    await world.addAddon('helloworld', {
      registrations: [{ signerName: SIGNER, subject: { user: 'u', organizationUnit: ['unit-7'] } }],
    });
    const [request] = await world.requests();
    const pem = Buffer.from((request?.['spec'] as { request: string }).request, 'base64').toString();
    const der = Buffer.from(pem.replaceAll(/-----.*-----|\s/g, ''), 'base64').toString('latin1');
    expect(der).toContain('unit-7');
    expect((await world.addon('helloworld'))?.status?.kubeClientDriver).toBeUndefined();
    // The signer of the test knows no units: its certificate is not the requested one.
    await world.sign();
    expect(await world.files('helloworld-example.com-agents-client-cert')).toBeUndefined();
    expect(await world.condition('helloworld', ROTATED)).toContain('is not the requested one');
  });

  it('lose the Secret of the one that goes', async () => {
    await registered(both);
    await world.setStatus('helloworld', { registrations: [hubClient()] });
    expect(await world.files('helloworld-example.com-agents-client-cert')).toBeUndefined();
    expect(await world.files(SECRET_NAME)).toBeDefined();
  });

  it('do not stop each other', async () => {
    const create = world.cluster.create.bind(world.cluster);
    world.cluster.create = async (kind, object, options) => {
      if (object.metadata.name === SECRET_NAME) throw new Error('refused');
      return create(kind, object, options);
    };
    await registered(both);
    expect(await world.files('helloworld-example.com-agents-client-cert')).toBeDefined();
  });
});

describe('many add-ons of a cluster', () => {
  const COUNT = 30;
  it('share one watch for each kind, and close that of certificate requests when none is open', async () => {
    await world.start();
    for (let at = 0; at < COUNT; at++)
      await world.addAddon(`a${at}`, { registrations: [hubClient(`a${at}`)] });
    const watches = (plural: string) =>
      [world.hub, world.cluster]
        .flatMap(({ requests }) => requests)
        .filter((line) => line === `WATCH ${plural}`);
    expect(watches('managedclusteraddons')).toHaveLength(1);
    expect(watches('secrets')).toHaveLength(1);
    expect(watches('leases')).toHaveLength(1);
    expect(watches('certificatesigningrequests')).toHaveLength(1);
    await world.sign();
    await world.settle(10_000);
    expect(world.agent?.openWatches).toBe(2);
  });
});

describe('a hosted add-on', () => {
  it('has its Secret where the agent runs', async () => {
    await world.start();
    await world.addAddon('helloworld', { registrations: [hubClient()] }, { annotations: { [MARK]: 'host' } });
    await world.sign();
    expect(await world.files(SECRET_NAME)).toBeUndefined();
    expect(await world.files(SECRET_NAME, { on: world.hosting })).toBeDefined();
  });
});
