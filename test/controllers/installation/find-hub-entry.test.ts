import { describe, expect, it } from 'vitest';
import { findHubEntry, type HubLookup } from '../../../src/controllers/installation/find-hub-entry.ts';
import { InputError, TransientError } from '../../../src/core/errors.ts';
import type { KubeApi } from '../../../src/core/ports.ts';
import type { ServerEntry } from '../../../src/core/registration/install/token-kubeconfig.ts';

const SERVER = 'https://hub.example.com:6443';
const pem = (name: string): string => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----\n`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const clusterInfo = (fields: string): Record<string, string> => ({
  kubeconfig: `apiVersion: v1\nclusters:\n- name: ''\n  cluster: {${fields}}\n`,
});

interface World {
  /** ConfigMaps of kube-public. */
  readonly maps?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The machine trusts the certificate of the hub. */
  readonly trusted?: boolean;
  readonly answer?: 'kube.unauthorized' | 'kube.forbidden';
}

/** Looks a hub up that answers as the world says. */
async function look(world: World, over: Partial<HubLookup> = {}) {
  const asked: ServerEntry[] = [];
  let warnings = 0;
  const lookup: HubLookup = {
    server: SERVER,
    internal: false,
    ask: (entry, use) => {
      asked.push(entry);
      const isChecked = world.trusted === true || entry.insecure === true || entry.caData !== undefined;
      if (!isChecked) throw new TransientError('no answer', { code: 'kube.network', subject: SERVER });
      if (world.answer !== undefined) throw new InputError('no', { code: world.answer, subject: SERVER });
      const get: KubeApi['get'] = (_kind, { name }) => {
        const data = world.maps?.[name];
        const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
        return Promise.resolve(data === undefined ? undefined : object);
      };
      return use({ get } as unknown as KubeApi);
    },
    tellTrusted: () => (warnings += 1),
    ...over,
  };
  const entry = await findHubEntry(lookup);
  return { entry, asked, warnings };
}

describe('how a hub is reached', () => {
  it('is by the authority that is given, which is checked before it is kept', async () => {
    const { entry, asked, warnings } = await look({}, { caPem: pem('a') });
    expect(entry).toEqual({ server: SERVER, caData: base64(pem('a')) });
    expect(asked).toEqual([entry]);
    expect(warnings).toBe(0);
  });

  it('needs no authority where the machine trusts the hub', async () => {
    const { entry, asked, warnings } = await look({ trusted: true });
    expect(entry).toEqual({ server: SERVER });
    expect(asked.some(({ insecure }) => insecure === true)).toBe(false);
    expect(warnings).toBe(0);
  });

  it.each([
    ['cluster-info', { 'cluster-info': clusterInfo(`certificate-authority-data: ${base64(pem('b'))}`) }],
    ['kube-root-ca.crt', { 'kube-root-ca.crt': { 'ca.crt': pem('b') } }],
  ])('takes the authority from %s, and says so', async (_name, maps) => {
    const { entry, asked, warnings } = await look({ maps });
    expect(entry).toEqual({ server: SERVER, caData: base64(pem('b')) });
    // The last question proves that the authority is the right one.
    expect(asked.at(-1)).toEqual(entry);
    expect(warnings).toBe(1);
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
