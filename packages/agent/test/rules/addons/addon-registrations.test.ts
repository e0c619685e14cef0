import { describe, expect, it } from 'vitest';
import {
  addonPlace,
  addonRegistrations,
  type ClusterAddon,
  declaredStatus,
} from '../../../src/rules/addons/addon-registrations.ts';

const IDENTITY = { cluster: 'edge-1', agent: 'a1b2c' };
const CLIENT = 'kubernetes.io/kube-apiserver-client';
const SIGNER = 'example.com/agents';
const GROUP = 'system:open-cluster-management:cluster:edge-1:addon:hello';
const USER = 'system:serviceaccount:edge-1:hello-agent';

const addon = (status: ClusterAddon['status'], more: Partial<ClusterAddon> = {}): ClusterAddon => ({
  metadata: { namespace: 'edge-1', name: 'hello' },
  status,
  ...more,
});

describe('addonRegistrations', () => {
  it.each([
    { name: 'none', registrations: [], want: [] },
    {
      name: 'a client of the hub without a subject',
      registrations: [{ signerName: CLIENT }],
      want: [
        {
          signerName: CLIENT,
          subject: { commonName: `${GROUP}:agent:a1b2c`, organizations: [GROUP], organizationalUnits: [] },
          secret: { name: 'hello-hub-kubeconfig' },
        },
      ],
    },
    {
      name: 'another signer without a subject',
      registrations: [{ signerName: SIGNER }],
      want: [
        {
          signerName: SIGNER,
          subject: { commonName: `${GROUP}:agent:a1b2c`, organizations: [], organizationalUnits: [] },
          secret: { name: 'hello-example.com-agents-client-cert' },
        },
      ],
    },
    {
      name: 'a whole subject',
      registrations: [{ signerName: SIGNER, subject: { user: 'u', groups: ['g'], organizationUnit: ['o'] } }],
      want: [{ subject: { commonName: 'u', organizations: ['g'], organizationalUnits: ['o'] } }],
    },
    {
      name: 'two of one signer: the first',
      registrations: [
        { signerName: SIGNER, subject: { user: 'first' } },
        { signerName: SIGNER, subject: { user: 'second' } },
      ],
      want: [{ subject: { commonName: 'first' } }],
    },
  ])('$name', ({ registrations, want }) => {
    const found = addonRegistrations(addon({ registrations }), { identity: IDENTITY, driver: 'csr' });
    expect(found).toMatchObject(want);
    expect(found).toHaveLength(want.length);
  });

  it('uses tokens for clients of the hub alone', () => {
    const registrations = [{ signerName: CLIENT }, { signerName: SIGNER }];
    const found = addonRegistrations(addon({ registrations }), { identity: IDENTITY, driver: 'token' });
    expect(found.map(({ driver }) => driver)).toEqual(['token', 'csr']);
  });
});

describe('addonPlace', () => {
  const annotations = { 'addon.open-cluster-management.io/hosting-cluster-name': 'host' };
  it.each([
    { name: 'nothing said', given: addon({}), want: { namespace: 'open-cluster-management-agent-addon' } },
    { name: 'the spec', given: addon({}, { spec: { installNamespace: 'a' } }), want: { namespace: 'a' } },
    {
      name: 'the status before the spec',
      given: addon({ namespace: 'b' }, { spec: { installNamespace: 'a' } }),
      want: { namespace: 'b', isHosted: false },
    },
    {
      name: 'hosted',
      given: addon({}, { metadata: { name: 'hello', annotations } }),
      want: { isHosted: true },
    },
  ])('$name', ({ given, want }) => expect(addonPlace(given, 'x')).toMatchObject({ name: 'x', ...want }));
});

describe('declaredStatus', () => {
  const client = { signerName: CLIENT, subject: { user: 'u', groups: ['g'] } };
  const byToken = { signerName: CLIENT, subject: { user: USER } };
  const other = { signerName: SIGNER };
  it.each([
    { name: 'no registration', driver: 'csr', status: {}, want: undefined },
    {
      name: 'the first certificate',
      driver: 'csr',
      status: { registrations: [client] },
      want: { kubeClientDriver: 'csr' },
    },
    {
      name: 'a certificate, declared',
      driver: 'csr',
      status: { registrations: [client], kubeClientDriver: 'csr' },
      want: undefined,
    },
    {
      name: 'the first token',
      driver: 'token',
      status: { registrations: [other, client] },
      want: { kubeClientDriver: 'token', registrations: [other, byToken] },
    },
    {
      name: 'a token, declared',
      driver: 'token',
      status: { registrations: [byToken], kubeClientDriver: 'token' },
      want: undefined,
    },
    {
      name: 'back to certificates',
      driver: 'csr',
      status: { registrations: [byToken], kubeClientDriver: 'token' },
      want: { kubeClientDriver: 'csr' },
    },
    {
      name: 'only another signer left',
      driver: 'csr',
      status: { registrations: [other], kubeClientDriver: 'csr' },
      want: { kubeClientDriver: null },
    },
  ] as const)('$name', ({ driver, status, want }) =>
    expect(declaredStatus(addon(status), { cluster: 'edge-1', driver })).toEqual(want),
  );
});
