import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import { writeDer } from '@berth/kube/x509/der';
import type { TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { freshKey, pemOf, plainSubject, requestDer, requestPem } from './certificate-requests.ts';
import { ask, askAndApprove, CSRS, whoami } from './certificate-signing.ts';
import { as, grant } from './role-of.ts';

const YEAR_MS = 365 * 86_400_000;

let hub: TestHub;
const privateKey = freshKey();
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub.stop());

describe('a request that is no request', () => {
  const good = (): Buffer => requestDer({ subject: plainSubject('m'), privateKey });
  it.each([
    ['two blocks', () => pemOf('CERTIFICATE REQUEST', good()) + pemOf('CERTIFICATE REQUEST', good())],
    [
      'a block of another kind first',
      () => pemOf('CERTIFICATE', good()) + pemOf('CERTIFICATE REQUEST', good()),
    ],
    ['another kind', () => pemOf('CERTIFICATE', good())],
    [
      'bytes after the request',
      () => pemOf('CERTIFICATE REQUEST', Buffer.concat([good(), Buffer.from([5, 0])])),
    ],
    ['a request cut short', () => pemOf('CERTIFICATE REQUEST', good().subarray(0, -1))],
    [
      'lengths without an end',
      () => pemOf('CERTIFICATE REQUEST', Buffer.concat([Buffer.from([0x30, 0x80]), good(), Buffer.alloc(2)])),
    ],
    [
      'a length of four gigabytes',
      () => pemOf('CERTIFICATE REQUEST', Buffer.from('3084ffffffff3000', 'hex')),
    ],
    ['ten thousand nested sequences', () => pemOf('CERTIFICATE REQUEST', nested(10_000))],
    [
      'a mebibyte',
      () =>
        pemOf(
          'CERTIFICATE REQUEST',
          requestDer({ subject: plainSubject('m'), privateKey, paddingBytes: 2 ** 20 }),
        ),
    ],
    ['nothing but blanks in the block', () => `-----BEGIN CERTIFICATE REQUEST-----${' \n'.repeat(32_000)}`],
    ['text', () => 'not a request'],
    ['nothing', () => ''],
  ])('is refused when it is made: %s', async (_name, pem) => {
    const reply = await ask(hub, pem());
    expect(reply.status).toBe(422);
    expect(reply.body.details.causes.map((cause: { field: string }) => cause.field)).toContain(
      'spec.request',
    );
    expect(reply.text.length).toBeLessThan(10_000);
  });
});

describe('a list that is long', () => {
  it('of usages gets a short answer', async () => {
    const usages = Array.from({ length: 100_000 }, (_, index) => `x${String(index)}`);
    const reply = await ask(hub, requestPem({ subject: plainSubject('m'), privateKey }), { usages });
    // 413 where the list costs more than one request may.
    expect([413, 422]).toContain(reply.status);
    expect(reply.text.length).toBeLessThan(20_000);
  });

  it('of conditions gets a short answer', async () => {
    const made = (await ask(hub, requestPem({ subject: plainSubject('m'), privateKey }))).body;
    const conditions = Array.from({ length: 20_000 }, () => ({ type: 'Approved', status: 'False' }));
    const reply = await hub.call('PATCH', `${CSRS}/${made.metadata.name as string}/approval`, {
      type: 'application/merge-patch+json',
      body: { status: { conditions } },
    });
    // 413 where the list costs more than one request may.
    expect([413, 422]).toContain(reply.status);
    expect(reply.text.length).toBeLessThan(20_000);
  });
});

describe('approval', () => {
  const CONDITION = { type: 'Approved', status: 'True', reason: 'Test', message: 'fine' };
  const merge = 'application/merge-patch+json';

  it('is for the request that was looked at: its spec never changes', async () => {
    const made = (await ask(hub, requestPem({ subject: plainSubject('m'), privateKey }))).body;
    const path = `${CSRS}/${made.metadata.name as string}`;
    const other = Buffer.from(requestPem({ subject: plainSubject('other'), privateKey })).toString('base64');
    for (const at of [path, `${path}/approval`, `${path}/status`])
      await hub.call('PATCH', at, {
        type: merge,
        body: { spec: { request: other, groups: ['system:masters'] } },
      });
    expect((await hub.call('GET', path)).body.spec).toEqual(made.spec);
  });

  it('does not come through the status of a request, for a signer who may not approve', async () => {
    const made = (await ask(hub, requestPem({ subject: plainSubject('m'), privateKey }))).body;
    const path = `${CSRS}/${made.metadata.name as string}/status`;
    const reply = await hub.call('PATCH', path, {
      type: merge,
      body: { status: { conditions: [CONDITION] } },
    });
    expect(reply.status).toBe(422);
    expect(reply.body.message).toContain('updates may not add a condition of type "Approved"');
  });

  it('takes the right to approve for this signer, beside the right to the endpoint', async () => {
    const made = (await ask(hub, requestPem({ subject: plainSubject('m'), privateKey }))).body;
    const path = `${CSRS}/${made.metadata.name as string}/approval`;
    const approve = (user: string) =>
      hub.call('PATCH', path, {
        headers: as(user),
        type: merge,
        body: { status: { conditions: [CONDITION] } },
      });
    const group = { apiGroups: ['certificates.k8s.io'] };
    const endpoint = { ...group, resources: ['certificatesigningrequests/approval'], verbs: ['patch'] };
    const signer = (name: string) => ({
      ...group,
      resources: ['signers'],
      resourceNames: [name],
      verbs: ['approve'],
    });
    const everywhere = { namespace: '' };
    const signers = { none: [], other: [signer('example.com/*')], right: [signer('kubernetes.io/*')] };
    for (const [name, rules] of Object.entries(signers))
      await grant(hub, { kind: 'User', name }, everywhere, [endpoint, ...rules]);
    const statuses = [
      (await approve('none')).status,
      (await approve('other')).status,
      (await approve('right')).status,
    ];
    expect(statuses).toEqual([403, 403, 200]);
  });

  it('is not taken back, and neither is a denial', async () => {
    const made = (await ask(hub, requestPem({ subject: plainSubject('m'), privateKey }))).body;
    const path = `${CSRS}/${made.metadata.name as string}`;
    const denied = { ...CONDITION, type: 'Denied' };
    const put = (conditions: object[]) =>
      hub.call('PATCH', `${path}/approval`, { type: merge, body: { status: { conditions } } });
    expect((await put([denied])).status).toBe(200);
    for (const conditions of [[], [CONDITION], [denied, CONDITION]])
      expect((await put(conditions)).status).toBe(422);
    expect((await hub.call('GET', path)).body.status.certificate).toBeUndefined();
  });

  it('does not come with the request', async () => {
    const pem = requestPem({ subject: plainSubject('m'), privateKey });
    const body = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'ready-made' },
      spec: {
        request: Buffer.from(pem).toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
      },
      status: { conditions: [CONDITION], certificate: Buffer.from('x').toString('base64') },
    };
    const reply = await hub.call('POST', CSRS, { body });
    expect(reply.status).toBe(201);
    expect(reply.body.status ?? {}).toEqual({});
  });

  it.each([
    'kube-apiserver-client',
    'kubernetes.io/a/b',
    'kubernetes.io/',
    '/kube-apiserver-client',
    'io/x',
    '*.io/x',
    'kubernetes.io/*',
    'Kubernetes.io/kube-apiserver-client',
    'kubernetes.io/kube-apiserver-client ',
    `example.com/${'x'.repeat(600)}`,
    'kubernetes.io/legacy-unknown',
  ])('is not asked for a signer without a proper name: %s', async (signerName) => {
    const reply = await ask(hub, requestPem({ subject: plainSubject('m'), privateKey }), { signerName });
    expect(reply.status).toBe(422);
    expect(reply.body.message).toContain('spec.signerName');
  });

  it.each(['example.com/kube-apiserver-client', 'kubernetes.io/kubelet-serving'])(
    'of a request for another signer gives no certificate: %s',
    async (signerName) => {
      const made = await ask(hub, requestPem({ subject: plainSubject('m'), privateKey }), { signerName });
      const path = `${CSRS}/${made.body.metadata.name as string}`;
      await hub.call('PUT', `${path}/approval`, {
        body: { ...made.body, status: { conditions: [CONDITION] } },
      });
      // The signer handles requests in turn: once a later one is signed, it has seen this one.
      await askAndApprove(hub, requestPem({ subject: plainSubject('later'), privateKey }));
      expect((await hub.call('GET', path)).body.status.certificate).toBeUndefined();
    },
  );
});

describe('a certificate that somebody made on their own', () => {
  it('is nobody, with the name of the authority as issuer', async () => {
    const own = await CertificateAuthority.load(createAuthority('berth-hub-ca', Date.now()));
    const subject = { commonName: 'admin', organizations: ['system:masters'] };
    const pair = await own.issueClient(subject, Date.now(), YEAR_MS);
    expect(await whoami(hub, { cert: pair.certPem, key: pair.keyPem })).toBe(401);
  });
});

function nested(depth: number): Buffer {
  let bytes: Buffer = Buffer.alloc(0);
  for (let at = 0; at < depth; at += 1) bytes = writeDer(0x30, bytes);
  return bytes;
}
