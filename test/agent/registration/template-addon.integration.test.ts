import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { afterEach, expect, it } from 'vitest';
import { CLUSTER_ROLE, NAMESPACE, SECRET } from '@berth/kube/model/kinds';
import { secretTexts } from '@berth/kube/secret-texts';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { runAddOns } from '../../controllers/addons/run-addons.ts';
import { TemplateAddOn } from '../../controllers/addons/template-addon.ts';
import {
  HUB_NAMESPACE,
  READER_ROLE,
  signingAuthority,
  TEMPLATE_ADDON,
} from '../../interop/registration/addon-objects.ts';
import { RegistrationWorld } from './registration-world.ts';

const INSTALLED = 'open-cluster-management-agent-addon';

let world: RegistrationWorld;
let addons: ReturnType<typeof runAddOns>;
afterEach(async () => {
  await addons.close();
  await world.close();
});

/** A principal, as argocd-agent has one: it accepts the clients of one authority, and answers with their name. */
async function startPrincipal(authority: { readonly certificate: string; readonly key: string }) {
  const { certPem, keyPem } = await (
    await CertificateAuthority.load({ certPem: authority.certificate, keyPem: authority.key })
  ).issueServing(['localhost'], Date.now(), 3_600_000, 'principal');
  const options = { cert: certPem, key: keyPem, ca: authority.certificate, requestCert: true };
  const server = createServer({ ...options, rejectUnauthorized: true }, (socket) =>
    socket.end(String(socket.getPeerCertificate().subject.CN)),
  );
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

async function callPrincipal(
  port: number,
  files: Readonly<Record<string, string>>,
  ca: string,
): Promise<string> {
  const { 'tls.crt': cert, 'tls.key': key } = files;
  const socket: TLSSocket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca, cert, key });
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  await once(socket, 'close');
  return Buffer.concat(parts).toString();
}

it('gives the add-on of a template its access to the hub, and a certificate of its own authority', async () => {
  world = await RegistrationWorld.start();
  const { api } = world.hub;
  addons = runAddOns(api, ['registration']);
  world.run();
  await expect.poll(() => world.hub.requests('cluster1')).toHaveLength(1);
  await world.hub.decide('cluster1');
  await world.hub.accept('cluster1');
  const member = world.member();
  await member.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: INSTALLED } });
  await api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HUB_NAMESPACE } });
  const authority = await signingAuthority();
  await api.create(SECRET, authority.secret);
  await api.create(CLUSTER_ROLE, READER_ROLE);
  const addon = new TemplateAddOn(api, 'hello');
  await addon.create(TEMPLATE_ADDON[0].spec.registration);
  await addon.addTo('cluster1');
  const filesOf = async (name: string): Promise<Readonly<Record<string, string>>> => {
    const secret = await member.get(SECRET, { namespace: INSTALLED, name });
    return secret === undefined ? {} : secretTexts(secret);
  };
  await expect
    .poll(async () => Object.keys(await filesOf('hello-hub-kubeconfig')).sort())
    .toEqual(['cluster-name', 'kubeconfig', 'tls.crt', 'tls.key']);
  const own = 'hello-example.com-agents-client-cert';
  await expect.poll(async () => Object.keys(await filesOf(own))).toContain('tls.crt');
  const files = await filesOf(own);
  const certificate = new X509Certificate(files['tls.crt'] ?? '');
  expect(certificate.subject.split('\n').sort()).toEqual(['CN=hello-agent', 'O=agents', 'OU=unit-7']);
  expect(certificate.subjectAltName).toBe('DNS:hello.addon.open-cluster-management.io');
  const principal = await startPrincipal({
    certificate: authority.certificate,
    key: secretTexts(authority.secret)['tls.key'] ?? '',
  });
  expect(await callPrincipal(principal.port, files, authority.certificate)).toBe('hello-agent');
  const hub = await filesOf('hello-hub-kubeconfig');
  expect(await callPrincipal(principal.port, hub, authority.certificate).catch(() => '')).toBe('');
  principal.close();
  expect(addons.events.map(({ action }) => action).sort()).toEqual([
    'certificate-approved',
    'certificate-approved',
    'certificate-signed',
  ]);
  expect(addons.warnings()).toEqual([]);
});
