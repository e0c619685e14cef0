import { describe, expect, it } from 'vitest';
import {
  authorityHashes,
  certificatesIn,
  findHubEntry,
  type HubLookup,
} from '../../../src/controllers/installation/find-hub-entry.ts';
import { InputError, TransientError } from '@berth/runtime/errors';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { ServerEntry } from '../../../src/core/registration/install/bootstrap-objects.ts';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';

const SERVER = 'https://hub.example.com:6443';
const PEMS = new Map(['a', 'b', 'c', 'p'].map((name) => [name, createAuthority(name, Date.now()).certPem]));
const pem = (name: string): string => PEMS.get(name) ?? '';
const hashOf = (name: string): string => authorityHashes(pem(name))[0] ?? '';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const clusterInfo = (fields: string): Record<string, string> => ({
  kubeconfig: `apiVersion: v1\nclusters:\n- name: ''\n  cluster: {${fields}}\n`,
});

interface World {
  /** Authorities that it shows in its handshake, with a certificate that is none before them. */
  readonly served?: readonly string[];
  /** What strangers see of cluster-info. */
  readonly info?: string;
  /** ConfigMaps of kube-public, for those who have a token. */
  readonly maps?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The machine trusts the certificate of the hub. */
  readonly trusted?: boolean;
  readonly answer?: 'kube.unauthorized' | 'kube.forbidden';
}

/** Looks a hub up that answers as the world says. */
async function look(world: World, over: Partial<HubLookup> = {}) {
  const asked: ServerEntry[] = [];
  const strangers: string[] = [];
  const warnings: (readonly string[])[] = [];
  const lookup: HubLookup = {
    server: SERVER,
    internal: false,
    caHashes: [],
    withHub: (entry, use) => {
      asked.push(entry);
      const isChecked = world.trusted === true || entry.caData !== undefined;
      if (!isChecked) throw new TransientError('no answer', { code: 'kube.network', subject: SERVER });
      if (world.answer !== undefined) throw new InputError('no', { code: world.answer, subject: SERVER });
      const get: KubeApi['get'] = (_kind, { name }) => {
        const data = world.maps?.[name];
        const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
        return Promise.resolve(data === undefined ? undefined : object);
      };
      return use({ get } as unknown as KubeApi);
    },
    fetchUnverified: (path) => {
      strangers.push(path);
      const certificates = (world.served ?? []).flatMap((name) =>
        certificatesIn(pem(name)).map(({ raw }) => raw),
      );
      return Promise.resolve({ certificates, text: world.info });
    },
    onUnverifiedAuthorities: (hashes) => warnings.push(hashes),
    ...over,
  };
  const entry = await findHubEntry(lookup);
  return { entry, asked, strangers, warnings };
}

describe('how a hub is reached', () => {
  it('is by the authority that is given, which is checked before it is kept', async () => {
    const { entry, asked, strangers, warnings } = await look({}, { caPem: pem('a') });
    expect(entry).toEqual({ server: SERVER, caData: base64(pem('a')) });
    expect(asked).toEqual([entry]);
    expect([...strangers, ...warnings]).toEqual([]);
  });

  it('needs no authority where the machine trusts the hub', async () => {
    const { entry, strangers, warnings } = await look({ trusted: true });
    expect(entry).toEqual({ server: SERVER });
    expect([...strangers, ...warnings]).toEqual([]);
  });

  const info = (...names: readonly string[]): string => {
    const data = clusterInfo(`certificate-authority-data: ${base64(names.map(pem).join(''))}`);
    return JSON.stringify({ kind: 'ConfigMap', data });
  };

  it.each<[string, World]>([
    ['cluster-info', { info: info('b'), served: ['c'] }],
    ['the handshake', { served: ['b'] }],
    [
      'the handshake, where cluster-info says nothing',
      { served: ['b'], info: '{"data":{"kubeconfig":"a: ["}}' },
    ],
  ])('takes the authority from %s, asked without the token, and says so', async (_name, world) => {
    const { entry, asked, strangers, warnings } = await look(world);
    expect(entry).toEqual({ server: SERVER, caData: base64(pem('b')) });
    expect(strangers).toEqual(['/api/v1/namespaces/kube-public/configmaps/cluster-info']);
    // The first question is to a hub that the machine may trust, the last proves that the authority is the right one.
    expect(asked).toEqual([{ server: SERVER }, entry]);
    expect(warnings).toEqual([[hashOf('b')]]);
  });

  it.each<[string, World, Partial<HubLookup>]>([
    ['by cluster-info', { info: info('a', 'b') }, {}],
    ['by the handshake', { info: info('a'), served: ['b', 'c'] }, {}],
    ['by the file', {}, { caPem: `${pem('c')}${pem('b')}` }],
    ['where the machine trusts it', { trusted: true, served: ['b'] }, {}],
  ])('with a hash, trusts that authority alone, named %s', async (_name, world, over) => {
    const { entry, asked, warnings } = await look(world, { ...over, caHashes: [hashOf('p'), hashOf('b')] });
    expect(entry).toEqual({ server: SERVER, caData: base64(pem('b')) });
    expect(asked).toEqual([entry]);
    expect(warnings).toEqual([]);
  });

  it.each<[string, World, Partial<HubLookup>]>([
    ['the hub', { trusted: true, info: info('a'), served: ['c'] }, {}],
    ['the file', { trusted: true }, { caPem: pem('a') }],
  ])('sends no token when %s names other authorities than those of the hash', async (_name, world, over) => {
    let count = 0;
    const withHub = (): never => {
      count += 1;
      throw new Error('the token was sent');
    };
    const looked = look(world, { ...over, withHub, caHashes: [hashOf('b')] });
    await expect(looked).rejects.toMatchObject({
      code: 'join.hash',
      subject: '--discovery-token-ca-cert-hash',
    });
    expect(count).toBe(0);
  });

  it('has the authority of the proxy beside that of the hub', async () => {
    const proxy = { proxyUrl: 'https://proxy.example.com:3129', proxyCaPem: pem('p') };
    const { entry } = await look({}, { caPem: pem('a'), ...proxy });
    expect(entry).toEqual({
      server: SERVER,
      proxyUrl: 'https://proxy.example.com:3129',
      caData: base64(`${pem('a')}${pem('p')}`),
    });
  });

  it('is by the address that the hub gives for clusters, when that is asked for', async () => {
    const maps = { 'cluster-info': clusterInfo('server: "https://10.0.0.1:6443"') };
    const { entry } = await look({ maps }, { caPem: pem('a'), internal: true });
    expect(entry.server).toBe('https://10.0.0.1:6443');
    await expect(look({}, { caPem: pem('a'), internal: true })).rejects.toMatchObject({
      code: 'join.cluster-info',
    });
  });

  it('is not found without an authority, nor with a token that the hub does not know', async () => {
    await expect(look({})).rejects.toMatchObject({ code: 'join.authority', subject: SERVER });
    await expect(look({ answer: 'kube.unauthorized' }, { caPem: pem('a') })).rejects.toMatchObject({
      code: 'join.token',
    });
    // A hub that shows no ConfigMaps knows the token all the same.
    const { entry } = await look({ answer: 'kube.forbidden' }, { caPem: pem('a') });
    expect(entry.caData).toBe(base64(pem('a')));
  });
});
