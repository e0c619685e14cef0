import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import {
  apiVersionOf,
  CERTIFICATE_REQUEST,
  CLUSTER_ROLE,
  CONFIG_MAP,
  NAMESPACE,
  ROLE,
  ROLE_BINDING,
  SECRET,
  SELF_SUBJECT_ACCESS_REVIEW,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAddOns } from '../controllers/addons/run-addons.ts';
import { TemplateAddOn } from '../controllers/addons/template-addon.ts';
import { freshKey, RegistrationWorld } from '../controllers/registration/registration-world.ts';
import {
  HUB_NAMESPACE,
  READER,
  READER_ROLE,
  signingAuthority,
  SIGNER,
} from '../interop/registration/addon-objects.ts';
import { plainSubject, requestPem } from './certificate-requests.ts';

const CLUSTER_LABEL = 'open-cluster-management.io/cluster-name';
const ADDON_LABEL = 'open-cluster-management.io/addon-name';
const SAN = 'hello.addon.open-cluster-management.io';
const SHARED = 'shared';
const WRITER = 'shared-writer';
const CA = { namespace: HUB_NAMESPACE, name: 'agents-ca' };
const RBAC = { apiVersion: 'rbac.authorization.k8s.io/v1' };
const REGISTRATION = [
  {
    type: 'KubeClient',
    kubeClient: {
      hubPermissions: [
        { type: 'CurrentCluster', currentCluster: { clusterRoleName: READER } },
        {
          type: 'SingleNamespace',
          singleNamespace: {
            namespace: SHARED,
            roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: WRITER },
          },
        },
      ],
    },
  },
  {
    type: 'CustomSigner',
    customSigner: {
      ...{ signerName: SIGNER, signingCA: { name: CA.name, namespace: CA.namespace } },
      subject: { user: 'hello-agent', groups: ['agents'] },
    },
  },
] as const;

let world: RegistrationWorld;
let addons: ReturnType<typeof runAddOns>;
let hello: TemplateAddOn;
const agents = new Map<string, KubeApi>();
const privateKey = freshKey();

beforeAll(async () => {
  world = await RegistrationWorld.create({ duties: ['acceptance', 'health'] });
  addons = runAddOns(world.api, ['registration']);
});
afterAll(async () => {
  await addons.close();
  await world.close();
});

it('begins with an add-on on two clusters, and one that nobody accepted', async () => {
  const { api } = world;
  for (const cluster of ['c1', 'c10']) {
    await world.accepted(cluster);
    agents.set(cluster, await world.agentOf(cluster));
  }
  await world.register('c3');
  for (const name of [SHARED, HUB_NAMESPACE, 'c3'])
    await api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await api.create(SECRET, (await signingAuthority()).secret);
  await api.create(CLUSTER_ROLE, READER_ROLE);
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'update'] }];
  const metadata = { namespace: SHARED, name: WRITER };
  await api.create(ROLE, { ...RBAC, kind: 'Role', metadata, rules });
  hello = new TemplateAddOn(api, 'hello');
  await hello.create(REGISTRATION);
  for (const cluster of ['c1', 'c10', 'c3']) await hello.addTo(cluster);
  await expect.poll(() => hello.condition('c10')).toContain('SetPermissionApplied');
  await wereLookedAt();
});

const names = (cluster: string, addon = 'hello') => {
  const group = `system:open-cluster-management:cluster:${cluster}:addon:${addon}`;
  const groups = [group, `system:open-cluster-management:addon:${addon}`];
  return { user: `${group}:agent:${addon}-agent`, groups };
};
const labelsOf = (cluster: string) => ({ [CLUSTER_LABEL]: cluster, [ADDON_LABEL]: 'hello' });

interface Wanted {
  readonly by?: KubeApi | undefined;
  readonly cluster?: string;
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly signerName?: string;
  readonly wantsAuthority?: boolean;
}

/** A request of the add-on for the hub, as the agent of c1 makes it, unless told otherwise. */
function ask(wanted: Wanted = {}): Promise<string> {
  const { cluster = 'c1', by = agents.get('c1'), signerName, wantsAuthority = false } = wanted;
  const { user = names(cluster).user, groups = names(cluster).groups, dnsNames = [SAN] } = wanted;
  const pem = requestPem({ subject: plainSubject(user, ...groups), privateKey, dnsNames, wantsAuthority });
  return world.ask(pem, { labels: labelsOf(cluster), ...(signerName !== undefined && { signerName }) }, by);
}

/** One for the signer of the template. */
const askSigner = (wanted: Wanted = {}): Promise<string> =>
  ask({ user: 'hello-agent', groups: ['agents'], signerName: SIGNER, ...wanted });

async function decisions(name: string): Promise<readonly string[]> {
  const status = (await world.get(CERTIFICATE_REQUEST, name))?.['status'] ?? {};
  const { conditions = [] } = status as { readonly conditions?: readonly { readonly type: string }[] };
  return conditions.map(({ type }) => type);
}

/** Good requests that came later have certificates: the ones before were looked at. */
async function wereLookedAt(): Promise<void> {
  const later = [await ask(), await askSigner()];
  for (const name of later) await expect.poll(() => world.certificate(name)).toBeDefined();
}

describe('a request of an add-on is not approved', () => {
  it.each<[string, () => Wanted]>([
    ['of the agent of another cluster', () => ({ by: agents.get('c10') })],
    ['of an administrator', () => ({ by: world.api })],
    ['for a cluster that is not accepted', () => ({ cluster: 'c3', by: world.api })],
    ['for the add-on of another cluster', () => names('c10')],
    ['labelled with another cluster', () => ({ cluster: 'c10', ...names('c1') })],
    ['for another add-on', () => names('c1', 'other')],
    ['with one group', () => ({ groups: names('c1').groups.slice(0, 1) })],
    [
      'with a foreign group',
      () => ({ groups: [...names('c1').groups, 'system:open-cluster-management:c1'] }),
    ],
    ['for a signer that its template does not name', () => ({ signerName: 'example.com/other' })],
    ['for a signer of Kubernetes', () => ({ signerName: 'kubernetes.io/kubelet-serving' })],
    ['with another DNS name', () => ({ dnsNames: ['principal.example.com'] })],
    ['that wants to be an authority', () => ({ wantsAuthority: true })],
  ])('%s', async (_, wanted) => {
    const hostile = await ask(wanted());
    await wereLookedAt();
    expect(await decisions(hostile)).toEqual([]);
  });

  it.each<[string, () => Wanted]>([
    ['the agent of another cluster makes', () => ({ by: agents.get('c10') })],
    ['has another name', () => ({ user: 'principal' })],
    ['has another group', () => ({ groups: ['admins'] })],
    ['has the DNS name of a server', () => ({ dnsNames: ['principal.example.com'] })],
  ])('that %s, for the template’s signer', async (_, wanted) => {
    const hostile = await askSigner(wanted());
    await wereLookedAt();
    expect(await decisions(hostile)).toEqual([]);
  });

  it('that somebody denied', async () => {
    await addons.close();
    const name = await ask();
    const csr = (await world.get(CERTIFICATE_REQUEST, name)) as KubeObject;
    const conditions = [{ type: 'Denied', status: 'True', reason: 'Test', message: '' }];
    await world.api.update(
      CERTIFICATE_REQUEST,
      { ...csr, status: { conditions } },
      { subresource: 'approval' },
    );
    addons = runAddOns(world.api, ['registration']);
    await wereLookedAt();
    expect(await decisions(name)).toEqual(['Denied']);
  });
});

describe('a request that a person approved is not signed', () => {
  it.each<[string, Wanted]>([
    ['with another name', { user: 'principal' }],
    ['with the DNS name of a server', { dnsNames: ['principal.example.com'] }],
    ['for a signer that the template does not name', { signerName: 'example.com/other' }],
  ])('%s', async (_, wanted) => {
    const name = await askSigner({ by: world.api, ...wanted });
    await world.approve(name);
    await wereLookedAt();
    expect(await world.certificate(name)).toBeUndefined();
  });
});

describe('a request is not signed, with a warning, while the authority', () => {
  const change = async (data: Readonly<Record<string, string>>): Promise<void> => {
    const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
    await world.api.mergePatch(SECRET, CA, { data: Object.fromEntries(encoded) });
  };

  it.each<[string, () => { readonly certPem: string; readonly keyPem: string }, string]>([
    [
      'has expired',
      () => createAuthority('old', Date.now() - 3_651 * 86_400_000),
      'its authority expired at',
    ],
    [
      'has the key of another',
      () => ({ ...createAuthority('a', Date.now()), keyPem: createAuthority('b', Date.now()).keyPem }),
      'the key is not that of the certificate',
    ],
    [
      'is no certificate',
      () => ({ ...createAuthority('a', Date.now()), certPem: 'x' }),
      'cannot sign for an add-on',
    ],
  ])('%s', async (_, made, why) => {
    const good = (await world.get(SECRET, CA.name, CA.namespace))?.['data'] as Record<string, string>;
    const { certPem, keyPem } = made();
    await change({ 'tls.crt': certPem, 'tls.key': keyPem });
    const name = await askSigner();
    await expect.poll(() => addons.warnings().join('\n')).toContain(why);
    expect(await decisions(name)).toEqual(['Approved']);
    expect(await world.certificate(name)).toBeUndefined();
    await world.api.mergePatch(SECRET, CA, { data: good });
    await expect.poll(() => world.certificate(name)).toBeDefined();
    await expect.poll(() => addons.warnings()).toEqual([]);
  });
});

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const RESOURCES = [
  ...['/configmaps', '/secrets', '/pods', '/serviceaccounts', '/events', '/namespaces'],
  ...['rbac.authorization.k8s.io/roles', 'rbac.authorization.k8s.io/rolebindings'],
  ...['certificates.k8s.io/certificatesigningrequests', 'coordination.k8s.io/leases'],
  ...['cluster.open-cluster-management.io/managedclusters', 'work.open-cluster-management.io/manifestworks'],
  ...[
    'addon.open-cluster-management.io/managedclusteraddons',
    'addon.open-cluster-management.io/addontemplates',
  ],
];
const NAMESPACES = ['c1', 'c10', SHARED, HUB_NAMESPACE, 'default', ''];

/** Everything of the matrix that the hub allows a client. */
async function allowed(client: KubeApi): Promise<readonly string[]> {
  const cells = VERBS.flatMap((verb) =>
    RESOURCES.flatMap((of) => NAMESPACES.map((namespace) => ({ verb, of, namespace }))),
  );
  const answers = await Promise.all(
    cells.map(async ({ verb, of, namespace }) => {
      const [group = '', resource = ''] = of.split('/');
      const review = await client.create(SELF_SUBJECT_ACCESS_REVIEW, {
        apiVersion: apiVersionOf(SELF_SUBJECT_ACCESS_REVIEW),
        kind: SELF_SUBJECT_ACCESS_REVIEW.kind,
        metadata: {} as KubeObject['metadata'],
        spec: { resourceAttributes: { verb, group, resource, namespace } },
      });
      const { allowed: may } = review['status'] as { readonly allowed: boolean };
      return may ? [`${verb} ${of} in ${namespace}`] : [];
    }),
  );
  return answers.flat().sort();
}

describe('a certificate of an add-on', () => {
  const clientOf = async (cluster: string) => {
    const name = await ask({ cluster, by: agents.get(cluster) });
    await expect.poll(() => world.certificate(name)).toBeDefined();
    return world.agent((await world.certificate(name)) ?? '', privateKey);
  };
  const rightsIn = (cluster: string): readonly string[] =>
    [
      ...['get', 'list'].map((verb) => `${verb} /configmaps in ${cluster}`),
      ...['create', 'update'].map((verb) => `${verb} /configmaps in ${SHARED}`),
    ].sort();

  it('can do what the roles of its template say, where they are bound, and nothing else', async () => {
    const [one, ten] = [await clientOf('c1'), await clientOf('c10')];
    await expect.poll(() => allowed(one)).toEqual(rightsIn('c1'));
    expect(await allowed(ten)).toEqual(rightsIn('c10'));
    await expect(one.list(CONFIG_MAP, { namespace: 'c10' })).rejects.toMatchObject({
      code: 'kube.forbidden',
    });
    expect((await one.list(CONFIG_MAP, { namespace: 'c1' })).items.length).toBeGreaterThan(0);
  });

  it('can do nothing as soon as the cluster loses the add-on, and others keep their rights', async () => {
    const [one, ten] = [await clientOf('c1'), await clientOf('c10')];
    await hello.removeFrom('c10');
    await expect.poll(() => allowed(ten)).toEqual([]);
    expect(await allowed(one)).toEqual(rightsIn('c1'));
    expect((await world.api.list(ROLE_BINDING, { namespace: SHARED })).items).toHaveLength(2);
  });
});
