import { describe, expect, it } from 'vitest';
import type { TemplateRegistration } from '@berth/ocm/kind/addon';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { type AddOnFacts, judgeAddOnRequest } from '../../../src/rules/registration/judge-addon-request.ts';
import type { CertificateRequestObject, RequestContent } from '@berth/kube/model/signing-request';
import { requestContent } from '../../../../../test/core/registration/approval/request-content.ts';
import { templateRegistrations } from '../../../src/rules/registration/template-registrations.ts';
import { CLIENT, CUSTOM_SIGNER, KUBE_CLIENT, PREFIX, SIGNER, storedAddOn, template } from './stored-addon.ts';

const AGENT = 'system:open-cluster-management:c1:agent1';
const GROUPS = [PREFIX, 'system:open-cluster-management:addon:hello'];
const SAN = 'hello.addon.open-cluster-management.io';

const CLIENT_CONTENT = requestContent({
  ...{ commonName: `${PREFIX}:agent:hello-agent`, organizations: GROUPS },
  ...{ asksForExtensions: true, dnsNames: [SAN] },
});
const SIGNED_CONTENT = requestContent({
  ...{ commonName: 'hello-agent', organizations: ['agents'], organizationalUnits: ['unit-7'] },
  ...{ asksForExtensions: true, dnsNames: [SAN] },
});

interface Asked {
  readonly by?: string;
  readonly signerName?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly conditions?: readonly string[];
  readonly certificate?: string;
}

function csr(asked: Asked = {}): CertificateRequestObject {
  const { by = AGENT, signerName = CLIENT, conditions = [], certificate } = asked;
  const labels = {
    'open-cluster-management.io/cluster-name': 'c1',
    'open-cluster-management.io/addon-name': 'hello',
    ...asked.labels,
  };
  return {
    ...{ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' },
    ...{ metadata: { name: 'addon-c1-hello-x', labels }, spec: { signerName, username: by } },
    status: {
      conditions: conditions.map((type) => ({ type, status: 'True' })),
      ...(certificate !== undefined && { certificate }),
    },
  };
}

const cluster = (hubAcceptsClient: boolean): ManagedCluster => ({
  ...{ apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster' },
  ...{ metadata: { name: 'c1' }, spec: { hubAcceptsClient } },
});
const declared = (...registration: readonly TemplateRegistration[]) => ({
  registrations: templateRegistrations(storedAddOn(), template(...registration)),
});
const FACTS: AddOnFacts = {
  ...{ cluster: cluster(true), addon: storedAddOn() },
  ...declared(KUBE_CLIENT, CUSTOM_SIGNER),
};

const judge = (asked: Asked, content: RequestContent, facts: Partial<AddOnFacts> = {}) => {
  const { kind } = judgeAddOnRequest(csr(asked), content, { ...FACTS, ...facts });
  // Without a manager that knows better, one in doubt waits, too.
  return kind === 'doubt' ? 'wait' : kind;
};

describe('a request of an add-on for the hub', () => {
  it('is approved if the agent of the cluster asks for the name and the groups of the add-on', () => {
    expect(judge({}, CLIENT_CONTENT)).toBe('approve');
  });

  it('is approved with the third group that OCM’s agents up to 1.2 ask for', () => {
    const organizations = [...GROUPS, 'system:authenticated'];
    expect(judge({}, { ...CLIENT_CONTENT, organizations })).toBe('approve');
  });

  it('is approved without DNS names', () => {
    expect(judge({}, { ...CLIENT_CONTENT, asksForExtensions: false, dnsNames: [] })).toBe('approve');
  });

  it.each<[string, Asked]>([
    ['the agent of another cluster', { by: 'system:open-cluster-management:c2:agent1' }],
    ['the agent of a cluster whose name begins alike', { by: 'system:open-cluster-management:c10:agent1' }],
    ['the add-on itself', { by: CLIENT_CONTENT.commonName }],
    ['a user whose name begins like that of the agent', { by: `${AGENT}:more` }],
    ['an administrator', { by: 'admin' }],
    ['a service account', { by: 'system:serviceaccount:c1:default' }],
  ])('waits when %s makes it', (_, asked) => {
    expect(judge(asked, CLIENT_CONTENT)).toBe('wait');
  });

  it.each<[string, Partial<typeof CLIENT_CONTENT>]>([
    [
      'the name of the add-on on another cluster',
      { commonName: CLIENT_CONTENT.commonName.replace('c1', 'c2') },
    ],
    ['the name of another add-on', { commonName: CLIENT_CONTENT.commonName.replaceAll('hello', 'other') }],
    ['the name of the cluster’s agent', { commonName: AGENT }],
    ['the name of another agent of the add-on', { commonName: `${PREFIX}:agent:other` }],
    ['one group', { organizations: [PREFIX] }],
    ['the other group', { organizations: GROUPS.slice(1) }],
    ['no group', { organizations: [] }],
    ['a group twice', { organizations: [PREFIX, ...GROUPS] }],
    ['the group of another cluster', { organizations: [...GROUPS, PREFIX.replace('c1', 'c2')] }],
    [
      'the group of the cluster’s agents',
      { organizations: [...GROUPS, 'system:open-cluster-management:c1'] },
    ],
    ['the administrators', { organizations: [...GROUPS, 'system:masters'] }],
    ['everybody twice', { organizations: [...GROUPS, 'system:authenticated', 'system:authenticated'] }],
    ['another DNS name', { dnsNames: ['kubernetes.default.svc'] }],
    ['the DNS name of another add-on', { dnsNames: [SAN, 'other.addon.open-cluster-management.io'] }],
    ['other extensions', { dnsNames: undefined }],
  ])('waits when it asks for %s', (_, over) => {
    expect(judge({}, { ...CLIENT_CONTENT, ...over })).toBe('wait');
  });

  it.each<[string, Partial<AddOnFacts>]>([
    ['the cluster', { cluster: undefined }],
    ['the acceptance of the cluster', { cluster: cluster(false) }],
    ['the add-on on the cluster', { addon: undefined }],
    ['the template', { registrations: undefined }],
    ['a registration for the hub in the template', declared(CUSTOM_SIGNER)],
    ['any registration in the template', declared()],
  ])('waits without %s', (_, facts) => {
    expect(judge({}, CLIENT_CONTENT, facts)).toBe('wait');
  });

  it('waits when its content is malformed', () => {
    expect(judge({}, { kind: 'malformed', why: 'two blocks' })).toBe('wait');
  });

  it.each(['Approved', 'Denied', 'Failed'])('is left alone when it is %s', (type) => {
    expect(judge({ conditions: [type] }, CLIENT_CONTENT)).toBe('leave');
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['cluster', { 'open-cluster-management.io/cluster-name': '' }],
    ['add-on', { 'open-cluster-management.io/addon-name': '' }],
  ])('is left alone without the label of the %s', (_, labels) => {
    expect(judge({ labels }, CLIENT_CONTENT)).toBe('leave');
  });
});

describe('a request of an add-on for a signer of its template', () => {
  const asked = { signerName: SIGNER };

  it('is approved with the subject of the template', () => {
    expect(judge(asked, SIGNED_CONTENT)).toBe('approve');
  });

  it.each<[string, Partial<typeof SIGNED_CONTENT>]>([
    ['another name', { commonName: 'principal' }],
    ['another group', { organizations: ['admins'] }],
    ['one more group', { organizations: ['agents', 'admins'] }],
    ['no group', { organizations: [] }],
    ['everybody as well', { organizations: ['agents', 'system:authenticated'] }],
    ['another unit', { organizationalUnits: ['unit-8'] }],
    ['no unit', { organizationalUnits: [] }],
    ['the DNS name of a server', { dnsNames: ['principal.example.com'] }],
    ['to be an authority', { dnsNames: undefined }],
  ])('waits, and is not signed either, when it asks for %s', (_, over) => {
    const content = { ...SIGNED_CONTENT, ...over };
    expect(judge(asked, content)).toBe('wait');
    expect(judge({ ...asked, conditions: ['Approved'] }, content)).toBe('wait');
  });

  it('waits when the agent of another cluster makes it', () => {
    expect(judge({ ...asked, by: 'system:open-cluster-management:c2:agent1' }, SIGNED_CONTENT)).toBe('wait');
  });

  it('waits when its signer is none of the template', () => {
    expect(judge({ signerName: 'example.com/other' }, SIGNED_CONTENT)).toBe('wait');
    expect(judge({ signerName: 'example.com/other', conditions: ['Approved'] }, SIGNED_CONTENT)).toBe('wait');
  });

  it.each(['kubernetes.io/kube-apiserver-client-kubelet', 'kubernetes.io/kubelet-serving'])(
    'waits when a template names %s, which makes nodes',
    (signerName) => {
      const signer = { signerName, subject: { user: 'hello-agent' }, signingCA: { name: 'agents-ca' } };
      const facts = declared({ type: 'CustomSigner', customSigner: signer });
      const content = requestContent({ commonName: 'hello-agent' });
      expect(judge({ signerName }, content, facts)).toBe('wait');
      expect(judge({ signerName, conditions: ['Approved'] }, content, facts)).toBe('wait');
    },
  );

  it('never gets the hub’s own signer from a template that names it as one of its own', () => {
    const signer = { signerName: CLIENT, subject: { user: 'admin', groups: ['system:masters'] } };
    const customSigner = { ...signer, signingCA: { name: 'agents-ca' } };
    const facts = declared({ type: 'CustomSigner', customSigner });
    const content = requestContent({ commonName: 'admin', organizations: ['system:masters'] });
    expect(judge({}, content, facts)).toBe('wait');
    expect(judge({ conditions: ['Approved'] }, content, facts)).toBe('leave');
  });

  it('is signed when it is approved, by whomever', () => {
    const approved = { ...asked, conditions: ['Approved'], by: 'admin' };
    expect(judgeAddOnRequest(csr(approved), SIGNED_CONTENT, FACTS)).toEqual({
      ...{ kind: 'sign', signerName: SIGNER, content: SIGNED_CONTENT },
    });
  });

  it.each<[string, Asked]>([
    ['has its certificate', { certificate: 'abc', conditions: ['Approved'] }],
    ['is denied', { conditions: ['Denied'] }],
    ['is denied after it was approved', { conditions: ['Approved', 'Denied'] }],
    ['has failed', { conditions: ['Approved', 'Failed'] }],
  ])('is left alone when it %s', (_, over) => {
    expect(judge({ ...asked, ...over }, SIGNED_CONTENT)).toBe('leave');
  });

  it('waits for its certificate without the acceptance of the cluster', () => {
    expect(judge({ ...asked, conditions: ['Approved'] }, SIGNED_CONTENT, { cluster: cluster(false) })).toBe(
      'wait',
    );
  });

  it('has the name of the cluster’s agent where the template names no user', () => {
    const customSigner = { signerName: SIGNER, subject: { groups: ['g'] }, signingCA: { name: 'ca' } };
    const facts = declared({ type: 'CustomSigner', customSigner });
    const content = requestContent({ commonName: `${PREFIX}:agent:agent1`, organizations: ['g'] });
    expect(judge(asked, content, facts)).toBe('approve');
    expect(judge(asked, { ...content, commonName: `${PREFIX}:agent:agent2` }, facts)).toBe('wait');
  });
});
